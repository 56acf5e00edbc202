"""Traces and search over hot rows and archive, and the archiving of a single root."""

from __future__ import annotations

import json
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

from headwater.client import Lineage
from headwater.errors import ArchiveMoved, ArchiveUnusable, QueryError, UnknownRoot
from headwater.model.records import DATA_COMPACTION, RootTrace, key_of_id
from headwater.records.archive.archive import ArchiveFile, Compaction
from headwater.records.archive.files import ArchiveStorage, column_digest, content_digest, line_digests, open_filesystem
from headwater.records.archive.single_root import archive_root
from headwater.records.ledger import Records
from headwater.records.query.reading import hot_records_of_root
from headwater.store.records import hot
from headwater.store.records.archive import next_load
from tests.records.conftest import Clock, load_all
from tests.records.oracle import NOON, LoadedRecord, expected, record
from tests.records.test_lineages import ledgers
from tests.records.test_queue import request


def add_hot(records: Records, loaded: list[LoadedRecord]) -> None:
    """Directly into the hot rows, in the order of their loads."""
    with records.database.write() as conn:
        for one in sorted(loaded, key=lambda one: one.load):
            hot.load(conn, [one.record], next_load(conn), 0)


def archive(records: Records, root: str) -> int:
    return archive_root(records.database, records.archive, root, now=records._now, within=lambda conn: None)


def messages(trace: RootTrace) -> dict[str, tuple[list[str], list[str], list[str], list[str]]]:
    for one in trace.traces:
        assert one.lineage[-1].action_taken == DATA_COMPACTION
        assert one.complete == (not one.orphans and not one.cycle)
    return {
        one.record_id: (
            [step.node_id for step in one.lineage[:-1]],
            list(one.orphans),
            list(one.cycle),
            list(one.conflicts),
        )
        for one in trace.traces
    }


@pytest.mark.parametrize("examples", [8, pytest.param(20, marks=pytest.mark.long)])
def test_traces_equal_the_oracles(
    tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path, examples: int
) -> None:
    """All hot, half archived and late, and all archived without hot records: the same answer."""

    @settings(max_examples=examples, deadline=None)
    @given(ledgers())
    def check(loaded: list[LoadedRecord]) -> None:
        check_interleaved(loaded, tmp_path_factory.mktemp("archive"), sqlite_template)

    check()


def check_interleaved(loaded: list[LoadedRecord], folder: Path, template: Path) -> None:
    shutil.copy(template, folder / "store.db")
    with Lineage(f"sqlite:///{folder}/store.db") as lineage:
        records = lineage.records
        ordered = sorted(loaded, key=lambda one: one.load)
        order = [LoadedRecord(one.record, number) for number, one in enumerate(ordered)]
        roots = {one.record.root_id for one in order}
        wanted = {
            root: {
                leaf: (said["lineage"], said["orphans"], said["cycle"], said["conflicts"])
                for (its, leaf), said in expected(order).items()
                if its == root
            }
            for root in roots
        }
        half = len(order) // 2
        add_hot(records, order[:half])
        for root in {one.record.root_id for one in order[:half]}:
            archive(records, root)
        add_hot(records, order[half:])
        assert {root: messages(records.trace(root)) for root in roots} == wanted
        for root in roots:
            archive(records, root)
        assert {root: messages(records.trace(root)) for root in roots} == wanted
        assert records.archive.expire() == len({one.record.digest for one in order})
        assert records.status().hot == 0
        assert {root: messages(records.trace(root)) for root in roots} == wanted
        assert records.status().archived == len({one.record.digest for one in order})


def three(records: Records) -> None:
    records.send(
        [
            {**request("a", action="RAW"), "recordedAt": NOON.timestamp()},
            {**request("b", action="CHECKED"), "parent_id": "a", "recordedAt": NOON.timestamp() + 1},
            {**request("c", action="SPLIT"), "parent_id": "b", "recordedAt": NOON.timestamp() + 86_400},
        ]
    )
    load_all(records)


def test_the_document_of_a_trace(records: Records, tmp_path: Path) -> None:
    three(records)
    answer = records.trace("r").document()
    (trace,) = answer["traces"]
    assert {"record_id": "c", "root_id": "r", "complete": True}.items() <= trace.items()
    assert [(step["node_id"], step["parent_id"], step["action_taken"]) for step in trace["lineage"]] == [
        ("a", "r", "RAW"),
        ("b", "a", "CHECKED"),
        ("c", "b", "SPLIT"),
        ("FINISHED", "c", "DATA_COMPACTION"),
    ]
    assert trace["lineage"][0]["recordedAt"] == int(NOON.timestamp())
    assert trace["lineage"][-1]["storage_location"] == str(tmp_path / "archive")
    assert (answer["orphans"], answer["cycle"], answer["conflicts"], answer["records"]) == ([], [], [], 3)


