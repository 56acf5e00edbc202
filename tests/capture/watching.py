"""A capture under test: a script runs on real Spark, and what was told of it is read from the file it was sent to."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import headwater as hw
from headwater.capture.listener import session
from headwater.capture.naming.jobs import JobNames
from tests.capture.telling import EventLines, Json, Run, runs_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

APPLICATION = "app"


class Watch:
    """The capture of a session, and the events it has told so far."""

    def __init__(self, spark: SparkSession, file: Path) -> None:
        self.spark = spark
        self._file = file
        self._read = 0
        self.all_events: list[Json] = []

    def new_events(self) -> list[Json]:
        """What was told since the last time, without a fault of ours on the way."""
        assert hw.flush(60)
        content = self._file.read_bytes()[self._read :] if self._file.exists() else b""
        self._read += len(content)
        (capture,) = session.active()
        assert capture.status()["faults"] == 0, "a fault was logged while events were made"
        events = [json.loads(line) for line in content.splitlines()]
        self.all_events += events
        return events

    def forget(self) -> None:
        """As if nothing had been written yet: else the names of jobs, and which views are told of, would depend on the
        tests before."""
        (capture,) = session.active()
        capture._bridge.forget_driver_reads()
        capture._observer._views.clear()
        capture._observer._names = JobNames(APPLICATION)

    def new_runs(self) -> list[Run]:
        return runs_of(self.new_events(), APPLICATION)

    def lines(
        self, events: list[Json], here: Path, shop: Path, more: Mapping[str, str] = MappingProxyType({})
    ) -> list[str]:
        """The events in words. Names in the case's folder go without it, those in the catalog begin with `catalog:`."""
        warehouse = str(self.spark.conf.get("spark.sql.warehouse.dir")).removeprefix("file:")
        short = {f"file{here}/": "", f"{here}/": "", f"{here.name}/": "", f"file{shop}": "shop", f"{shop}": "shop"}
        return EventLines(APPLICATION, {**short, **more, f"file:{warehouse}/": "catalog:"}).lines(events)


@contextmanager
def watched(spark: SparkSession, folder: Path) -> Iterator[Watch]:
    file = folder / "events.jsonl"
    hw.enable(spark, sink=file.as_uri(), namespace="tests", job=APPLICATION, spool=folder / "spool")
    assert len(session.active()) == 1, "the capture could not be switched on"
    try:
        watch = Watch(spark, file)
        watch.new_events()
        yield watch
    finally:
        hw.disable(spark)
