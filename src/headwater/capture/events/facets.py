"""Facets that OpenLineage has no standard for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


def rows_facet(kept: Mapping[str, Any], producer: str) -> dict[str, Any]:
    """The facet `headwater_rows` of an output: what it takes to make its rows again. What is in it is up to whoever
    keeps it (rowkeeping.py)."""
    told = {key: value for key, value in kept.items() if key != "pairs"}
    return {"_producer": producer, "_schemaURL": "urn:headwater:facet:rows:1-0-0", **told}


ADJOINT = "cdme.adjointMetadata"


def adjoint_facet(entries: Sequence[Mapping[str, Any]], producer: str) -> dict[str, Any]:
    """The facet `cdme.adjointMetadata` of a run: where the rows behind the rows of its outputs are written down."""
    return {
        "_producer": producer,
        "_schemaURL": "urn:headwater:facet:adjointMetadata:1-0-0",
        "reverseJoinLocations": {
            f"output-{number}/{name}": location
            for number, entry in enumerate(entries)
            for name, location in entry["reverseJoinLocations"].items()
        },
        "outputs": [{key: value for key, value in entry.items() if key != "reverseJoinLocations"} for entry in entries],
    }
