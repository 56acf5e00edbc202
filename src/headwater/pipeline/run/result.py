"""The result of a run: its report, and queries about its items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.errors import PipelineError
from headwater.model.items import Hop, ItemRecord, Reason
from headwater.pipeline.items.collector import Collector
from headwater.pipeline.items.item_log import ItemLog
from headwater.pipeline.run.report import PipelineReport

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Result:
    """``items`` is a frame of the terminal records. It needs the session."""

    def __init__(
        self,
        report: PipelineReport,
        collector: Collector,
        item_log: ItemLog | None,
        counts: dict[Reason, int],
        entered_ids: DataFrame | None = None,
        fault: str | None = None,
    ) -> None:
        """``entered_ids`` are the ids of all items that entered. ``fault``: why there is no account of them."""
        self.report = report
        self.counts = counts
        """The number of items by reason."""
        self._collector = collector
        self._item_log = item_log
        self._entered_ids = entered_ids
        self._fault = fault

    @property
    def run_id(self) -> str:
        return self.report.run_id

    @property
    def items(self) -> DataFrame:
        if self._item_log is None:
            if self._fault is not None:
                raise PipelineError(f"The items of run {self.run_id} could not be accounted for: {self._fault}")
            raise PipelineError(f"Run {self.run_id} followed no items: its lineage options say so.")
        return self._item_log.records

    def record(self, correlation_id: str) -> ItemRecord | None:
        """An item's record; None if the run has no such item, or did not follow it."""
        record = next(
            (candidate for candidate in self._collector.records if candidate.correlation_id == correlation_id), None
        )
        if record is not None or self._item_log is None:
            return record
        return self._item_log.record(correlation_id)

    def history(self, correlation_id: str) -> tuple[Hop, ...]:
        """The hops of an item, in order."""
        record = self.record(correlation_id)
        return () if record is None else record.hops

    def terminal_reason(self, correlation_id: str) -> Reason | None:
        record = self.record(correlation_id)
        return None if record is None else record.reason

    def unresolved(self) -> tuple[str, ...]:
        """Items of the sources that have no record: none, unless records were dropped."""
        if self._item_log is None or self._entered_ids is None:
            return ()
        lost = self._entered_ids.join(self.items.select("correlation_id"), "correlation_id", "left_anti")
        return tuple(sorted(row["correlation_id"] for row in lost.select("correlation_id").collect()))

    def __repr__(self) -> str:
        counts = ", ".join(f"{reason}: {count:,}" for reason, count in self.counts.items())
        return f"Result({self.report.pipeline!r}, {self.report.state}, run_id={self.run_id!r}, {counts or 'no items'})"