def test_an_unknown_root_lists_the_closest(records: Records) -> None:
    with pytest.raises(UnknownRoot, match="The store holds no records yet"):
        records.trace("invoice-17")
    records.send([request("n", root=root) for root in ("invoice-18", "parcel-9", "zebra")])
    load_all(records)
    with pytest.raises(UnknownRoot, match=r"'invoice-17' is not known. Closest: invoice-18") as refused:
        records.trace("invoice-17")
    assert refused.value.closest[0] == "invoice-18"
    with pytest.raises(QueryError, match="contains a NUL"):
        records.trace("\0")


def test_the_closest_root_may_be_only_in_the_archive(records: Records, clock: Clock) -> None:
    records.send(request("n", root="invoice-18"))
    load_all(records)
    archive(records, "invoice-18")
    clock.on(25 * 3600)
    assert records.archive.expire() == 1
    with pytest.raises(UnknownRoot, match=r"Closest: invoice-18\."):
        records.trace("invoice-17")


def test_an_archived_root_is_in_files_by_day(records: Records, tmp_path: Path) -> None:
    three(records)
    assert archive(records, "r") == 3
    folder = tmp_path / "archive"
    assert sorted(str(path.parent.relative_to(folder)) for path in folder.rglob("*.parquet")) == [
        "records/day=2026-11-16",
        "records/day=2026-11-17",
        "traces/day=2026-11-17",
    ]
    assert {file.path for file in records.archive.live_files()} == {
        str(path.relative_to(folder)) for path in folder.rglob("*.parquet")
    }
    (traces,) = records.archive.live_files("traces")
    rows = pq.read_table(folder / traces.path, partitioning=None).to_pylist()
    assert [step["action_taken"] for step in rows[0]["lineage"]] == ["RAW", "CHECKED", "SPLIT", "DATA_COMPACTION"]
    days, roots = records.archive.marks()
    assert (days, list(roots)) == ({}, [key_of_id("r")])
    assert archive(records, "r") == 0  # nothing new, and nothing written
    assert len(records.archive.history()) == 1


def test_a_late_record_rebuilds_only_its_root(records: Records, clock: Clock) -> None:
    three(records)
    records.send({**request("x", root="other"), "recordedAt": NOON.timestamp() + 86_400})
    load_all(records)
    archive(records, "r")
    archive(records, "other")
    before = {file.path for file in records.archive.live_files()}
    records.send({**request("late", action="LATE"), "parent_id": "b", "recordedAt": NOON.timestamp()})
    load_all(records)
    assert archive(records, "r") == 1
    assert set(messages(records.trace("r"))) == {"c", "late"}
    assert set(messages(records.trace("other"))) == {"x"}
    after = {file.path for file in records.archive.live_files()}
    assert len(before - after) == 1  # the file with the old trace of r
    assert sum(file.rows for file in records.archive.live_files("records")) == 5
    assert sum(file.rows for file in records.archive.live_files("traces")) == 3
    assert records.archive.remove_stray_files() == 0  # somebody may be reading it
    clock.on(3601)
    assert records.archive.remove_stray_files() == 1
    assert records.archive.remove_stray_files() == 0


def test_json_lines_are_kept_up_to_date(records: Records) -> None:
    three(records)
    archive(records, "r")
    (old,) = records.archive.live_files("traces")
    compaction = records.archive.begin("compaction")
    lines = ['{"record_id":"x","root_id":"other","lineage":[]}', '{"record_id":"c","root_id":"r","lineage":[]}']
    path = compaction.path("jsonl", old.day, 0)
    size = records.archive.storage().write_lines(path, lines)
    digest = content_digest(line_digests(lines))
    there = ArchiveFile(path, "jsonl", old.day, 2, digest, size)
    records.archive.commit(compaction, added=[there], rows=0, digest=b"")
    records.send({**request("late", action="LATE\u2028\n"), "parent_id": "c", "recordedAt": NOON.timestamp() + 86_400})
    load_all(records)
    archive(records, "r")
    files = records.archive.storage()
    messages = [
        json.loads(line) for file in records.archive.live_files("jsonl") for line in files.read_lines(file.path)
    ]
    assert sorted(one["record_id"] for one in messages) == ["late", "x"]
    steps = next(one["lineage"] for one in messages if one["record_id"] == "late")
    assert [step["node_id"] for step in steps] == ["a", "b", "c", "late", "FINISHED"]
    (whole,) = (one for one in messages if one["record_id"] == "late")
    flags = {name: value for name, value in whole.items() if name not in ("record_id", "root_id", "lineage")}
    assert flags == {"orphans": [], "cycle": [], "conflicts": [], "complete": True}
    assert steps[0] == {
        "root_id": "r",
        "parent_id": "r",
        "parent_ids": ["r"],
        "action_taken": "RAW",
        "recordedAt": int(NOON.timestamp()),
        "storage_location": "l",
        "node_id": "a",
    }


