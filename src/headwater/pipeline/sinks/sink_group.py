"""All sinks of a run, isolated from each other: one that fails is dropped, without effect on the run or the others."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from threading import RLock
from types import TracebackType
from typing import TYPE_CHECKING, TypeGuard, TypeVar

from headwater.model.items import ItemRecord
from headwater.pipeline.run.report import PipelineReport
from headwater.pipeline.sinks.sink import FrameSink, ItemSink, PipelineSink, RunInfo, Sink

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_log = logging.getLogger("headwater")
_SinkType = TypeVar("_SinkType", bound=Sink)


class SinkGroup:
    """``with SinkGroup(sinks, run):`` closes all sinks, however the block ends."""

    def __init__(self, sinks: Sequence[Sink], run: RunInfo) -> None:
        self._run = run
        self._working = list(sinks)
        self._open_sinks: list[ItemSink | FrameSink] = []
        self._failures: dict[str, str] = {}
        self._missed_count = 0
        self._mutex = RLock()

    def __enter__(self) -> SinkGroup:
        try:
            for sink in list(self._working):
                if isinstance(sink, ItemSink | FrameSink):
                    self._open_sinks.append(sink)  # a sink whose open() fails half-way must be closed too
                    self._try(sink, lambda opened: opened.open(self._run))
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def wants_records(self) -> bool:
        return any(self._takes_records(sink) for sink in self._working)

    @property
    def wants_frames(self) -> bool:
        return any(isinstance(sink, FrameSink) for sink in self._working)

    @property
    def failures(self) -> dict[str, str]:
        """The sinks that failed, with the reasons."""
        return dict(self._failures)

    @property
    def missed_count(self) -> int:
        """The number of records that failed sinks did not receive."""
        return self._missed_count

    def write(self, records: Sequence[ItemRecord]) -> None:
        """Writes to the sinks that take records; sinks that Spark writes get them by :meth:`write_frame`."""
        with self._mutex:
            for sink in self._open_sinks:
                if not self._takes_records(sink):
                    continue
                if sink not in self._working or not self._try(sink, lambda target: target.write(records)):
                    self._missed_count += len(records)

    def write_frame(self, records: DataFrame) -> None:
        with self._mutex:
            for sink in list(self._working):
                if isinstance(sink, FrameSink):
                    self._try(sink, lambda target: target.write_frame(records))

    def record(self, report: PipelineReport) -> None:
        with self._mutex:
            for sink in list(self._working):
                if isinstance(sink, PipelineSink):
                    self._try(sink, lambda target: target.record(report))

    def close(self) -> None:
        """Closes all sinks, including failed ones, which may still hold a file."""
        with self._mutex:
            opened, self._open_sinks = self._open_sinks, []
            for sink in opened:
                self._try(sink, lambda target: target.close())

    @staticmethod
    def _takes_records(sink: Sink) -> TypeGuard[ItemSink]:
        return isinstance(sink, ItemSink) and not isinstance(sink, FrameSink)

    def _try(self, sink: _SinkType, action: Callable[[_SinkType], None]) -> bool:
        try:
            action(sink)
        except Exception as error:  # any error of a sink is logged and affects no other sink
            if sink in self._working:
                self._working.remove(sink)
                name = f"{type(sink).__name__} {len(self._failures) + 1}"
                self._failures[name] = f"{type(error).__name__}: {error}"
                _log.warning("The sink %s failed and gets nothing more of this run: %s", name, self._failures[name])
            return False
        return True
