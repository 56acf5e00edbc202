"""Facets of Headwater, which the OpenLineage specification does not have: their names are in `facet_names`, and here is
what captured events say in them.

A facet of a run is added in :func:`run_facets`, one of a dataset in :func:`own_dataset_facets`, and one of a dataset as
an output in :func:`own_output_facets`; the builder asks these three.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict

import attr
from openlineage.client.generated.base import DatasetFacet, RunFacet

from headwater.capture.events.run_types import WriteOutcome
from headwater.capture.events.writes import CapturedWrite
from headwater.formats.openlineage.facet_names import (
    ADJOINT_FACET,
    COLUMN_TYPES_FACET,
    COVERAGE_FACET,
    ROWS_FACET,
    TELEMETRY_FACET,
    schema_url,
)
from headwater.plan.lineage import Gap

Facets = dict[str, Any]
"""By name: objects of the client library's many facet classes beside facets that are plain JSON; only the library reads
them again."""


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


def run_facets(outcomes: Sequence[WriteOutcome], producer: str) -> Facets:
    """Of a run with these writes."""
    facets: Facets = {}
    writes = [_telemetry(outcome) for outcome in outcomes if outcome.nodes]
    if writes:
        facets[TELEMETRY_FACET] = TelemetryRunFacet(writes=writes, producer=producer)
    captured = [outcome.rows.get("pairs") for outcome in outcomes if outcome.rows]
    pairs = [entry for entry in captured if isinstance(entry, Mapping)]
    if pairs:
        facets[ADJOINT_FACET] = adjoint_facet(pairs, producer)
    return facets


def coverage_of_run(gaps: Iterable[Gap]) -> dict[str, dict[str, object]]:
    """Of a run that did work which is not captured: its gaps, as an output has those of its columns."""
    return {COVERAGE_FACET: {"complete": False, "gaps": [_gap_entry(gap) for gap in dict.fromkeys(gaps)]}}


def _gap_entry(gap: Gap) -> GapEntry:
    return {"operator": gap.operator, "reason": gap.reason, "columns": list(gap.columns)}


def own_dataset_facets(written: CapturedWrite, producer: str) -> Facets:
    """Of the dataset that a write writes, or the view that it defines."""
    gaps = [_gap_entry(gap) for gap in written.gaps]
    facets: Facets = {COVERAGE_FACET: CoverageDatasetFacet(complete=not written.gaps, gaps=gaps, producer=producer)}
    if written.column_types:
        facets[COLUMN_TYPES_FACET] = ColumnTypesDatasetFacet(fields=dict(written.column_types), producer=producer)
    return facets


def own_output_facets(outcome: WriteOutcome, producer: str) -> Facets:
    """Of a dataset as the output of one run."""
    return {} if outcome.rows is None else {ROWS_FACET: rows_facet(outcome.rows, producer)}


def _telemetry(outcome: WriteOutcome) -> dict[str, object]:
    target = outcome.written.target
    return {
        "output": {"namespace": target.namespace, "name": target.name},
        "nodes": [
            {
                "name": node.name,
                "parent": node.parent,
                "rows": node.rows,
                "latencyMs": node.latency_ms,
                "bytes": node.bytes,
                "spillBytes": node.spill_bytes,
                "metrics": dict(node.metrics),
            }
            for node in outcome.nodes
        ],
    }


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
