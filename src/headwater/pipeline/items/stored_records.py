"""The terminal records that a run has left, read with DuckDB: no Spark, no JVM.

with Items("…/<run id>/items") as items:
    items.counts()
    items.records(reason="DeadLettered", limit=10)
    items.history("10e448b1-297c-bbd5-f4b9-8b25b918ea4a")
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from headwater.engines.duckdb import DuckDB, QueryResult
from headwater.engines.paths import escape_globs, local_path, parquet_files, require_below, resolve_path
from headwater.engines.sql import Sql, integers, join_sql, sql
from headwater.errors import EngineError, PathNotAllowed, PipelineError
from headwater.model.items import Hop, ItemRecord, Outcome, Reason, reason_of
from headwater.pipeline.items.expansion import Company, Expansion, RowId, correlation_id, met
from headwater.pipeline.items.item_ids import halves
from headwater.pipeline.items.item_log import MANIFEST, Line, Manifest

if TYPE_CHECKING:
    pass


@dataclass(frozen=True)
class _Kind:
    """Items of one source that ended alike."""

    outcome: int
    dropped: bool | None
    ended: int
    count: int

    @property
    def reason(self) -> Reason:
        return reason_of(Outcome(self.outcome), dropped=bool(self.dropped))

    @property
    def condition(self) -> Sql:
        dropped = sql("IS NOT NULL") if self.dropped else sql("IS NULL")
        return sql(
            "(outcome = {outcome} AND ended = {ended} AND dropped {dropped})",
            outcome=self.outcome,
            ended=self.ended,
            dropped=dropped,
        )


class Items:
    """``location`` is the folder of the records, as the run's facet `headwater_pipeline` names it."""

    def __init__(self, location: str | Path) -> None:
        self._folder = resolve_path(local_path(str(location)))
        try:
            self._manifest = Manifest.from_json((self._folder / MANIFEST).read_text())
        except OSError:
            raise PipelineError(f"There are no records of items at {location} on this machine.") from None
        except (ValueError, KeyError, TypeError) as wrong:
            raise PipelineError(f"The records at {location} cannot be read: {MANIFEST} is damaged.") from wrong
        self._engine = DuckDB(folders=[str(self._folder)])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._engine.close()

    def counts(
        self, *, reason: str | None = None, node: str | None = None, source: str | None = None
    ) -> dict[Reason, int]:
        """How many items ended for which reason."""
        found: dict[Reason, int] = {}
        for _, kinds in self._lines(reason, node, source):
            for kind in kinds:
                found[kind.reason] = found.get(kind.reason, 0) + kind.count
        return {each: found[each] for each in Reason if each in found}

    def records(
        self,
        *,
        reason: str | None = None,
        node: str | None = None,
        source: str | None = None,
        limit: int | None = None,
    ) -> list[ItemRecord]:
        """By source and key; ``limit`` of them at most."""
        found: list[ItemRecord] = []
        for line, kinds in self._lines(reason, node, source):
            left = None if limit is None else limit - len(found)
            if kinds and (left is None or left > 0):
                where = join_sql(" OR ", [kind.condition for kind in kinds])
                rest = sql("{where} ORDER BY key, hi, lo", where=where)
                found += self._records(line, rest if left is None else sql("{rest} LIMIT {left}", rest=rest, left=left))
        return found

    def record(self, correlation_id: str) -> ItemRecord | None:
        """An item's record; None if the run knows no such item, or did not follow it."""
        try:
            hi, lo = halves(correlation_id)
        except ValueError:
            return None
        for line in self._manifest.lines:
            for record in self._records(line, sql("hi = {hi} AND lo = {lo}", hi=hi, lo=lo)):
                return record
        return None

    def history(self, correlation_id: str) -> tuple[Hop, ...]:
        """The hops of an item, in the order of its way."""
        found = self.record(correlation_id)
        return () if found is None else found.hops

    def terminal_reason(self, correlation_id: str) -> Reason | None:
        found = self.record(correlation_id)
        return None if found is None else found.reason

    def unresolved(self) -> tuple[str, ...]:
        """Items whose record does not say where they ended, or that have more than one: there are none."""
        found: list[str] = []
        for line in self._manifest.lines:
            query = sql(
                "SELECT hi, lo FROM {table} GROUP BY ALL HAVING count(*) > 1 OR count(ended) = 0 OR count(outcome) = 0",
                table=self._table(line.folder),
            )
            found += (correlation_id(hi, lo) for hi, lo in self._rows(query).rows)
        return tuple(sorted(found))

    def _lines(self, reason: str | None, node: str | None, source: str | None) -> Iterator[tuple[Line, list[_Kind]]]:
        """The sources by their names, and which kinds of ends are asked for."""
        wanted = _reason(reason)
        for line in sorted(self._manifest.lines, key=lambda line: line.source):
            if source is not None and source != line.source:
                continue
            query = sql(
                "SELECT outcome, dropped, ended, count(*) FROM {table} GROUP BY ALL ORDER BY ALL",
                table=self._table(line.folder),
            )
            kinds = [_Kind(*row) for row in self._rows(query).rows]
            yield (
                line,
                [
                    kind
                    for kind in kinds
                    if (wanted is None or kind.reason is wanted)
                    and (node is None or line.stations[kind.ended].node == node)
                ],
            )

    def _records(self, line: Line, rest: Sql) -> list[ItemRecord]:
        query = sql("SELECT * FROM {table} WHERE {rest}", table=self._table(line.folder), rest=rest)
        answer = self._rows(query)
        told = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
        companies = met(line.stations, told, self._company)
        expansion = Expansion(line.source, line.stations, self._manifest.options)
        return [expansion.record(row, companies.of(row)) for row in told]

    def _company(self, place: int, wanted: Collection[RowId]) -> Iterator[tuple[RowId, Company]]:
        pairs = join_sql(", ", [sql("({pair})", pair=integers(pair)) for pair in sorted(wanted)])
        query = sql(
            "SELECT hi, lo, contributors, names, cut FROM {table} WHERE (hi, lo) IN ({pairs})",
            table=self._table(f"company/{place}"),
            pairs=pairs,
        )
        for hi, lo, count, names, cut in self._rows(query).rows:
            yield (hi, lo), Company(count, [(each["hi"], each["lo"]) for each in names or ()], cut)

    def _table(self, folder: str) -> Sql:
        """``folder`` is read from a file: it must not lead out of the folder of the records."""
        try:
            files = parquet_files(require_below(self._folder / folder, [self._folder]))
        except PathNotAllowed as refused:
            raise PipelineError(f"The records cannot be read: {refused}") from refused
        if not files:
            raise PipelineError(f"The records cannot be read: there are no Parquet files in {folder}.")
        return sql("read_parquet({files})", files=escape_globs(files))

    def _rows(self, query: Sql) -> QueryResult:
        try:
            return self._engine.result(query)
        except EngineError as wrong:
            raise PipelineError(f"The records cannot be read: {wrong}") from wrong


def _reason(asked: str | None) -> Reason | None:
    if asked is None:
        return None
    known = {each.lower(): each for each in Reason}
    if asked.lower() not in known:
        raise PipelineError(f"'{asked}' is no reason. There are: {', '.join(Reason)}.")
    return known[asked.lower()]
