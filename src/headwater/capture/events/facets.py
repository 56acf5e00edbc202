"""Facets of Headwater, which the OpenLineage specification does not have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

import attr
from openlineage.client.generated.base import DatasetFacet, RunFacet

from headwater.formats.openlineage.facet_names import (
    ADJOINT_FACET,
    COLUMN_TYPES_FACET,
    COVERAGE_FACET,
    ROWS_FACET,
    TELEMETRY_FACET,
    schema_url,
)


class AdjointFacet(TypedDict):
    _producer: str
    _schemaURL: str
    reverseJoinLocations: dict[str, object]
    outputs: list[dict[str, object]]


class GapEntry(TypedDict):
    operator: str
    reason: str
    columns: list[str]


@attr.define
class CoverageDatasetFacet(DatasetFacet):
    """The gaps in the column lineage of this dataset. An empty list of columns means all columns."""

    complete: bool
    gaps: list[GapEntry]

    @staticmethod
    def _get_schema() -> str:
        return schema_url(COVERAGE_FACET)


@attr.define
class ColumnTypesDatasetFacet(DatasetFacet):
    """How each column is derived, in the terms of WIA-DATA-008: direct, computed, aggregated, joined."""

    fields: dict[str, str]

    @staticmethod
    def _get_schema() -> str:
        return schema_url(COLUMN_TYPES_FACET)


@attr.define
class TelemetryRunFacet(RunFacet):
    """Spark's metrics, by write and plan node."""

    writes: list[dict[str, object]]

    @staticmethod
    def _get_schema() -> str:
        return schema_url(TELEMETRY_FACET)


def rows_facet(captured: Mapping[str, object], producer: str) -> dict[str, object]:
    """The facet `headwater_rows` of an output: what it takes to compute its rows again. The row capture decides what
    is in it (row_capture.py)."""
    content = {key: value for key, value in captured.items() if key != "pairs"}
    return {"_producer": producer, "_schemaURL": schema_url(ROWS_FACET), **content}


def adjoint_facet(entries: Sequence[Mapping[str, object]], producer: str) -> AdjointFacet:
    """The facet `cdme.adjointMetadata` of a run: where the tables are that link its output rows to input rows."""
    return {
        "_producer": producer,
        "_schemaURL": schema_url(ADJOINT_FACET),
        "reverseJoinLocations": {
            f"output-{number}/{name}": location
            for number, entry in enumerate(entries)
            for name, location in _locations(entry).items()
        },
        "outputs": [{key: value for key, value in entry.items() if key != "reverseJoinLocations"} for entry in entries],
    }


def _locations(entry: Mapping[str, object]) -> Mapping[str, object]:
    locations = entry["reverseJoinLocations"]
    return locations if isinstance(locations, Mapping) else {}
