"""Traces back through the jobs that wrote what was read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from headwater.errors import RowsError
from headwater.jvm import JavaObject
from headwater.model.names import Dataset
from headwater.model.runs import OutputFacet
from headwater.rows.answer import Trace, TracePart
from headwater.rows.backward import trace, trace_known
from headwater.rows.column_names import quote_name
from headwater.rows.provenance import RowProvenance
from headwater.rows.stored_writes import StoredWrites, condition_errors
from headwater.rows.verification import DEFAULT_LIMIT

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_SCRIPT_NOTE = "the result of a SQL script is collected by Spark: what its rows come from is not known"
_MAX_FILES = 1_000  # of a source: in more files, rows are not followed to their writers


@dataclass(frozen=True)
class Tracer:
    """``depth`` is the number of jobs to trace back through; None is all of them. ``verify_limit``: up to this many
    source rows, an answer is checked by running the query on them."""

    writes: StoredWrites
    depth: int | None = 1
    verify_limit: int = DEFAULT_LIMIT

    def trace_frame(self, frame: DataFrame, where: str | Column | None) -> Trace:
        plan: JavaObject = frame._jdf.queryExecution().analyzed()
        provenance = RowProvenance(self.writes.spark, plan)
        _check_condition(provenance, where, "the DataFrame")
        steps = trace(provenance, where)
        part = TracePart(steps, self.writes.names(provenance), verify_limit=self.verify_limit)
        if _is_script(frame):
            part.notes, part.finest_grain = (_SCRIPT_NOTE,), "opaque"
        answer = Trace([part])
        self._trace_sources(answer, datetime.now(UTC), self.depth)
        return answer

    def trace(self, what: str | Dataset, where: str | Column | None, output: str | None = None) -> Trace:
        """``what`` is a run or a dataset."""
        writes = self.writes.writes_of(what, output)
        answer = Trace([self._trace_write(write, where) for write in writes], writes[0].dataset)
        self._trace_sources(answer, writes[0].completed_at, self.depth)
        return answer

    def _trace_write(self, write: OutputFacet, where: str | Column | None) -> TracePart:
        """Reads the rows from the output; where that cannot be read back, runs the query again."""
        provenance, columns = self.writes.provenance(write, known=True)
        written = self.writes.read_back(write, provenance, columns)
        if written is not None:
            with condition_errors(str(write.dataset)):
                rows = written if where is None else written.where(where)
            return self._trace_rows(write, provenance, rows.select(*map(quote_name, columns)), None)
        provenance, columns = self.writes.provenance(write)
        _check_condition(provenance, where, str(write.dataset))
        steps = trace(provenance, where)
        note = "the output cannot be read back: the rows are those of the query, run again"
        return TracePart(steps, self.writes.names(provenance), write, (note,), self.verify_limit)

    def _trace_rows(
        self, write: OutputFacet, provenance: RowProvenance, rows: DataFrame, options: Mapping[str, str] | None
    ) -> TracePart:
        """``options``: those by which the rows were read; None if they were read as they were written."""
        stored = self.writes.stored_values(write, provenance, rows, options)
        steps = trace_known(provenance, rows, stored=stored)
        if steps.exceeds_limit:  # by their values alone, rows beyond the limit would be among them
            limited = self.writes.provenance(write)[0]
            steps_within = trace_known(limited, rows, stored=stored)
            if steps_within.missing_count:  # among equals, the limit takes others this time
                steps_within.release()
            else:
                steps.release()
                provenance, steps = limited, steps_within
        return TracePart(steps, self.writes.names(provenance), write, (), self.verify_limit)

    def _trace_sources(self, answer: Trace, before: datetime, depth: int | None) -> None:
        """Traces each source's rows through the jobs that wrote them. Where that is not possible, the trace ends there
        and records why."""
        if depth == 1:
            return
        for name in answer.sources:
            try:
                parts = self._trace_writers(answer, name, before)
            except RowsError as end:
                answer.ends[name] = str(end)
                continue
            if parts:
                written = [part.write for part in parts if part.write]
                further = answer.further[name] = Trace(parts, written[0].dataset)
                latest = max(write.completed_at for write in written)
                self._trace_sources(further, latest, None if depth is None else depth - 1)

    def _trace_writers(self, answer: Trace, name: str, before: datetime) -> list[TracePart]:
        """Traces the rows through each write that their files come from. At files that no known run wrote the trace
        ends, and records that if other files were traced on."""
        in_files = answer.sources.rows_in_files(name)
        if in_files is None:
            if self.writes.is_written(name, before):
                raise RowsError("its rows were not read from files, so which run wrote them is not known")
            return []
        rows, path = in_files
        files = [row[0] for row in rows.select(path).distinct().limit(_MAX_FILES + 1).collect()]
        writers = list(self.writes.writers(name, files, before))
        if writers and len(files) > _MAX_FILES:
            raise RowsError(f"its rows are in more than {_MAX_FILES:,} files")
        unclaimed = len(files) - sum(len(written_files) for _, written_files in writers)
        if writers and unclaimed:
            answer.ends[name] = f"{unclaimed:,} of its files were written by no known run"
        options = answer.sources.reader_options(name)
        return [
            self._trace_source_rows(write, rows.where(rows[path].isin(written_files)), options)
            for write, written_files in writers
        ]

    def _trace_source_rows(self, write: OutputFacet, rows: DataFrame, options: Mapping[str, str]) -> TracePart:
        provenance, columns = self.writes.provenance(write, known=True)
        missing = [column for column in columns if column not in rows.columns]
        if missing:
            raise RowsError(f"it was read without columns that were written: {', '.join(missing)}")
        return self._trace_rows(write, provenance, rows.select(*map(quote_name, columns)), options)


def _is_script(frame: DataFrame) -> bool:
    """Whether the frame is the result of a SQL script, of which Spark hands over nothing but the rows."""
    name: str = frame._jdf.queryExecution().logical().getClass().getSimpleName()
    return name == "CompoundBody"


def _check_condition(provenance: RowProvenance, where: str | Column | None, what: str) -> None:
    """Checks the condition before anything runs, so that later errors are not reported as errors of the condition."""
    if where is not None:
        with condition_errors(what):
            provenance.frame(0).where(where)
