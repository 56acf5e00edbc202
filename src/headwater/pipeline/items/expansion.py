"""From the row of an item's journey to its terminal record, in Python: for records that are at hand.

Spark makes the same of the rows where they are many (records.py).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

from headwater.model.items import Cardinality, Continuity, Hop, ItemRecord, Outcome, reason_of
from headwater.pipeline.declare.options import LineageOptions
from headwater.pipeline.items.item_ids import MAX_NAMED
from headwater.pipeline.items.record_shape import drop_record, shape_record
from headwater.pipeline.items.stages import Stage


@dataclass(frozen=True)
class Contributors:
    """Of a row that many items have made: how many, and some of them by name; ``cut`` says that there are more."""

    count: int | None
    items: Sequence[tuple[int, int]]
    is_truncated: bool

    @cached_property
    def names(self) -> list[str]:
        """In their order. Many records ask for them."""
        return sorted(correlation_id(hi, lo) for hi, lo in self.items)


RowId = tuple[int, int]


@dataclass(frozen=True)
class ContributorsByStage:
    """Of rows, by station."""

    by_stage: Mapping[int, Mapping[RowId, Contributors]]

    def of(self, row: Mapping[str, Any]) -> dict[int, Contributors]:
        """Of the rows that an item went into."""
        went = {number: _row_id_at(row, number) for number in self.by_stage}
        return {
            number: self.by_stage[number][at]
            for number, at in went.items()
            if at is not None and at in self.by_stage[number]
        }


def load_contributors(
    line: Sequence[Stage],
    rows: Sequence[Mapping[str, Any]],
    ask: Callable[[int, Collection[RowId]], Iterable[tuple[RowId, Contributors]]],
) -> ContributorsByStage:
    """The company of these items, asked for by its table and the rows that they went into."""
    found = {}
    for station in line:
        if station.contributor_table is not None and station.same_as is None:
            wanted = {at for row in rows if (at := _row_id_at(row, station.number)) is not None}
            found[station.number] = dict(ask(station.contributor_table, wanted)) if wanted else {}
    return ContributorsByStage(found)


def _row_id_at(row: Mapping[str, Any], station: int) -> RowId | None:
    hi, lo = row.get(f"g{station}"), row.get(f"h{station}")
    return None if hi is None or lo is None else (hi, lo)


def correlation_id(hi: int, lo: int) -> str:
    return str(UUID(bytes=hi.to_bytes(8, signed=True) + lo.to_bytes(8, signed=True)))


class RecordBuilder:
    """Of the rows of one source."""

    def __init__(self, source: str, line: Sequence[Stage], options: LineageOptions) -> None:
        self._source = source
        self._stages = line
        self._options = options

    def record(self, row: Mapping[str, Any], companies: Mapping[int, Contributors]) -> ItemRecord:
        """``companies``: of the rows that the item went into, by station."""
        seen = [_StageOutcome(station, row, companies) for station in self._stages]
        came = [each for each in seen if each.was_reached(seen)]
        last = seen[row["ended"]]
        outcome = Outcome(row["outcome"])
        names, cut = _contributor_names(row, companies) if self._options.contributor_ids else ((), False)
        record = ItemRecord(
            correlation_id=correlation_id(row["hi"], row["lo"]),
            source=self._source,
            key=row["key"],
            path=tuple(each.stage.segment for each in came),
            hops=tuple(each.hop(seen) for each in came),
            outcome=outcome,
            reason=reason_of(outcome),
            node=last.station.node,
            retries=last.retries,
            contributors=names,
            error=last.error,
            data=last.shown if self._options.snapshots else row.get("s0"),
            truncated=cut,
        )
        told = shape_record(record, self._options)
        return drop_record(told) if row.get("dropped") else told


def _contributor_names(row: Mapping[str, Any], companies: Mapping[int, Contributors]) -> tuple[tuple[str, ...], bool]:
    """Who was with an item, and whether there are others than those."""
    parts = [sorted(correlation_id(each["hi"], each["lo"]) for each in row.get("others") or ())]
    cut = bool(row.get("unnamed"))
    for number, company in companies.items():
        parts.append(company.names)
        cut = cut or company.is_truncated or bool(company.items and row.get(f"m{number}"))
    told = [part for part in parts if part]
    names = told[0] if len(told) == 1 else sorted({name for part in told for name in part})
    own = correlation_id(row["hi"], row["lo"])
    others = [name for name in names if name != own]
    return tuple(others[:MAX_NAMED]), cut or len(others) > MAX_NAMED


class _StageOutcome:
    """One station, as the row of an item tells of it."""

    def __init__(self, station: Stage, row: Mapping[str, Any], companies: Mapping[int, Contributors]) -> None:
        self.stage = station
        self.emitted = sum(row.get(f"e{number}") or 0 for number in station.counted_stages)
        self.data = _first_value(row.get(f"s{number}") for number in station.counted_stages)
        told = [row.get(f"c{number}") for number in station.counted_stages]
        told += [companies[number].count for number in station.counted_stages if number in companies]
        self.contributors = _first_value(told)
        self.retries, self.error = 0, None
        self.outcome = station.outcome if self.emitted else Outcome.FILTERED_OUT
        if station.is_row_function:
            self.outcome = Outcome(row.get(f"f{station.number}") or 0)
            self.retries, self.error = row.get(f"r{station.number}") or 0, row.get(f"x{station.number}")

    def was_reached(self, seen: Sequence[_StageOutcome]) -> bool:
        came = self.stage.kind == "source" or any(seen[number].emitted for number in self.stage.ports)
        return came and not (self.stage.is_row_function and not self.outcome)

    def hop(self, seen: Sequence[_StageOutcome]) -> Hop:
        station = self.stage
        count = None if station.continuity is Continuity.REPRESENTATIVE else self.emitted
        given = (seen[number].data for number in station.ports if seen[number].emitted)
        return Hop(
            node=station.node,
            pipeline_id=station.pipeline_id,
            pipeline=station.pipeline,
            outcome=self.outcome,
            cardinality=Cardinality.of(count),
            contributors=self.contributors if self.emitted == 1 else None,
            emissions=count,
            ancestry=tuple(port for port, number in station.ports_in_order if seen[number].emitted),
            retries=self.retries,
            continuity=station.continuity,
            at=station.at,
            input=_first_value(given),
            output=self.data,
        )


def _first_value(values: Any) -> Any:
    return next((value for value in values if value is not None), None)
