"""What capture costs a Spark job: the same write with it and without it, by turns in ONE session.

One session rather than one each: the two then share the warmed-up JVM and its heap, and differ by nothing but capture.
Whoever goes first changes from round to round. What capture still has to do when the job's own call has returned is
waited for and timed apart, so that it neither hides nor falls into the next turn of the other.
"""

from __future__ import annotations

import math
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import headwater as hw
from benchmarks.resources import Meter, Use

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Job = Callable[[], object]


@dataclass(frozen=True)
class Contestant:
    """What is done before its turn, what it still has to do after the job, and what is done after its turn."""

    begin: Callable[[], object] = lambda: None
    settle: Callable[[], object] = lambda: None
    end: Callable[[], object] = lambda: None


@dataclass
class Turns:
    job: list[float] = field(default_factory=list)
    settle: list[float] = field(default_factory=list)
    use: list[Use] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        return statistics.median(self.job)

    @property
    def seconds_settled(self) -> float:
        return statistics.median(job + settle for job, settle in zip(self.job, self.settle, strict=True))


@contextmanager
def session(name: str, settings: Mapping[str, str] | None = None) -> Iterator[SparkSession]:
    from pyspark.sql import SparkSession

    with tempfile.TemporaryDirectory(prefix="headwater-bench-") as folder:
        builder = SparkSession.builder.master("local[2]").appName(name)
        defaults = {
            "spark.driver.memory": "4g",
            "spark.sql.shuffle.partitions": "4",
            "spark.sql.warehouse.dir": f"{folder}/warehouse",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
        }
        for key, value in {**defaults, **(settings or {})}.items():
            builder = builder.config(key, value)
        spark = builder.getOrCreate()
        try:
            yield spark
        finally:
            spark.stop()


def without_and_with(spark: SparkSession, folder: Path) -> dict[str, Contestant]:
    """Capture off, and on with a store in an SQLite file."""

    def on() -> None:
        hw.enable(spark, store=_store(folder), spool=folder / "spool", namespace="bench")

    return {"off": Contestant(), "on": Contestant(on, hw.flush, lambda: hw.disable(spark))}


def refuse_unless_captured(folder: Path, jobs: Iterable[str], turns: int) -> None:
    """A capture that was silently off would look free. Jobs write to a folder of their name."""
    with hw.connect(_store(folder)) as store:
        found = Counter(
            output.dataset.name.rpartition("/")[2]
            for run in store.runs(state="COMPLETE", limit=1_000_000)
            for output in store.run(run.run_id).outputs
        )
    lacking = [f"{job} ({found[job]} of {turns})" for job in jobs if found[job] < turns]
    if lacking:
        raise SystemExit(f"No figures: capture was on, but not every run is in the store: {', '.join(lacking)}")


def _store(folder: Path) -> str:
    return f"sqlite:///{folder}/lineage.db"


def take_turns(
    spark: SparkSession,
    jobs: Mapping[str, Job],
    contestants: Mapping[str, Contestant],
    rounds: int,
    tell: Callable[[str], object],
) -> dict[str, dict[str, Turns]]:
    """By job, then by contestant. The first round of each job warms up and does not count."""
    meter = Meter(spark)
    results: dict[str, dict[str, Turns]] = {}
    for job_name, job in jobs.items():
        results[job_name] = {name: Turns() for name in contestants}
        for number in range(rounds + 1):
            for name in list(contestants)[:: 1 if number % 2 else -1]:
                _take_turn(job, contestants[name], meter, results[job_name][name] if number else Turns())
        tell(f"{job_name}: " + ", ".join(f"{name} {turns.seconds:.3f} s" for name, turns in results[job_name].items()))
    return results


def _take_turn(job: Job, contestant: Contestant, meter: Meter, turns: Turns) -> None:
    contestant.begin()
    try:
        with meter.measure() as use:
            start = time.perf_counter()
            job()
            returned = time.perf_counter()
            contestant.settle()
            settled = time.perf_counter()
    finally:
        contestant.end()
    turns.job.append(returned - start)
    turns.settle.append(settled - returned)
    turns.use.append(use)


def geometric_mean(ratios: Sequence[float]) -> float:
    return math.exp(statistics.fmean(math.log(ratio) for ratio in ratios))
