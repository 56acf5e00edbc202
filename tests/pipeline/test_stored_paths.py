"""The records of a run's items are read only from their own folder, whatever its manifest says."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headwater.errors import PathNotAllowed, PipelineError
from headwater.pipeline.items.item_log import MANIFEST
from headwater.pipeline.items.stored_records import StoredItems


def rows(folder: Path) -> None:
    folder.mkdir(parents=True)
    table = pa.table({"outcome": [0, 0], "dropped": pa.array([None, None], pa.int32()), "ended": [0, 0]})
    pq.write_table(table, folder / "part-0.parquet")


def items(folder: Path, named: str) -> StoredItems:
    sources = [{"source": "orders", "folder": named, "stations": []}]
    (folder / MANIFEST).write_text(json.dumps({"version": 1, "sources": sources, "options": {}}))
    return StoredItems(folder)


def test_the_folder_of_a_source_must_be_below_the_run(tmp_path: Path) -> None:
    folder, outside = tmp_path / "items", tmp_path / "outside"
    rows(folder / "0")
    rows(outside)
    (folder / "link").symlink_to(outside)
    (folder / "1").mkdir()
    (folder / "1" / "part-0.parquet").symlink_to(outside / "part-0.parquet")
    (folder / "2").mkdir()
    with items(folder, "0") as stored:
        assert sum(stored.counts().values()) == 2
    for named in ("../outside", "link", "1", "2", "3", str(outside), "0/../../outside", "\x00", "') UNION SELECT ('"):
        with items(folder, named) as stored, pytest.raises(PipelineError, match="The records cannot be read: "):
            stored.counts()


def test_records_on_another_machine_are_not_read() -> None:
    with pytest.raises(PathNotAllowed, match="not on this machine"):
        StoredItems("s3://bucket/items")
