"""Attempts at the archive: files of killed ones are removed, running ones keep theirs, abandoned ones cannot commit."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.errors import ArchiveMoved
from headwater.records.archive.archive import LEASE_DURATION, ArchiveFile, Compaction
from headwater.records.archive.files import ArchiveStorage, column_digest, keys_of_file
from headwater.records.archive.leases import lease_renewal
from headwater.records.ledger import Records
from headwater.records.query.reading import records_of_root
from headwater.store.records.attempts import open_attempts
from tests.records.conftest import Clock, load_all
from tests.records.oracle import NOON
from tests.records.test_queue import request

OVER = LEASE_DURATION.total_seconds() + 1


def write(records: Records, compaction: Compaction, part: int = 0) -> ArchiveFile:
    """A file of records, and a file that is needed while the attempt runs."""
    records.send({**request("n"), "recordedAt": NOON.timestamp()})
    load_all(records)
    rows = records_of_root(records.database, records.archive, "r").slice(0, 1)
    files: ArchiveStorage = records.archive.storage()
    files.write_lines(f"{compaction.folder}/scratch/{part}", ["…"])
    path = compaction.path("records", NOON.date(), part)
    size = files.write_table(path, rows)
    digest = column_digest(rows["digest"])
    return ArchiveFile(path, "records", NOON.date(), 1, digest, size, keys_of_file(["r"], ["n"]))


def on_disk(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_two_attempts_of_one_id_leave_the_files_of_one(records: Records, clock: Clock, tmp_path: Path) -> None:
    """A killed batch of a stream is started again under its id."""
    archive, folder = records.archive, tmp_path / "archive"
    killed = archive.begin("stream", id="batch")
    first = write(records, killed)
    again = archive.begin("stream", id="batch")
    second = write(records, again)
    assert first.path != second.path
    archive.commit(again, added=[second], rows=1, digest=second.digest)
    assert archive.remove_stray_files() == 0  # nobody knows yet that the first is dead
    clock.on(OVER)
    assert archive.remove_stray_files() == 1
    assert on_disk(folder) == {second.path}
    assert not (folder / "_work" / "batch").exists()
    assert archive.remove_stray_files() == 0


def test_files_of_older_versions_are_removed_with_the_next(records: Records, clock: Clock, tmp_path: Path) -> None:
    """Files whose id was committed, but which no commit names: streams left these when attempts had no names."""
    archive, folder = records.archive, tmp_path / "archive"
    begun = archive.begin("stream", id="batch")
    held = write(records, begun)
    archive.commit(begun, added=[held], rows=1, digest=held.digest, leaves_work=True)  # and is killed
    archive.storage().write_lines("records/day=2026-11-16/batch-1f-0.parquet", ["torn"])
    write(records, archive.begin("compaction"))
    clock.on(OVER)
    assert archive.remove_stray_files() == 2
    assert on_disk(folder) == {held.path}


def test_a_running_attempt_keeps_its_files(records: Records, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headwater.records.archive.leases._INTERVAL", 0.01)
    slow = records.archive.begin("compaction")
    with lease_renewal(records.archive, slow):
        file = write(records, slow)
        clock.on(OVER)
        while not said(records, slow) > clock.now:
            pass
        other = records.archive.begin("root")
        records.archive.commit(other, added=[], rows=0, digest=b"")
        assert records.archive.remove_stray_files() == 0
    since = records.archive.later_commits(slow)
    assert since is not None
    assert (since.head, since.added, since.removed) == (other.id, (), frozenset())
    with pytest.raises(ArchiveMoved):
        records.archive.commit(slow, added=[file], rows=1, digest=file.digest)
    records.archive.commit(records.archive.rebase(slow, since), added=[file], rows=1, digest=file.digest)
    assert [one.path for one in records.archive.live_files()] == [file.path]


def said(records: Records, compaction: Compaction) -> int:
    from sqlalchemy import select

    from headwater.store.schema.record_tables import record_attempt

    with records.database.read() as conn:
        return conn.scalar(select(record_attempt.c.until).where(record_attempt.c.name == compaction.name)) or 0


def test_an_abandoned_attempt_cannot_commit(records: Records, clock: Clock, tmp_path: Path) -> None:
    """Even if it was only slow, and there was no other commit: its files may be gone."""
    slow = records.archive.begin("compaction")
    file = write(records, slow)
    clock.on(OVER)
    assert records.archive.remove_stray_files() == 1
    with pytest.raises(ArchiveMoved):
        records.archive.commit(slow, added=[file], rows=1, digest=file.digest)
    assert records.archive.later_commits(slow) is None
    # What it writes on is removed too.
    write(records, slow, part=1)
    assert records.archive.remove_stray_files() == 1
    clock.on(3 * 24 * 3600)
    records.archive.remove_stray_files()
    with records.database.read() as conn:
        assert open_attempts(conn) == {}
    assert records.archive.remove_stray_files() == 0
    assert on_disk(tmp_path / "archive") == set()
