"""Compaction by Spark: the archive is correct and has each record once, also with late, repeated and concurrent
records."""

from __future__ import annotations

import re
import threading
from datetime import date, timedelta
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater.model.records import Record, key_of_id
from headwater.records.archive.archive import Archive
from headwater.records.compaction.archive_attempt import CompactionOptions
from headwater.records.compaction.compaction import compact, expire
from headwater.store.store import Store
from tests.records.oracle import NOON
from tests.records.spark.archive_checks import check_archive, hot_count, load, stray_files
from tests.records.spark.test_building import ledger

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TOMORROW = NOON + timedelta(days=1)
IN_48_HOURS = NOON + timedelta(hours=48)


def one_content_each(seed: int, roots: int) -> list[Record]:
    """One content for each record: conflicts are loaded as such."""
    return list({(one.record.root_id, one.record.node_id): one.record for one in ledger(seed, roots)}.values())


@pytest.mark.parametrize("durable_url", [pytest.param("sqlite", marks=pytest.mark.long), "postgresql"], indirect=True)
def test_past_days_are_archived(durable_url: str, spark: SparkSession, tmp_path: Path) -> None:
    records = one_content_each(1, 60)
    with Store(durable_url) as store:
        load(store, records)
        conflict = Record(records[0].root_id, records[0].node_id, ("elsewhere",), "OTHER", "s3://x", NOON)
        load(store, [conflict])
        options = CompactionOptions(jsonl=True)
        answer = compact(store, spark, archive=str(tmp_path / "archive"), now=TOMORROW, options=options)
        over = [record for record in [*records, conflict] if record.day == NOON.date()]
        assert answer.days == (NOON.date(),)
        assert (answer.read, answer.archived, answer.already_there) == (len(over), len(over), 0)
        check_archive(store, over)
        assert stray_files(store) == []
        run = store.run(str(answer.run_id))
        assert run.run.state == "COMPLETE"
        ledger_facet = run.run_facets["cdme.accountingLedger"]
        assert ledger_facet["balanced"] is True
        assert ledger_facet["inputRecordCount"] == len(over)
        assert store.certificates(run_id=str(answer.run_id))
        manifest = run.run_facets["cdme.runManifest"]
        (read,) = manifest["inputChecksums"].values()
        keyed = sorted((key_of_id(r.root_id), key_of_id(r.node_id), r.digest) for r in over)
        assert read == f"sha256-records:{sha256(b''.join(digest for *_, digest in keyed)).hexdigest()}"
        labelled = [*manifest["outputChecksums"].values(), manifest["codeHash"], manifest["designHash"]]
        assert all(re.fullmatch("sha256[-a-z0-9]*:[0-9a-f]{64}", each) for each in labelled)
        assert len(set(labelled)) == 4
        answer = compact(store, spark, everything=True, now=TOMORROW)
        assert answer.archived == len(records) + 1 - len(over)
        assert answer.rebuilt > 0
        check_archive(store, [*records, conflict])
        assert stray_files(store) == []
        assert compact(store, spark, everything=True, now=TOMORROW).id is None


def chain(root: str, length: int, day: int = 0) -> list[Record]:
    at = NOON + timedelta(days=day)
    parents = [root, *(f"{root}-{place}" for place in range(length))]
    return [
        Record(root, f"{root}-{place}", (parents[place],), "STEP", "s3://b/k", at + timedelta(seconds=place))
        for place in range(length)
    ]


def test_late_and_repeated_records_leave_a_correct_archive(
    sqlite_url: str, spark: SparkSession, tmp_path: Path
) -> None:
    first = [record for root in range(20) for record in chain(f"root-{root}", 3)]
    with Store(sqlite_url) as store:
        archive = Archive(store._database)
        load(store, first)
        compact(store, spark, archive=str(tmp_path / "archive"), now=TOMORROW)
        untouched = {file.path for file in archive.live_files()}
        # The hot rows expire; then the whole batch comes again, with a record for one root, and another root.
        assert expire(store, now=IN_48_HOURS) == len(first)
        late = Record("root-7", "late", ("root-7-1",), "LATE", "s3://late", NOON + timedelta(hours=1))
        other = chain("other", 2)
        load(store, [*first, late, *other])
        answer = compact(store, spark, now=TOMORROW)
        assert (answer.read, answer.archived, answer.already_there) == (len(first) + 3, 3, len(first))
        assert (answer.rebuilt, answer.traces) == (1, 3)
        check_archive(store, [*first, late, *other])
        assert {path for path in untouched if path.startswith("records/")} <= {
            file.path for file in archive.live_files()
        }
        # The same again: nothing is written.
        before = {file.path for file in archive.live_files()}
        expire(store, now=IN_48_HOURS)
        load(store, [*first, late])
        answer = compact(store, spark, now=TOMORROW)
        assert (answer.archived, answer.already_there, answer.traces) == (0, len(first) + 1, 0)
        assert {file.path for file in archive.live_files()} == before
        check_archive(store, [*first, late, *other])


