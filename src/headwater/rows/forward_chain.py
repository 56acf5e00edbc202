"""Traces forward through the jobs that read what was written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headwater.errors import RowsError
from headwater.model.names import Dataset
from headwater.model.runs import OutputFacet
from headwater.rows.answer import FILE, ROW
from headwater.rows.backward import with_out_ids
from headwater.rows.forward import ForwardTrace
from headwater.rows.grain import Grain
from headwater.rows.identity import OUT_ID
from headwater.rows.marked import mark_source
from headwater.rows.stored_writes import StoredWrites, quote_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MAX_FOLLOWED_ROWS = 2_000  # rows that are followed further; of more, only the next dataset is told


@dataclass
class ForwardStep:
    """Rows of a dataset, and what they became: in each dataset that was made of it, the rows they reached."""

    dataset: Dataset
    rows: DataFrame
    write: OutputFacet | None = None
    """The run that made them of those before."""
    grain: Grain = "exact"
    notes: tuple[str, ...] = ()
    reached: list[ForwardStep] = field(default_factory=list)
    end: str | None = None
    """Why they were not followed further, though they were read."""

    def to_dict(self, rows: int = 20) -> dict[str, Any]:
        from headwater.rows.render import forward_document

        return forward_document(self, rows)


def trace_forward_chain(
    writes: StoredWrites, dataset: str | Dataset, where: str | None, depth: int | None
) -> ForwardStep:
    """``dataset`` is one that runs in the store have read."""
    reading = writes.readers_of(dataset)
    if not reading:
        raise RowsError(f"No run that told of its rows has read {dataset}.")
    found: ForwardStep | None = None
    ends: list[RowsError] = []
    for write in reading:
        try:
            asked = mark_source(writes.frame(write), _source_name(write, str(dataset)), where)
            forward = ForwardTrace(asked.provenance, asked.sources)
            next_step = _next_step(writes, write, forward, None if depth is None else depth - 1)
        except RowsError as end:  # of this reader; the others may well answer
            ends.append(end)
            continue
        found = found or ForwardStep(asked.names[asked.sources[0]].dataset, forward.source_rows)
        found.reached.append(next_step)
    if found is None:
        raise ends[0]
    found.end = "; ".join(map(str, ends)) or None
    return found


def _source_name(write: OutputFacet, dataset: str) -> str:
    """The dataset under the name by which the run knew it."""
    names = [f"{each['namespace']}/{each['name']}" for kept in write.facet["sources"] for each in kept["datasets"]]
    return next((name for name in names if name.endswith(dataset.rstrip("/"))), dataset)


def _next_step(writes: StoredWrites, write: OutputFacet, forward: ForwardTrace, depth: int | None) -> ForwardStep:
    here = ForwardStep(write.dataset, forward.rows, write, forward.grain, forward.notes)
    if depth == 0 or forward.rows.isEmpty():
        return here
    # Only what was written later: datasets may well be made of each other in turn.
    further = [each for each in writes.readers_of(str(write.dataset)) if each.completed_at > write.completed_at]
    if not further:
        return here
    try:
        where = _positions(writes, write, forward.rows)
        for next_write in further:
            asked = mark_source(writes.frame(next_write), _source_name(next_write, str(write.dataset)), where)
            onto = ForwardTrace(asked.provenance, asked.sources)
            here.reached.append(_next_step(writes, next_write, onto, None if depth is None else depth - 1))
    except RowsError as end:
        here.end = str(end)
    return here


def _positions(writes: StoredWrites, write: OutputFacet, rows: DataFrame) -> str:
    """Where the rows stand in what was written, as a condition."""
    from pyspark.sql import functions as F

    provenance, columns = writes.provenance(write, known=True)
    written = writes.read_back(write, provenance, columns)
    if provenance.is_ambiguous or written is None or write.facet["written"].get("format") != "parquet":
        raise RowsError(f"the rows of {write.dataset} have no place of their own that could be followed")
    placed = written.select(
        *map(quote_name, columns), F.col("_metadata.file_path").alias(FILE), F.col("_metadata.row_index").alias(ROW)
    )
    ids = rows.select(OUT_ID).distinct()
    found = (
        with_out_ids(provenance, placed).join(ids, OUT_ID, "left_semi").select(FILE, ROW).limit(_MAX_FOLLOWED_ROWS + 1)
    )
    places = [(str(file), int(row)) for file, row in found.collect()]
    if len(places) > _MAX_FOLLOWED_ROWS:
        raise RowsError(f"more than {_MAX_FOLLOWED_ROWS:,} rows of {write.dataset} were reached")
    return _position_condition(places)


def _position_condition(places: Sequence[tuple[str, int]]) -> str:
    by_file: dict[str, list[int]] = {}
    for file, row in places:
        by_file.setdefault(file, []).append(row)
    each = [
        f"(_metadata.file_path = '{_sql_text(file)}' and _metadata.row_index in ({', '.join(map(str, rows))}))"
        for file, rows in by_file.items()
    ]
    return " or ".join(each) or "false"


def _sql_text(file: str) -> str:
    return file.replace("\\", "\\\\").replace("'", "\\'")
