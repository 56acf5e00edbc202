"""Traces forward through the jobs that read what was written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headwater.errors import RowsError
from headwater.model.names import Dataset
from headwater.model.runs import OutputFacet
from headwater.rows.backward import as_stored, with_out_ids
from headwater.rows.column_names import FILE, OUT_ID, ROW, quote_name
from headwater.rows.forward import ForwardTrace
from headwater.rows.grain import Grain
from headwater.rows.marked import mark_source
from headwater.rows.stored_writes import StoredWrites

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MAX_FOLLOWED_ROWS = 2_000  # rows that are followed further; with more of them, the trace ends at the next dataset


@dataclass
class ForwardStep:
    """Rows of a dataset, and the rows that they reached in each dataset that was derived from it."""

    dataset: Dataset
    rows: DataFrame
    write: OutputFacet | None = None
    """The write that derived them from the rows of the previous step."""
    grain: Grain = "exact"
    notes: tuple[str, ...] = ()
    reached: list[ForwardStep] = field(default_factory=list)
    end: str | None = None
    """Why they were not followed further, although they were read."""

    def to_dict(self, rows: int = 20) -> dict[str, Any]:
        from headwater.rows.render import forward_document

        return forward_document(self, rows)


def trace_forward_chain(
    writes: StoredWrites, dataset: str | Dataset, where: str | None, depth: int | None
) -> ForwardStep:
    """``dataset`` is one that runs in the store read."""
    readers = writes.readers_of(dataset)
    if not readers:
        raise RowsError(f"No run with recorded row lineage has read {dataset}.")
    name = writes.canonical_name(dataset) if isinstance(dataset, str) else str(dataset)
    start: ForwardStep | None = None
    ends: list[RowsError] = []
    for write in readers:
        try:
            marked = mark_source(writes.frame(write), _source_name(write, name), where)
            forward = ForwardTrace(marked.provenance, marked.sources)
            next_step = _next_step(writes, write, forward, None if depth is None else depth - 1)
        except RowsError as end:  # of this reader; the others may succeed
            ends.append(end)
            continue
        start = start or ForwardStep(marked.names[marked.sources[0]].dataset, forward.source_rows)
        start.reached.append(next_step)
    if start is None:
        raise ends[0]
    start.end = "; ".join(map(str, ends)) or None
    return start


def _source_name(write: OutputFacet, dataset: str) -> str:
    """The dataset under the name that the run recorded."""
    names = [
        f"{dataset_document['namespace']}/{dataset_document['name']}"
        for source in write.facet["sources"]
        for dataset_document in source["datasets"]
    ]
    return next((name for name in names if name.endswith(dataset.rstrip("/"))), dataset)


def _next_step(writes: StoredWrites, write: OutputFacet, forward: ForwardTrace, depth: int | None) -> ForwardStep:
    step = ForwardStep(write.dataset, forward.rows, write, forward.grain, forward.notes)
    if depth == 0 or forward.rows.isEmpty():
        return step
    # Only later writes: two datasets may be derived from each other in turn.
    readers = [reader for reader in writes.readers_of(str(write.dataset)) if reader.completed_at > write.completed_at]
    if not readers:
        return step
    try:
        where = _positions(writes, write, forward.rows)
        for next_write in readers:
            marked = mark_source(writes.frame(next_write), _source_name(next_write, str(write.dataset)), where)
            forward_trace = ForwardTrace(marked.provenance, marked.sources)
            step.reached.append(_next_step(writes, next_write, forward_trace, None if depth is None else depth - 1))
    except RowsError as end:
        step.end = str(end)
    return step


def _positions(writes: StoredWrites, write: OutputFacet, rows: DataFrame) -> str:
    """The positions of the rows in the written files, as a condition."""
    from pyspark.sql import functions as F

    provenance, columns = writes.provenance(write, known=True)
    written = writes.read_back(write, provenance, columns)
    if provenance.is_ambiguous or written is None or write.facet["written"].get("format") != "parquet":
        raise RowsError(f"the rows of {write.dataset} have no position in a file, so they cannot be followed")
    if any(name.lower() == "_metadata" for name in columns):
        raise RowsError(f"{write.dataset} has a column _metadata, which hides the positions of its rows")
    placed = written.select(
        *map(quote_name, columns), F.col("_metadata.file_path").alias(FILE), F.col("_metadata.row_index").alias(ROW)
    )
    stored = writes.stored_values(write, provenance, placed.select(*map(quote_name, columns)), None)
    names = [f"__hw_c{place}" for place in range(len(columns))]
    reached = as_stored(rows.toDF(*names, OUT_ID), names, stored)
    ids = with_out_ids(provenance, reached.drop(OUT_ID)).select(OUT_ID).distinct()
    positions = (
        with_out_ids(provenance, placed).join(ids, OUT_ID, "left_semi").select(FILE, ROW).limit(_MAX_FOLLOWED_ROWS + 1)
    )
    places = [(str(file), int(row)) for file, row in positions.collect()]
    if len(places) > _MAX_FOLLOWED_ROWS:
        raise RowsError(f"more than {_MAX_FOLLOWED_ROWS:,} rows of {write.dataset} were reached")
    return _position_condition(places)


def _position_condition(places: Sequence[tuple[str, int]]) -> str:
    by_file: dict[str, list[int]] = {}
    for file, row in places:
        by_file.setdefault(file, []).append(row)
    conditions = [
        f"(_metadata.file_path = '{_sql_text(file)}' and _metadata.row_index in ({', '.join(map(str, rows))}))"
        for file, rows in by_file.items()
    ]
    return " or ".join(conditions) or "false"


def _sql_text(file: str) -> str:
    return file.replace("\\", "\\\\").replace("'", "\\'")