def test_unarchived_records_never_expire(sqlite_url: str, spark: SparkSession, tmp_path: Path) -> None:
    today = NOON + timedelta(days=1)
    yesterday, of_today = chain("old", 4), chain("new", 4, day=1)
    with Store(sqlite_url) as store:
        load(store, [*yesterday, *of_today])
        assert expire(store, now=NOON + timedelta(days=1_000)) == 0
        answer = compact(store, spark, archive=str(tmp_path / "archive"), now=today)
        assert (answer.days, answer.expired) == ((NOON.date(),), 0)
        # What came after the compaction had begun is of the same day, and not archived.
        after = Record("old", "after", ("old-3",), "STEP", "s3://b/k", NOON)
        load(store, [after])
        assert expire(store, now=today + timedelta(hours=48)) == len(yesterday)
        assert hot_count(store) == len(of_today) + 1
        assert compact(store, spark, day=NOON.date(), now=today).archived == 1
        check_archive(store, [*yesterday, after])
        assert compact(store, spark, day=date(2020, 1, 1), now=today).id is None


@pytest.mark.parametrize("durable_url", ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)], indirect=True)
def test_two_concurrent_compactions(durable_url: str, spark: SparkSession, tmp_path: Path) -> None:
    records = [record for root in range(30) for record in chain(f"root-{root}", 4)]
    with Store(durable_url) as store:
        load(store, records)
        answers, faults = [], []
        started = threading.Barrier(2)

        def work(_step: str = "") -> None:
            try:
                with Store(durable_url) as own:
                    # Both have begun from the same archive before either of them writes.
                    meet = iter([started.wait])
                    options = CompactionOptions(on_progress=lambda _: next(meet, int)())
                    answers.append(
                        compact(own, spark, archive=str(tmp_path / "archive"), now=TOMORROW, options=options)
                    )
            except BaseException as fault:
                faults.append(fault)

        both = [threading.Thread(target=work) for _ in range(2)]
        for one in both:
            one.start()
        for one in both:
            one.join()
        assert faults == []
        assert sorted(answer.archived for answer in answers) == [0, len(records)]
        check_archive(store, records)
        assert stray_files(store) == []
        assert [run.state for run in store.runs()] == ["COMPLETE", "COMPLETE"]


def test_a_damaged_file_is_not_committed(
    sqlite_url: str, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file loses its last row between writing and reading back."""
    import pyarrow.parquet as pq

    from headwater.errors import ArchiveUnusable
    from headwater.records.compaction.hadoop_fs import HadoopFolder

    plain = HadoopFolder.rename

    def damaging(self: HadoopFolder, path: str, to: str) -> None:
        plain(self, path, to)
        file = tmp_path / "archive" / to
        table = pq.read_table(file)
        pq.write_table(table.slice(0, table.num_rows - 1), file)

    records = chain("root", 5)
    with Store(sqlite_url) as store:
        load(store, records)
        with monkeypatch.context() as patch:
            patch.setattr(HadoopFolder, "rename", damaging)
            with pytest.raises(ArchiveUnusable, match="Nothing was committed"):
                compact(store, spark, archive=str(tmp_path / "archive"), now=TOMORROW)
        assert Archive(store._database).live_files() == []
        assert expire(store, now=IN_48_HOURS) == 0
        (failed,) = store.runs()
        assert failed.state == "FAIL"
        assert {"configHash", "codeHash", "designHash"} <= {*store.run(failed.run_id).run_facets["cdme.runManifest"]}
        assert len(store.certificates(run_id=failed.run_id)) == 1
        compact(store, spark, archive=str(tmp_path / "archive"), now=TOMORROW)
        check_archive(store, records)
        assert stray_files(store) == []