def test_only_archived_records_expire_after_their_ttl(records: Records, clock: Clock) -> None:
    three(records)
    clock.on(48 * 3600)
    assert records.archive.expire() == 0
    archive(records, "r")
    records.send({**request("late"), "recordedAt": NOON.timestamp()})
    load_all(records)
    assert records.archive.expire(now=NOON + timedelta(hours=23)) == 0
    assert records.archive.expire(chunk=2) == 3
    assert [one.record.node_id for one in records.find() if not one.archived] == ["late"]
    assert set(messages(records.trace("r"))) == {"c", "late"}
    clock.on(48 * 3600)
    assert records.archive.expire() == 0


def test_only_one_of_two_commits_from_the_same_base_succeeds(records: Records) -> None:
    three(records)
    one, other = records.archive.begin("compaction"), records.archive.begin("compaction")
    assert one.base == other.base
    records.archive.commit(one, added=[], rows=0, digest=b"")
    with pytest.raises(ArchiveMoved):
        records.archive.commit(other, added=[], rows=0, digest=b"")
    with pytest.raises(ArchiveMoved):  # nor the same one twice
        records.archive.commit(one, added=[], rows=0, digest=b"")
    assert records.archive.is_committed(one.id)
    assert not records.archive.is_committed(other.id)
    assert records.archive.head() == one.id


