"""Stores of versions without records, and of versions without key filters in the archive."""

from __future__ import annotations

from pathlib import Path

from headwater.client import Lineage
from headwater.records.archive.files import ArchiveStorage
from headwater.store.engine.database import Database
from headwater.store.schema.migrations import HEAD
from headwater.store.schema.upgrade import upgrade
from tests.records.conftest import load_all
from tests.records.test_queue import request
from tests.records.test_tracing import archive
from tests.support.events import run_event
from tests.support.versions import take_back


def test_a_store_with_data_accepts_records_after_the_upgrade(durable_url: str) -> None:
    with Lineage(durable_url) as lineage:
        lineage.ingest(run_event(inputs=["a"], outputs=["b"]))
        take_back(lineage, "0002")
    database = Database(durable_url)
    assert upgrade(database) == ("0002", HEAD)
    database.close()
    with Lineage(durable_url, create=False) as lineage:
        assert [node.endpoint.name for node in lineage.upstream("b").nodes] == ["a"]
        assert lineage.verify().entries == 1
        lineage.records.send([request("n"), request("m")])
        assert load_all(lineage.records) == 2
        assert len(lineage.records.trace("r").traces) == 2


def test_an_older_archive_is_readable_and_its_stray_files_are_removed(durable_url: str, tmp_path: Path) -> None:
    """Its files have no key filters, and an attempt of that time has only its id."""
    with Lineage(durable_url) as lineage:
        records = lineage.records.at(str(tmp_path / "archive"))
        records.send([request("n"), request("m", root="other")])
        load_all(records)
        archive(records, "r")
        killed = records.archive.begin("compaction")
        take_back(lineage, "0004")
    files = ArchiveStorage(str(tmp_path / "archive"))
    files.write_lines(f"records/day=2026-11-16/{killed.id}-0.parquet", ["torn"])
    files.write_lines(f"_work/{killed.id}/1f2e/0", ["…"])
    database = Database(durable_url)
    assert upgrade(database) == ("0004", HEAD)
    database.close()
    with Lineage(durable_url, create=False) as lineage:
        records = lineage.records.at(str(tmp_path / "archive"))
        assert [step.node_id for step in records.trace("r").records] == ["n"]
        assert [one.archived for one in records.find(node="n")] == [False]
        assert archive(records, "other") == 1  # and removes what was left
        on_disk = files.list_files(["records", "traces", "_work"])
        assert sorted(on_disk) == sorted(file.path for file in records.archive.live_files())
