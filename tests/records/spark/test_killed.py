"""kill -9 during a compaction or a stream: every record is hot or archived, and in the end each is archived once.

The moment is not random: the process reports its phase, and is killed in the chosen one.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import cycle, islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

import pytest

from headwater.model.records import Record
from headwater.records.archive import attempts
from headwater.records.archive.archive import Archive
from headwater.records.archive.attempts import CLEARING, COMMITTING
from headwater.records.compaction.archive_attempt import CompactionOptions
from headwater.records.compaction.compaction import compact, expire
from headwater.records.compaction.events import CompactionRun
from headwater.records.intake.stream import stream
from headwater.store.store import Store
from tests.conftest import ROOT
from tests.records.spark.archive_checks import archived, check_archive, hot_count, hot_keys, key, load, stray_files
from tests.records.spark.test_compaction import IN_48_HOURS, TOMORROW, chain
from tests.records.spark.test_stream import add_file, request
from tests.support import why_missing
from tests.support.spark_driver import LOCAL

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

READY, COMMITTED, DONE = "ready", "committed", "done"
PHASES = ("Reading the records", "Tracing", "Writing the traces", COMMITTING, COMMITTED, CLEARING)
"""`committed` is between the commit and what is done after it."""


def report(phase: str) -> None:
    print(phase, flush=True)


def report_commit() -> None:
    """And then pause for a moment: nothing else happens between that and the next phase."""
    real = Archive.commit

    def commit(self: Archive, *arguments: object, **options: object) -> None:
        real(self, *arguments, **options)  # type: ignore[arg-type]
        report(COMMITTED)
        time.sleep(0.3)

    Archive.commit = commit  # type: ignore[method-assign]


def drive(url: str, archive: str, landing: str, settings: str) -> None:
    """Compacts whenever a line asks for it, or streams the landing folder, if there is one."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    for setting in settings.split(";"):
        builder = builder.config(*setting.split("=", 1))
    spark = builder.getOrCreate()
    report_commit()
    options = CompactionOptions(on_progress=report)
    with Store(url) as store:
        report(READY)
        for _ in sys.stdin:
            if landing:
                stream(store, spark, landing, archive=archive, options=options).awaitTermination()
            else:
                compact(store, spark, archive=archive, now=TOMORROW, options=options)
            report(DONE)


