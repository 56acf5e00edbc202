"""Request files in a landing folder: archived once, however often a batch is started; refused lines become dead
letters."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater.errors import RecordsError
from headwater.model.records import Record, micros_of
from headwater.records.archive.archive import Archive
from headwater.records.compaction.compaction import compact
from headwater.records.compaction.result import CompactionResult
from headwater.records.intake.refused_lines import RefusedLines
from headwater.records.intake.stream import stream
from headwater.records.ledger import Records
from headwater.store.store import Store
from tests.records.oracle import NOON
from tests.records.spark.archive_checks import archived, check_archive, load, stray_files
from tests.records.spark.test_compaction import TOMORROW, chain

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def add_file(folder: Path, name: str, *requests: Any) -> None:
    folder.mkdir(exist_ok=True)
    lines = (each if isinstance(each, str) else json.dumps(each) for each in requests)
    (folder / name).write_text("".join(f"{line}\n" for line in lines))


def request(record: Record) -> dict[str, Any]:
    return {**record.document(), "recordedAt": micros_of(record.recorded_at) / 1_000_000}


def run(store: Store, spark: SparkSession, tmp_path: Path, checkpoint: str = "checkpoint") -> list[CompactionResult]:
    done: list[CompactionResult] = []
    query = stream(
        store,
        spark,
        str(tmp_path / "landing"),
        archive=str(tmp_path / "archive"),
        checkpoint=str(tmp_path / checkpoint),
        on_batch=done.append,
    )
    query.awaitTermination()
    return done


def test_there_is_no_landing_folder(sqlite_url: str, spark: SparkSession, tmp_path: Path) -> None:
    with (
        Store(sqlite_url) as store,
        pytest.raises(RecordsError, match=r"The landing folder cannot be read: .*/landing"),
    ):
        run(store, spark, tmp_path)


def test_files_are_archived_once(sqlite_url: str, spark: SparkSession, tmp_path: Path) -> None:
    landing = tmp_path / "landing"
    first, second = chain("one", 3), chain("two", 2)
    unnamed = {"root_id": "three", "parent_id": "three", "action_taken": "IN", "storage_location": "s3://x"}
    many = {
        **{key: value for key, value in unnamed.items() if key != "storage_location"},
        "records": [{"storage_location": "s3://y"}, {"storage_location": ""}],
    }
    broken = "{not json" + " " * 20_000
    add_file(landing, "a.jsonl", *map(request, first), "", request(first[0]), broken, unnamed, unnamed, many)
    with Store(sqlite_url) as store:
        (done,) = run(store, spark, tmp_path)
        # 4 + 2 of one line, which are two records, + 1; the repeated one is there already; two are refused.
        assert (done.read, done.archived, done.already_there, done.refused) == (9, 6, 1, 2)
        letters = Records(store._database).dead_letters()
        assert sorted(letter.reason for letter in letters)[1].startswith("record 1: storage_location is empty")
        bodies = [dict(letter.body) for letter in letters if isinstance(letter.body, dict)]
        assert len(bodies) == len(letters)
        assert all(body["file"].endswith("a.jsonl") for body in bodies)
        assert {body["line"] for body in bodies} == {broken, json.dumps(many)}  # whole, to be tried again
        ids = sorted(row["node_id"] for row in archived(store).to_pylist() if row["root_id"] == "three")
        assert len(set(ids)) == 3
        assert all(len(id) == 20 for id in ids)
        assert stray_files(store) == []
        facets = store.run(str(done.run_id)).run_facets
        assert facets["cdme.accountingLedger"]["balanced"] is True
        (source,) = facets["cdme.runManifest"]["inputChecksums"].values()
        assert re.fullmatch("sha256-lines:[0-9a-f]{64}", source)

        # Only what is new is read, and it meets what is archived and what comes from the hot table.
        add_file(landing, "b.jsonl", *map(request, second))
        assert [each.archived for each in run(store, spark, tmp_path)] == [2]
        late = Record("two", "late", ("two-0",), "LATE", "s3://late", NOON)
        load(store, [late])
        assert compact(store, spark, now=TOMORROW).rebuilt == 1

        # The checkpoint forgets its last batch, as one does that was killed after the commit: it is not done again.
        files = {file.path for file in Archive(store._database).live_files()}
        for name in ("1", ".1.crc"):
            (tmp_path / "checkpoint" / "commits" / name).unlink()
        assert run(store, spark, tmp_path) == []
        assert {file.path for file in Archive(store._database).live_files()} == files

        # Without its checkpoint it reads all files again, and finds all of it in the archive, under the same ids.
        shutil.rmtree(tmp_path / "checkpoint")
        (again,) = run(store, spark, tmp_path)
        assert (again.read, again.archived, again.already_there, again.refused) == (11, 0, 9, 2)
        three = [
            Record("three", row["node_id"], ("three",), "IN", row["storage_location"], row["recorded_at"])
            for row in archived(store).to_pylist()
            if row["root_id"] == "three"
        ]
        check_archive(store, [*first, *second, late, *three])


def test_dead_letters_are_collected_before_the_store_is_locked(
    sqlite_url: str, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other writers would wait while Spark collects them."""
    order: list[str] = []
    fetch, commit, add = RefusedLines.fetch, Archive.commit, RefusedLines.add

    def fetching(self: RefusedLines, refused: Any) -> None:
        order.append("fetched")
        fetch(self, refused)

    def committing(self: Archive, *told: Any, **more: Any) -> None:
        order.append("commit")
        commit(self, *told, **more)

    def adding(self: RefusedLines, *told: Any) -> None:
        order.append("added")
        add(self, *told)

    monkeypatch.setattr(RefusedLines, "fetch", fetching)
    monkeypatch.setattr(RefusedLines, "add", adding)
    monkeypatch.setattr(Archive, "commit", committing)
    add_file(tmp_path / "landing", "a.jsonl", "{", "[", request(chain("one", 1)[0]))
    with Store(sqlite_url) as store:
        (done,) = run(store, spark, tmp_path)
        assert (done.refused, done.archived, order) == (2, 1, ["fetched", "commit", "added"])
        assert len(Records(store._database).dead_letters()) == 2
