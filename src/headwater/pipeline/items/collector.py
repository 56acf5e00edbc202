"""The records of one run in memory, no more of them than the options allow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from threading import Lock

from headwater.model.items import Hop, ItemRecord, Reason
from headwater.pipeline.declare.options import LineageOptions
from headwater.pipeline.items.record_shape import drop_record, shape_record

Spill = Callable[[Sequence[ItemRecord]], None]


class Collector:
    """Thread-safe. ``spill`` receives the records beyond the cap, if the options say so."""

    def __init__(self, options: LineageOptions, spill: Spill | None = None) -> None:
        self._options = options
        self._spill = spill
        self._records: dict[str, ItemRecord] = {}
        self._counts: Counter[Reason] = Counter()
        self._passed_on = 0
        self._dropped = 0
        self._mutex = Lock()

    def record(self, records: Iterable[ItemRecord], *, as_they_are: bool = False) -> None:
        """Of two records for one item, which no run should write, the one with the stronger reason stays.
        ``as_they_are``: the records are shaped already."""
        shaped_records = records if as_they_are else (shape_record(record, self._options) for record in records)
        with self._mutex:
            spilled = [overflow for record in shaped_records if (overflow := self._store(record)) is not None]
        if spilled and self._spill is not None:
            self._spill(spilled)

    def _store(self, record: ItemRecord) -> ItemRecord | None:
        """Stores the record, or returns it if it is to be spilled."""
        previous = self._records.get(record.correlation_id)
        if previous is not None:
            if record.reason.rank < previous.reason.rank:
                self._counts[previous.reason] -= 1
                self._counts[record.reason] += 1
                self._records[record.correlation_id] = record
            return None
        has_room = self._options.overflow == "materialize" or len(self._records) < self._options.materialization_cap
        if has_room:
            self._counts[record.reason] += 1
            self._records[record.correlation_id] = record
            return None
        if self._options.overflow == "degrade":
            self._counts[record.reason] += 1
            self._passed_on += 1
            return record
        self._dropped += 1
        dropped_record = drop_record(record)
        self._counts[dropped_record.reason] += 1
        return dropped_record if self._options.drop_records else None

    @property
    def records(self) -> tuple[ItemRecord, ...]:
        """The records in memory, in the order of their arrival."""
        with self._mutex:
            return tuple(self._records.values())

    @property
    def counts(self) -> dict[Reason, int]:
        """Counts of all records, including those passed on or dropped."""
        with self._mutex:
            return {reason: self._counts[reason] for reason in Reason if self._counts[reason]}

    @property
    def passed_on_count(self) -> int:
        return self._passed_on

    @property
    def dropped_count(self) -> int:
        return self._dropped

    def history(self, correlation_id: str) -> tuple[Hop, ...]:
        """The item's hops; none if its record is not in memory."""
        record = self._records.get(correlation_id)
        return () if record is None else record.hops

    def terminal_reason(self, correlation_id: str) -> Reason | None:
        record = self._records.get(correlation_id)
        return None if record is None else record.reason

    def clear(self) -> None:
        with self._mutex:
            self._records.clear()
            self._counts.clear()
            self._passed_on = self._dropped = 0
