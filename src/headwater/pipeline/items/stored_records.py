"""The stored terminal records of a run, read with DuckDB: no Spark, no JVM.

with StoredItems("…/<run id>/items") as items:
    items.counts()
    items.records(reason="DeadLettered", limit=10)
    items.history("10e448b1-297c-bbd5-f4b9-8b25b918ea4a")
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from headwater.engines.duckdb import DuckDB, QueryResult
from headwater.engines.paths import escape_globs, local_path, parquet_files, require_below, resolve_path
from headwater.engines.sql import Sql, integers, join_sql, sql
from headwater.errors import EngineError, PathNotAllowed, PipelineError
from headwater.model.items import Hop, ItemRecord, Outcome, Reason, reason_of
from headwater.pipeline.items.expansion import Contributors, RecordBuilder, RowId, correlation_id, load_contributors
from headwater.pipeline.items.item_ids import id_numbers
from headwater.pipeline.items.item_log import MANIFEST, Manifest, SourceLog


@dataclass(frozen=True)
class _EndGroup:
    """Items of one source with the same end."""

    outcome: int
    dropped: bool | None
    stage: int
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
            ended=self.stage,
            dropped=dropped,
        )


class StoredItems:
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
        """The number of items by reason."""
        counts: dict[Reason, int] = {}
        for _, kinds in self._sources(reason, node, source):
            for kind in kinds:
                counts[kind.reason] = counts.get(kind.reason, 0) + kind.count
        return {known_reason: counts[known_reason] for known_reason in Reason if known_reason in counts}

    def records(
        self,
        *,
        reason: str | None = None,
        node: str | None = None,
        source: str | None = None,
        limit: int | None = None,
    ) -> list[ItemRecord]:
        """Records by source and key, up to ``limit``."""
        records: list[ItemRecord] = []
        for source_log, kinds in self._sources(reason, node, source):
            remaining = None if limit is None else limit - len(records)
            if kinds and (remaining is None or remaining > 0):
                where = join_sql(" OR ", [kind.condition for kind in kinds])
                rest = sql("{where} ORDER BY key, hi, lo", where=where)
                records += self._records(
                    source_log, rest if remaining is None else sql("{rest} LIMIT {left}", rest=rest, left=remaining)
                )
        return records

    def record(self, correlation_id: str) -> ItemRecord | None:
        """An item's record; None if the run has no such item, or did not follow it."""
        try:
            hi, lo = id_numbers(correlation_id)
        except ValueError:
            return None
        for source_log in self._manifest.sources:
            for record in self._records(source_log, sql("hi = {hi} AND lo = {lo}", hi=hi, lo=lo)):
                return record
        return None

    def history(self, correlation_id: str) -> tuple[Hop, ...]:
        """The hops of an item, in order."""
        record = self.record(correlation_id)
        return () if record is None else record.hops

    def terminal_reason(self, correlation_id: str) -> Reason | None:
        record = self.record(correlation_id)
        return None if record is None else record.reason

    def unresolved(self) -> tuple[str, ...]:
        """Items without an end or with several records: normally none."""
        ids: list[str] = []
        for source_log in self._manifest.sources:
            query = sql(
                "SELECT hi, lo FROM {table} GROUP BY ALL HAVING count(*) > 1 OR count(ended) = 0 OR count(outcome) = 0",
                table=self._table(source_log.folder),
            )
            ids += (correlation_id(hi, lo) for hi, lo in self._rows(query).rows)
        return tuple(sorted(ids))

    def _sources(
        self, reason: str | None, node: str | None, source: str | None
    ) -> Iterator[tuple[SourceLog, list[_EndGroup]]]:
        """The sources by name, each with the groups of ends that match."""
        wanted_reason = _reason(reason)
        for source_log in sorted(self._manifest.sources, key=lambda source_log: source_log.source):
            if source is not None and source != source_log.source:
                continue
            query = sql(
                "SELECT outcome, dropped, ended, count(*) FROM {table} GROUP BY ALL ORDER BY ALL",
                table=self._table(source_log.folder),
            )
            groups = [_EndGroup(*row) for row in self._rows(query).rows]
            yield (
                source_log,
                [
                    group
                    for group in groups
                    if (wanted_reason is None or group.reason is wanted_reason)
                    and (node is None or source_log.stages[group.stage].node == node)
                ],
            )

    def _records(self, source_log: SourceLog, rest: Sql) -> list[ItemRecord]:
        query = sql("SELECT * FROM {table} WHERE {rest}", table=self._table(source_log.folder), rest=rest)
        answer = self._rows(query)
        documents = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
        contributors = load_contributors(source_log.stages, documents, self._contributors_of)
        expansion = RecordBuilder(source_log.source, source_log.stages, self._manifest.options)
        return [expansion.record(row, contributors.of(row)) for row in documents]

    def _contributors_of(self, table_number: int, row_ids: Collection[RowId]) -> Iterator[tuple[RowId, Contributors]]:
        pairs = join_sql(", ", [sql("({pair})", pair=integers(pair)) for pair in sorted(row_ids)])
        query = sql(
            "SELECT hi, lo, contributors, names, cut FROM {table} WHERE (hi, lo) IN ({pairs})",
            table=self._table(f"company/{table_number}"),
            pairs=pairs,
        )
        for hi, lo, count, names, cut in self._rows(query).rows:
            yield (hi, lo), Contributors(count, [(item["hi"], item["lo"]) for item in names or ()], cut)

    def _table(self, folder: str) -> Sql:
        """``folder`` comes from a file, so it is checked that it does not leave the folder of the records."""
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


def _reason(name: str | None) -> Reason | None:
    if name is None:
        return None
    reasons = {reason.lower(): reason for reason in Reason}
    if name.lower() not in reasons:
        raise PipelineError(f"'{name}' is not a reason. Reasons: {', '.join(Reason)}.")
    return reasons[name.lower()]
