"""The names and schema URLs of Headwater's own facets.

Code that writes or reads one of these facets takes its name from here. Names and URLs are part of stored events: they
never change. The names of standard facets are in `openlineage-python`.
"""

from __future__ import annotations

ROWS_FACET = "headwater_rows"
"""Of an output: the query plan and the source files of a write."""
COVERAGE_FACET = "headwater_coverage"
"""Of an output: the gaps in its column lineage. Of a run: what it did that is not captured."""
COLUMN_TYPES_FACET = "headwater_columnTypes"
"""Of an output: how each column is derived."""
TELEMETRY_FACET = "headwater_telemetry"
"""Of a run: Spark's metrics."""
PROVENANCE_FACET = "headwater_provenance"
"""Of a run: its purpose. Of a dataset: an access, an export or a deletion."""
QUALITY_FACET = "headwater_quality"
"""Of an input, by the run that checked it; of a dataset, as a statement; of a job that runs checks."""
WIA_FACET = "headwater_wia"
"""Of a dataset: the WIA-DATA-008 documents that it was imported with."""
PIPELINE_FACET = "headwater_pipeline"
"""Of a run of a declared pipeline: its report."""
EXPECTATIONS_FACET = "headwater_expectations"
"""Of a run: its expectations, and whether they hold."""

EVIDENCE_PREFIX = "cdme."
"""The names of evidence facets begin with this."""
MANIFEST_FACET = "cdme.runManifest"
LEDGER_FACET = "cdme.accountingLedger"
TYPES_FACET = "cdme.typeUnification"
TRACE_FACET = "cdme.morphismTrace"
GRAIN_FACET = "cdme.grainSafety"
ADJOINT_FACET = "cdme.adjointMetadata"

_SCHEMA_NAMES = {
    ROWS_FACET: "rows",
    COVERAGE_FACET: "coverage",
    COLUMN_TYPES_FACET: "columnTypes",
    TELEMETRY_FACET: "telemetry",
    QUALITY_FACET: "quality",
    ADJOINT_FACET: "adjointMetadata",
}
"""Facets whose schema URL has another name than the facet."""


def schema_url(facet: str) -> str:
    """The `_schemaURL` of a facet of Headwater, by the facet's name."""
    return f"urn:headwater:facet:{_SCHEMA_NAMES.get(facet, facet)}:1-0-0"
