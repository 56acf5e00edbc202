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
from typing import TYPE_CHECKING, Any, Self

from headwater.errors import PipelineError
from headwater.model.items import Hop, ItemRecord, Outcome, Reason, reason_of
from headwater.pipeline.expansion import Company, Expansion, RowId, correlation_id, met
from headwater.pipeline.journal import MANIFEST, Line, Manifest
from headwater.pipeline.minting import halves
from headwater.rows.pairs.folders import local_path

if TYPE_CHECKING:
    import duckdb


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
    def condition(self) -> str:
        dropped = "IS NOT NULL" if self.dropped else "IS NULL"
        return f"(outcome = {self.outcome} AND ended = {self.ended} AND dropped {dropped})"


class Items:
    """``location`` is the folder of the records, as the run's facet `headwater_pipeline` names it."""

    def __init__(self, location: str | Path) -> None:
        import duckdb

        self._folder = local_path(str(location))
        try:
            self._manifest = Manifest.from_json((self._folder / MANIFEST).read_text())
        except OSError:
            raise PipelineError(f"There are no records of items at {location} on this machine.") from None
        except (ValueError, KeyError, TypeError) as wrong:
            raise PipelineError(f"The records at {location} cannot be read: {MANIFEST} is damaged.") from wrong
        self._connection: duckdb.DuckDBPyConnection = duckdb.connect(
            config={"autoinstall_known_extensions": False, "autoload_known_extensions": False}
        )
        self._connection.execute("SET enable_progress_bar = false; SET TimeZone = 'UTC'")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

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
                most = "" if left is None else f" LIMIT {left}"
                where = " OR ".join(kind.condition for kind in kinds)
                found += self._records(line, f"{where} ORDER BY key, hi, lo{most}")
        return found

    def record(self, correlation_id: str) -> ItemRecord | None:
        """An item's record; None if the run knows no such item, or did not follow it."""
        try:
            hi, lo = halves(correlation_id)
        except ValueError:
            return None
        for line in self._manifest.lines:
            for record in self._records(line, f"hi = {hi} AND lo = {lo}"):
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
            having = "HAVING count(*) > 1 OR count(ended) = 0 OR count(outcome) = 0"
            found += (
                correlation_id(hi, lo)
                for hi, lo in self._asked(f"SELECT hi, lo FROM {self._table(line.folder)} GROUP BY ALL {having}")
            )
        return tuple(sorted(found))

    def _lines(self, reason: str | None, node: str | None, source: str | None) -> Iterator[tuple[Line, list[_Kind]]]:
        """The sources by their names, and which kinds of ends are asked for."""
        wanted = _reason(reason)
        for line in sorted(self._manifest.lines, key=lambda line: line.source):
            if source is not None and source != line.source:
                continue
            query = (
                f"SELECT outcome, dropped, ended, count(*) FROM {self._table(line.folder)} GROUP BY ALL ORDER BY ALL"
            )
            kinds = [_Kind(*row) for row in self._asked(query)]
            yield (
                line,
                [
                    kind
                    for kind in kinds
                    if (wanted is None or kind.reason is wanted)
                    and (node is None or line.stations[kind.ended].node == node)
                ],
            )

    def _records(self, line: Line, rest: str) -> list[ItemRecord]:
        names, rows = self._rows(f"SELECT * FROM {self._table(line.folder)} WHERE {rest}")
        told = [dict(zip(names, row, strict=True)) for row in rows]
        companies = met(line.stations, told, self._company)
        expansion = Expansion(line.source, line.stations, self._manifest.options)
        return [expansion.record(row, companies.of(row)) for row in told]

    def _company(self, place: int, wanted: Collection[RowId]) -> Iterator[tuple[RowId, Company]]:
        rows = ", ".join(f"({hi}, {lo})" for hi, lo in sorted(wanted))
        table = self._table(f"company/{place}")
        query = f"SELECT hi, lo, contributors, names, cut FROM {table} WHERE (hi, lo) IN ({rows})"
        for hi, lo, count, names, cut in self._asked(query):
            yield (hi, lo), Company(count, [(each["hi"], each["lo"]) for each in names or ()], cut)

    def _table(self, folder: str) -> str:
        escaped = str(self._folder / folder).replace("'", "''")
        return f"read_parquet('{escaped}/*.parquet')"

    def _asked(self, query: str) -> list[tuple[Any, ...]]:
        return self._rows(query)[1]

    def _rows(self, query: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        import duckdb

        try:
            found = self._connection.execute(query)
            return [column[0] for column in found.description or ()], found.fetchall()
        except duckdb.Error as wrong:
            raise PipelineError(f"The records cannot be read: {str(wrong).splitlines()[0]}") from wrong


def _reason(asked: str | None) -> Reason | None:
    if asked is None:
        return None
    known = {each.lower(): each for each in Reason}
    if asked.lower() not in known:
        raise PipelineError(f"'{asked}' is no reason. There are: {', '.join(Reason)}.")
    return known[asked.lower()]