def test_a_refused_commit_starts_over_and_its_files_are_removed(
    records: Records, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Another commit is made between its beginning and its own commit."""
    three(records)
    real = records.archive.commit
    times: list[int] = []

    def commit(*given: object, **more: object) -> None:
        if not times:
            times.append(1)
            real(records.archive.begin("compaction"), added=[], rows=0, digest=b"")
        real(*given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(records.archive, "commit", commit)
    assert archive(records, "r") == 3
    on_disk = {str(path.relative_to(tmp_path / "archive")) for path in (tmp_path / "archive").rglob("*.parquet")}
    assert on_disk == {file.path for file in records.archive.live_files()}
    assert set(messages(records.trace("r"))) == {"c"}


def test_records_are_read_again_after_another_commit(records: Records, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process archives the same root between the reading and the beginning."""
    three(records)
    real, other = records.archive.begin, Records(records.database, archive=records.archive.location, now=records._now)
    times: list[int] = []

    def begin(*given: Any, **more: Any) -> Compaction:
        if not times:
            times.append(archive(other, "r"))
        return real(*given, **more)

    monkeypatch.setattr(records.archive, "begin", begin)
    assert archive(records, "r") == 0
    assert times == [3]
    assert sum(file.rows for file in records.archive.live_files("records")) == 3
    assert sum(file.rows for file in records.archive.live_files("traces")) == 1


def test_a_file_that_does_not_read_back_is_never_committed(records: Records, monkeypatch: pytest.MonkeyPatch) -> None:
    three(records)
    real = ArchiveStorage.write_table

    def torn(self: ArchiveStorage, path: str, table: object) -> int:
        return real(self, path, table.slice(1))  # type: ignore[attr-defined]

    monkeypatch.setattr(ArchiveStorage, "write_table", torn)
    with pytest.raises(ArchiveUnusable, match="does not read back"):
        archive(records, "r")
    assert (records.archive.live_files(), records.archive.head()) == ([], None)
    assert records.archive.expire(now=NOON + timedelta(days=9)) == 0


def test_the_digest_of_a_column_is_that_of_its_parts(records: Records) -> None:
    add_hot(records, [record(f"n{number}") for number in range(50)])
    table = hot_records_of_root(records.database, "r")
    column = table["digest"]
    assert column_digest(column) == content_digest(column.to_pylist())
    parts = [column_digest(column[:7]), column_digest(column[7:31]), column_digest(column[31:])]
    assert column_digest(column) == content_digest(parts)
    assert column_digest(column[:0]) == bytes(16)


def test_search(records: Records, clock: Clock) -> None:
    three(records)
    earlier = {"recordedAt": NOON.timestamp() - 1}
    records.send({**request("x", root="other", action="RAW"), "storage_location": "S3://B/deep/er", **earlier})
    load_all(records)

    def find(**asked: Any) -> list[str]:
        return [one.record.node_id for one in records.find(**asked)]

    for _ in ("hot", "archived as well", "archived alone"):
        assert find() == ["c", "b", "a", "x"]
        assert find(root="r") == ["c", "b", "a"]
        assert find(node="b") == ["b"]
        assert set(find(action="RAW")) == {"a", "x"}
        assert find(action="RAW", root="r") == ["a"]
        assert (find(location="S3://B/"), find(location="s3://B/")) == (["x"], [])
        assert find(since=NOON + timedelta(seconds=1)) == ["c", "b"]
        assert find(limit=1) == ["c"]
        assert find(root="nobody") == []
        archive(records, "r")
        archive(records, "other")
        clock.on(25 * 3600)
        records.archive.expire()
    assert {one.archived for one in records.find()} == {True}


def test_results_show_conflicts(records: Records, clock: Clock) -> None:
    """Both hot, one of them archived, both archived; and the other content need not be part of the result."""
    three(records)
    records.send({**request("x", root="other"), "node_id": "a"})  # of the same name, but another root's
    load_all(records)

    def conflicts(**asked: Any) -> dict[tuple[str, str, str], bool]:
        found = records.find(**asked)
        return {(one.record.root_id, one.record.node_id, one.record.action_taken): one.conflict for one in found}

    assert set(conflicts().values()) == {False}
    archive(records, "r")
    clock.on(25 * 3600)
    records.archive.expire()
    records.send({**request("a", action="AGAIN"), "recordedAt": NOON.timestamp()})
    load_all(records)
    for _ in ("one of them hot", "both archived"):
        expected = {("r", "a", "RAW"): True, ("r", "a", "AGAIN"): True, ("other", "a", "A"): False}
        assert {asked: said for asked, said in conflicts().items() if asked[1] == "a"} == expected
        assert conflicts(action="AGAIN") == {("r", "a", "AGAIN"): True}
        assert conflicts(action="RAW") == {("r", "a", "RAW"): True}
        assert conflicts(node="b") == {("r", "b", "CHECKED"): False}
        archive(records, "r")
        clock.on(25 * 3600)
        records.archive.expire()
    (one,) = records.find(action="AGAIN")
    assert (one.archived, one.document()["conflict"]) == (True, True)


def test_two_hot_contents_without_an_archive(records: Records) -> None:
    records.send([request("n", action="ONE"), request("n", action="TWO"), request("m")])
    load_all(records)
    assert {one.record.node_id: one.conflict for one in records.find()} == {"n": True, "m": False}


def test_the_location_of_the_archive_is_remembered(
    records: Records, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    three(records)
    archive(records, "r")
    elsewhere = Records(records.database)
    assert elsewhere.archive.location == str(tmp_path / "archive")
    assert set(messages(elsewhere.trace("r"))) == {"c"}
    with pytest.raises(ArchiveUnusable, match=r"is at .*archive, not at /elsewhere"):
        elsewhere.at("/elsewhere").trace("r")
    monkeypatch.setenv("HEADWATER_ARCHIVE", "/elsewhere")
    with pytest.raises(ArchiveUnusable, match="not at /elsewhere"):
        Records(records.database).trace("r")


def test_the_default_archive(lineage: Lineage, tmp_path: Path) -> None:
    records = lineage.records
    records.send(request("n"))
    load_all(records)
    assert set(messages(records.trace("r"))) == {"n"}
    if lineage._database.file is not None:
        assert records.archive.location == str(lineage._database.file.parent / "records")
    else:
        with pytest.raises(ArchiveUnusable, match="The location of the archive is not known"):
            archive(records, "r")


def test_a_uri_is_a_location_too(records: Records, tmp_path: Path) -> None:
    three(records)
    there = records.at(f"file://{tmp_path}/by-uri")
    assert archive(there, "r") == 3
    assert list((tmp_path / "by-uri" / "records").rglob("*.parquet"))
    assert set(messages(there.trace("r"))) == {"c"}
    with pytest.raises(ArchiveUnusable, match="The archive cannot be at nowhere://"):
        open_filesystem("nowhere://x")
