"""Facets that OpenLineage has no standard for."""

from __future__ import annotations

from typing import Any

import attr
from openlineage.client.generated.base import DatasetFacet, RunFacet


@attr.define
class CoverageDatasetFacet(DatasetFacet):
    """What could not be known of how this dataset came about. An empty list of columns means all of them."""

    complete: bool
    gaps: list[dict[str, Any]]

    @staticmethod
    def _get_schema() -> str:
        return "urn:headwater:facet:coverage:1-0-0"


@attr.define
class ColumnTypesDatasetFacet(DatasetFacet):
    """How each column comes about, in the words of WIA-DATA-008: direct, computed, aggregated, joined."""

    fields: dict[str, str]

    @staticmethod
    def _get_schema() -> str:
        return "urn:headwater:facet:columnTypes:1-0-0"


@attr.define
class TelemetryRunFacet(RunFacet):
    """What Spark measured, write by write and node by node."""

    writes: list[dict[str, Any]]

    @staticmethod
    def _get_schema() -> str:
        return "urn:headwater:facet:telemetry:1-0-0"