class Driver:
    """A process that does it, with its own Spark; all of it is killed at the end."""

    def __init__(self, url: str, archive: Path, landing: Path | None = None) -> None:
        settings = ";".join(f"{name}={value}" for name, value in LOCAL.items())
        told = [url, str(archive), "" if landing is None else str(landing), settings]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.records.spark.test_killed", *told],
            cwd=ROOT,
            env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        try:
            assert self.until(READY) == READY
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def begin(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()

    def until(self, phase: str) -> str:
        """Waits until the process reports this phase, or is done; returns which of the two."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.strip() in (phase, DONE):
                return line.strip()
        raise AssertionError(f"It has ended before it came to {phase}.")

    def kill(self) -> None:
        """Kills Python, its JVM and its workers: they are one process group."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for end in (self._process.stdin, self._process.stdout):
            assert end is not None
            end.close()


def kills(phases: tuple[str, ...], count: int) -> Iterator[tuple[int, str, float]]:
    """The number of each kill, its phase, and the delay after the phase has begun."""
    if (reason := why_missing("java")) is not None:
        pytest.skip(f"not run: no Java 17 or 21: {reason}")
    chance = random.Random(count)
    for number, phase in enumerate(islice(cycle(phases), count)):
        yield number, phase, chance.random() * (0.03 if phase in (COMMITTING, COMMITTED) else 0.8)


def rounds(*quick: str) -> pytest.MarkDecorator:
    """Each kill is a Spark of its own: ``quick`` are the phases of a short run. The rest is then done by the Spark
    of the tests, which is another process too."""
    long = pytest.param(PHASES, 60, marks=pytest.mark.long)
    return pytest.mark.parametrize(("phases", "count"), [(quick, len(quick)), long], ids=["quick", "long"])


@rounds(COMMITTING)
def test_every_record_is_archived_once(
    sqlite_url: str, spark: SparkSession, tmp_path: Path, phases: tuple[str, ...], count: int
) -> None:
    archive = tmp_path / "archive"
    records: list[Record] = []
    struck: set[str] = set()
    with Store(sqlite_url) as store:
        for number, phase, after in kills(phases, count):
            records += load_more(store, number)
            with Driver(sqlite_url, archive) as driver:
                driver.begin()
                struck.add(driver.until(phase))
                time.sleep(after)
            check_none_lost(store, archive, records)
        assert struck == set(phases)
        compact(store, spark, archive=str(archive), now=TOMORROW)
        check_end(store, records)


class SimulatedDeath(BaseException):
    """Raised instead of a kill."""


def test_every_phase_may_be_the_last(
    sqlite_url: str, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compaction that does nothing from the beginning of a phase on, as if it was killed there. It needs no Spark
    of its own, so each phase is covered in every run."""
    archive = tmp_path / "archive"
    records: list[Record] = []
    struck: list[str] = []
    with Store(sqlite_url) as store:
        for number, last in enumerate(PHASES):
            records += load_more(store, number)
            with monkeypatch.context() as patch:
                die_at(last, patch, struck)
                options = CompactionOptions(on_progress=dying(last, struck))
                with pytest.raises(SimulatedDeath):
                    compact(store, spark, archive=str(archive), now=TOMORROW, options=options)
            check_none_lost(store, archive, records)
        assert struck == list(PHASES)
        compact(store, spark, archive=str(archive), now=TOMORROW)
        check_end(store, records)


def dying(last: str, struck: list[str]) -> Callable[[str], None]:
    def report(phase: str) -> None:
        if phase == last:
            struck.append(phase)
            raise SimulatedDeath

    return report


def die_at(last: str, patch: pytest.MonkeyPatch, struck: list[str]) -> None:
    """A dead process neither removes its files nor reports a failure; and one phase is not reported."""
    real, report = Archive.commit, dying(last, struck)

    def commit(self: Archive, *arguments: object, **options: object) -> None:
        real(self, *arguments, **options)  # type: ignore[arg-type]
        report(COMMITTED)

    patch.setattr(Archive, "commit", commit)
    patch.setattr(attempts, "_discard", lambda *_: None)
    patch.setattr(CompactionRun, "emit_fail", lambda *_: None)


def load_more(store: Store, number: int) -> list[Record]:
    more = [record for root in range(5) for record in chain(f"{number}-{root}", 4)]
    # A root of before gets a late one, so that files are replaced too.
    more += chain(f"{number - 1}-0", 6)[4:] if number else []
    load(store, more)
    return more


def check_none_lost(store: Store, archive: Path, records: list[Record]) -> None:
    """Not one more and not one less; a record that is both archived and hot is the same record."""
    expire(store, archive=str(archive), now=IN_48_HOURS)
    assert hot_keys(store) | in_archive(store) == {(r.root_id, r.node_id, r.digest) for r in records}


def check_end(store: Store, records: list[Record]) -> None:
    check_archive(store, records)
    assert stray_files(store) == []
    expire(store, now=TOMORROW + timedelta(days=9))
    assert hot_count(store) == 0


@rounds("Writing the traces")
def test_every_line_is_archived_once(
    sqlite_url: str, spark: SparkSession, tmp_path: Path, phases: tuple[str, ...], count: int
) -> None:
    """A killed batch is started again under its id, by another process."""
    archive, landing = tmp_path / "archive", tmp_path / "landing"
    records: list[Record] = []
    struck: set[str] = set()
    with Store(sqlite_url) as store:
        for number, phase, after in kills(phases, count):
            more = [record for root in range(3) for record in chain(f"{number}-{root}", 4)]
            add_file(landing, f"{number}.jsonl", *map(request, more), "{no json")
            records += more
            with Driver(sqlite_url, archive, landing) as driver:
                driver.begin()
                struck.add(driver.until(phase))
                time.sleep(after)
            assert in_archive(store) <= {(r.root_id, r.node_id, r.digest) for r in records}
        assert struck == set(phases)
        stream(store, spark, str(landing), archive=str(archive)).awaitTermination()
        check_archive(store, records)
        assert stray_files(store) == []
        assert len(dead_letters(store)) == count  # a line that was refused is given up once


def in_archive(store: Store) -> set[tuple[str, str, bytes]]:
    return {key(row) for row in archived(store).to_pylist()} if Archive(store._database).exists() else set()


def dead_letters(store: Store) -> list[object]:
    from headwater.records.ledger import Records

    return list(Records(store._database).dead_letters(limit=10_000))


if __name__ == "__main__":
    drive(*sys.argv[1:])
