"""Traces back through the jobs that wrote what was read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from headwater.errors import RowsError
from headwater.model.names import Dataset
from headwater.model.runs import OutputFacet
from headwater.rows.answer import FILE, Part, Trace
from headwater.rows.backward import trace, trace_known
from headwater.rows.provenance import Provenance
from headwater.rows.stored_writes import Writes, conditions, quoted

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_MOST_FILES = 1_000  # of a source, that traced rows may lie in and still be followed to their writers


@dataclass(frozen=True)
class Tracer:
    """``depth`` is how many jobs to go back through; None is all of them."""

    writes: Writes
    depth: int | None = 1

    def trace_frame(self, frame: DataFrame, where: str | Column | None) -> Trace:
        plan: Any = frame._jdf.queryExecution().analyzed()
        provenance = Provenance(self.writes.spark, plan)
        _check(provenance, where, "the DataFrame")
        found = Trace([Part(trace(provenance, where), self.writes.names(provenance))])
        self._go_on(found, datetime.now(UTC), self.depth)
        return found

    def trace(self, what: str | Dataset, where: str | Column | None, output: str | None = None) -> Trace:
        """``what`` is a run or a dataset."""
        writes = self.writes.behind(what, output)
        found = Trace([self._asked(write, where) for write in writes], writes[0].dataset)
        self._go_on(found, writes[0].completed_at, self.depth)
        return found

    def _asked(self, write: OutputFacet, where: str | Column | None) -> Part:
        """The rows are looked up in what was written; where that cannot be read back, the query is run again."""
        provenance, columns = self.writes.provenance(write, known=True)
        written = self.writes.read_back(write, provenance, columns)
        if written is not None:
            with conditions(str(write.dataset)):
                rows = written if where is None else written.where(where)
            return self._part(write, provenance, rows.select(*map(quoted, columns)))
        provenance, columns = self.writes.provenance(write)
        _check(provenance, where, str(write.dataset))
        steps = trace(provenance, where)
        note = "the output cannot be read back: the rows are those of the query, run again"
        return Part(steps, self.writes.names(provenance), write, (note,))

    def _part(self, write: OutputFacet, provenance: Provenance, rows: DataFrame) -> Part:
        return Part(trace_known(provenance, rows), self.writes.names(provenance), write)

    def _go_on(self, found: Trace, before: datetime, depth: int | None) -> None:
        """Each source's rows become the rows asked about of the jobs that wrote them. Where that cannot be answered,
        the trace ends there and says why."""
        if depth == 1:
            return
        for name in found.sources:
            rows = found.sources[name]
            try:
                parts = self._parts_behind(found, name, rows, before)
            except RowsError as end:
                found.ends[name] = str(end)
                continue
            if parts:
                written = [part.write for part in parts if part.write]
                further = found.further[name] = Trace(parts, written[0].dataset)
                latest = max(write.completed_at for write in written)
                self._go_on(further, latest, None if depth is None else depth - 1)

    def _parts_behind(self, found: Trace, name: str, rows: DataFrame, before: datetime) -> list[Part]:
        """Through each write that the rows' files come from. Of files that no known run wrote the trace ends, and says
        so if others went on."""
        files = [row[0] for row in rows.select(FILE).distinct().limit(_MOST_FILES + 1).collect()]
        writers = list(self.writes.writers(name, files, before))
        if writers and len(files) > _MOST_FILES:
            raise RowsError(f"its rows lie in more than {_MOST_FILES:,} files")
        left = len(files) - sum(len(here) for _, here in writers)
        if writers and left:
            found.ends[name] = f"for rows of {left:,} of its files: no run is known to have written these"
        return [self._behind(write, rows.where(rows[FILE].isin(here))) for write, here in writers]

    def _behind(self, write: OutputFacet, rows: DataFrame) -> Part:
        provenance, columns = self.writes.provenance(write, known=True)
        lacking = [column for column in columns if column not in rows.columns]
        if lacking:
            raise RowsError(f"it was read without columns that it was written with: {', '.join(lacking)}")
        return self._part(write, provenance, rows.select(*map(quoted, columns)))


def _check(provenance: Provenance, where: str | Column | None, what: str) -> None:
    """That the condition fits, before anything runs; whatever goes wrong later is not its fault."""
    if where is not None:
        with conditions(what):
            provenance.frame(0).where(where)
