"""Commits of others during a compaction: it starts over only if they concern it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater.client import Lineage
from headwater.model.records import Record
from headwater.records.archive import files
from headwater.records.archive.archive import Archive, ArchiveFile
from headwater.records.archive.attempts import CLEARING, COMMITTING
from headwater.records.compaction.archive_attempt import CompactionOptions
from headwater.records.compaction.compaction import compact
from tests.records.oracle import NOON
from tests.records.spark.archive_checks import check_archive, load, stray_files
from tests.records.spark.test_compaction import TOMORROW, chain
from tests.records.spark.test_with_roots import archive_one, late

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

READING = "Reading the records"


class Phases:
    """The phases that a compaction reports, and what others do at each, once."""

    def __init__(self, **others: Callable[[], object]) -> None:
        self.said: list[str] = []
        self._others = others

    def __call__(self, phase: str) -> None:
        self.said.append(phase)
        other = self._others.pop(phase.split(maxsplit=1)[0].lower(), None)
        if other is not None:
            other()


@pytest.mark.parametrize("durable_url", [pytest.param("sqlite", marks=pytest.mark.long), "postgresql"], indirect=True)
def test_commits_of_other_roots_do_not_make_it_start_over(
    durable_url: str, spark: SparkSession, tmp_path: Path
) -> None:
    """Roots of today are traced again and again while yesterday is compacted, and one is rebuilt."""
    ours, before = [record for root in range(6) for record in chain(f"ours-{root}", 4)], chain("before", 3)
    today = [chain(f"today-{number}", 3, day=1) for number in range(4)]
    with Lineage(durable_url) as lineage:
        records = lineage.records.at(str(tmp_path / "archive"))
        load(lineage, before)
        compact(lineage, spark, archive=records.archive.location, now=TOMORROW)
        missing = late(before[0], "late")
        load(lineage, [*ours, missing])
        for root in today:
            load(lineage, root)
        phases = Phases(
            reading=lambda: archive_one(records, "today-0"),
            tracing=lambda: archive_one(records, "today-1"),
            writing=lambda: archive_one(records, "today-2"),
            committing=lambda: archive_one(records, "today-3"),
        )
        done = compact(lineage, spark, now=TOMORROW, options=CompactionOptions(on_progress=phases))
        assert phases.said.count(READING) == 1
        assert phases.said[-2:] == [COMMITTING, CLEARING]
        assert (done.archived, done.rebuilt) == (len(ours) + 1, 1)
        check_archive(lineage, [*ours, *before, missing, *(record for root in today for record in root)])
        assert stray_files(lineage) == []
        kinds = [one.kind for one in records.archive.history()]
        assert kinds == ["compaction", "root", "root", "root", "root", "compaction"]


@pytest.mark.parametrize(
    "when", ["tracing", *(pytest.param(when, marks=pytest.mark.long) for when in ("writing", "committing"))]
)
def test_a_commit_of_one_of_its_roots_makes_it_start_over(
    sqlite_url: str, spark: SparkSession, tmp_path: Path, when: str
) -> None:
    ours = [record for root in range(3) for record in chain(f"ours-{root}", 4)]
    with Lineage(sqlite_url) as lineage:
        records = lineage.records.at(str(tmp_path / "archive"))
        load(lineage, ours)
        phases = Phases(**{when: lambda: archive_one(records, "ours-1")})
        done = compact(
            lineage,
            spark,
            archive=records.archive.location,
            now=TOMORROW,
            options=CompactionOptions(on_progress=phases),
        )
        assert phases.said.count(READING) == 2
        assert (done.read, done.archived) == (8, 8)
        check_archive(lineage, ours)
        assert stray_files(lineage) == []


def test_a_file_that_both_replace_is_replaced_once(sqlite_url: str, spark: SparkSession, tmp_path: Path) -> None:
    """Their traces are in one file: neither may undo the other's replacement."""
    sent = [record for number in range(6) for record in chain(f"root-{number}", 3)]
    with Lineage(sqlite_url) as lineage:
        records = lineage.records.at(str(tmp_path / "archive"))
        load(lineage, sent)
        compact(lineage, spark, archive=records.archive.location, now=TOMORROW)
        largest = max(records.archive.live_files("traces"), key=lambda file: file.rows)
        one, other, *_ = records.archive.storage().read_table(largest.path)["root_id"].to_pylist()
        of_one = Record(one, "late-1", (f"{one}-0",), "LATE", "s3://late", NOON)
        of_other = Record(other, "late-2", (f"{other}-0",), "LATE", "s3://late", TOMORROW)
        load(lineage, [of_one])
        load(lineage, [of_other])
        phases = Phases(committing=lambda: archive_one(records, other))
        compact(lineage, spark, now=TOMORROW, options=CompactionOptions(on_progress=phases))
        assert phases.said.count(READING) == 2
        check_archive(lineage, [*sent, of_one, of_other])
        assert stray_files(lineage) == []


def test_files_are_synced_before_the_commit(
    sqlite_url: str, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: set[str] = set()
    real_sync, real_commit = files.fsync_path, Archive.commit
    committed: list[ArchiveFile] = []

    def sync(path: str) -> None:
        real_sync(path)
        synced.add(path)

    def commit(self: Archive, *told: object, added: list[ArchiveFile], **more: object) -> None:
        committed.extend(added)
        for file in added:
            path = tmp_path / "archive" / file.path
            assert {str(each) for each in (path, *list(path.parents)[:3])} <= synced
        real_commit(self, *told, added=added, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(files, "fsync_path", sync)
    monkeypatch.setattr(Archive, "commit", commit)
    with Lineage(sqlite_url) as lineage:
        load(lineage, chain("root", 3))
        compact(lineage, spark, archive=str(tmp_path / "archive"), now=TOMORROW, options=CompactionOptions(jsonl=True))
    assert {file.kind for file in committed} == {"records", "traces", "jsonl"}
