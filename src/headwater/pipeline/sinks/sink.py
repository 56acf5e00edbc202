"""The protocols of sinks. A sink may implement more than one of them.

A sink lives for one run: it is opened and closed once, even if the run fails or is cancelled. Its errors affect neither
the run nor other sinks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from headwater.model.items import ItemRecord
from headwater.pipeline.run.report import PipelineReport

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True)
class RunInfo:
    run_id: str
    pipeline: str
    pipeline_id: str
    namespace: str
    started: datetime
    partition: str | None = None


@runtime_checkable
class ItemSink(Protocol):
    """Takes records a few at a time."""

    def open(self, run: RunInfo) -> None: ...

    def write(self, records: Sequence[ItemRecord]) -> None: ...

    def close(self) -> None: ...


@runtime_checkable
class FrameSink(Protocol):
    """Takes all records at once, as a frame that Spark writes: its columns are the fields of a record."""

    def open(self, run: RunInfo) -> None: ...

    def write_frame(self, records: DataFrame) -> None: ...

    def close(self) -> None: ...


@runtime_checkable
class PipelineSink(Protocol):
    """Takes the report, at the end of the run."""

    def record(self, report: PipelineReport) -> None: ...


Sink = ItemSink | FrameSink | PipelineSink
