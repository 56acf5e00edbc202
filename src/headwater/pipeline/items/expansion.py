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
from headwater.pipeline.items.item_ids import MOST_NAMED
from headwater.pipeline.items.record_shape import dropped, shaped
from headwater.pipeline.items.stages import Station


@dataclass(frozen=True)
class Company:
    """Of a row that many items have made: how many, and some of them by name; ``cut`` says that there are more."""

    contributors: int | None
    items: Sequence[tuple[int, int]]
    cut: bool

    @cached_property
    def names(self) -> list[str]:
        """In their order. Many records ask for them."""
        return sorted(correlation_id(hi, lo) for hi, lo in self.items)


RowId = tuple[int, int]


@dataclass(frozen=True)
class Companies:
    """Of rows, by station."""

    known: Mapping[int, Mapping[RowId, Company]]

    def of(self, row: Mapping[str, Any]) -> dict[int, Company]:
        """Of the rows that an item went into."""
        went = {number: _went_into(row, number) for number in self.known}
        return {
            number: self.known[number][at] for number, at in went.items() if at is not None and at in self.known[number]
        }


def met(
    line: Sequence[Station],
    rows: Sequence[Mapping[str, Any]],
    ask: Callable[[int, Collection[RowId]], Iterable[tuple[RowId, Company]]],
) -> Companies:
    """The company of these items, asked for by its table and the rows that they went into."""
    found = {}
    for station in line:
        if station.company is not None and station.like is None:
            wanted = {at for row in rows if (at := _went_into(row, station.number)) is not None}
            found[station.number] = dict(ask(station.company, wanted)) if wanted else {}
    return Companies(found)


def _went_into(row: Mapping[str, Any], station: int) -> RowId | None:
    hi, lo = row.get(f"g{station}"), row.get(f"h{station}")
    return None if hi is None or lo is None else (hi, lo)


def correlation_id(hi: int, lo: int) -> str:
    return str(UUID(bytes=hi.to_bytes(8, signed=True) + lo.to_bytes(8, signed=True)))


class Expansion:
    """Of the rows of one source."""

    def __init__(self, source: str, line: Sequence[Station], options: LineageOptions) -> None:
        self._source = source
        self._line = line
        self._options = options

    def record(self, row: Mapping[str, Any], companies: Mapping[int, Company]) -> ItemRecord:
        """``companies``: of the rows that the item went into, by station."""
        seen = [_Seen(station, row, companies) for station in self._line]
        came = [each for each in seen if each.arrived(seen)]
        last = seen[row["ended"]]
        outcome = Outcome(row["outcome"])
        names, cut = _names(row, companies) if self._options.contributor_ids else ((), False)
        record = ItemRecord(
            correlation_id=correlation_id(row["hi"], row["lo"]),
            source=self._source,
            key=row["key"],
            path=tuple(each.station.segment for each in came),
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
        told = shaped(record, self._options)
        return dropped(told) if row.get("dropped") else told


def _names(row: Mapping[str, Any], companies: Mapping[int, Company]) -> tuple[tuple[str, ...], bool]:
    """Who was with an item, and whether there are others than those."""
    parts = [sorted(correlation_id(each["hi"], each["lo"]) for each in row.get("others") or ())]
    cut = bool(row.get("unnamed"))
    for number, company in companies.items():
        parts.append(company.names)
        cut = cut or company.cut or bool(company.items and row.get(f"m{number}"))
    told = [part for part in parts if part]
    names = told[0] if len(told) == 1 else sorted({name for part in told for name in part})
    own = correlation_id(row["hi"], row["lo"])
    others = [name for name in names if name != own]
    return tuple(others[:MOST_NAMED]), cut or len(others) > MOST_NAMED


class _Seen:
    """One station, as the row of an item tells of it."""

    def __init__(self, station: Station, row: Mapping[str, Any], companies: Mapping[int, Company]) -> None:
        self.station = station
        self.emitted = sum(row.get(f"e{number}") or 0 for number in station.own)
        self.shown = _first(row.get(f"s{number}") for number in station.own)
        told = [row.get(f"c{number}") for number in station.own]
        told += [companies[number].contributors for number in station.own if number in companies]
        self.contributors = _first(told)
        self.retries, self.error = 0, None
        self.outcome = station.outcome if self.emitted else Outcome.FILTERED_OUT
        if station.calls:
            self.outcome = Outcome(row.get(f"f{station.number}") or 0)
            self.retries, self.error = row.get(f"r{station.number}") or 0, row.get(f"x{station.number}")

    def arrived(self, seen: Sequence[_Seen]) -> bool:
        came = self.station.kind == "source" or any(seen[number].emitted for number in self.station.ports)
        return came and not (self.station.calls and not self.outcome)

    def hop(self, seen: Sequence[_Seen]) -> Hop:
        station = self.station
        count = None if station.continuity is Continuity.REPRESENTATIVE else self.emitted
        given = (seen[number].shown for number in station.ports if seen[number].emitted)
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
            input=_first(given),
            output=self.shown,
        )


def _first(values: Any) -> Any:
    return next((value for value in values if value is not None), None)
