"""The content of a store's ledger, read without Spark: hot rows, files of the archive, and checks of both."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa

from headwater.model.records import Record, key_of_id, micros_of
from headwater.records.archive.archive import LEASE_DURATION, RECORDS, TRACES, Archive
from headwater.records.archive.files import column_digest, content_digest, trace_digests
from headwater.store.records import hot
from headwater.store.records.archive import next_load
from headwater.store.store import Store
from tests.records.oracle import LoadedRecord, expected

Key = tuple[str, str, bytes]


def load(store: Store, records: Iterable[Record], *, expires: datetime | None = None) -> None:
    """Makes records hot, as a worker does."""
    records = list(records)
    with store._database.write() as conn:
        moment = expires or max(record.recorded_at for record in records) + timedelta(hours=24)
        refused = hot.load(conn, records, next_load(conn), micros_of(moment))
    assert refused == {}


def archived(store: Store, kind: str = RECORDS) -> pa.Table:
    """All current files of a kind, each of which must match the store's list."""
    archive = Archive(store._database)
    files, tables = archive.storage(), []
    for file in archive.live_files(kind):
        table = files.read_table(file.path)
        digests = column_digest(table["digest"]) if kind == RECORDS else content_digest(trace_digests(table))
        assert (table.num_rows, digests) == (file.rows, file.digest), file.path
        assert files.size(file.path) == file.bytes
        for root in set(table["root_id"].to_pylist()):
            assert file in archive.live_files(kind, root_key=key_of_id(root))
        table = table.append_column("day", pa.array([file.day] * table.num_rows, pa.date32()))
        tables.append(table.cast(pa.schema(field.with_nullable(True) for field in table.schema)))
    return pa.concat_tables(tables) if tables else pa.table({})


def check_archive(store: Store, records: Iterable[Record], loads: Iterable[int] | None = None) -> None:
    """The archive contains exactly these records, each once, and the correct trace of every leaf."""
    wanted = list(records)
    rows = archived(store).to_pylist()
    assert Counter(key(row) for row in rows) == Counter((r.root_id, r.node_id, r.digest) for r in wanted)
    by_key = {(r.root_id, r.node_id, r.digest): r for r in wanted}
    for row in rows:
        record = by_key[key(row)]
        assert row["parent_ids"] == list(record.parent_ids)
        assert (row["action_taken"], row["storage_location"]) == (record.action_taken, record.storage_location)
        assert row["recorded_at"] == record.recorded_at
        assert row["recordedAt"] == micros_of(record.recorded_at) // 1_000_000
        assert row["day"] == record.day
    traces = archived(store, TRACES).to_pylist()
    found = {(row["root_id"], row["record_id"]): row for row in traces}
    assert len(found) == len(traces)
    right = expected(LoadedRecord(by_key[key(row)], row["load"]) for row in rows)
    assert found.keys() == right.keys()
    for leaf, row in found.items():
        assert [step["node_id"] for step in row["lineage"][:-1]] == right[leaf]["lineage"]
        assert all(row[name] == right[leaf][name] for name in ("orphans", "cycle", "conflicts"))
        assert row["lineage"][-1]["action_taken"] == "DATA_COMPACTION"


def key(row: dict[str, Any]) -> Key:
    return row["root_id"], row["node_id"], row["digest"]


def hot_count(store: Store) -> int:
    with store._database.read() as conn:
        return len(hot.find(conn, hot.RecordFilter(), 10_000_000))


def hot_keys(store: Store) -> set[Key]:
    with store._database.read() as conn:
        rows = hot.find(conn, hot.RecordFilter(), 10_000_000)
    return {(row["root_id"], row["node_id"], bytes(row["digest"])) for row in rows}


def stray_files(store: Store) -> list[str]:
    """Files at the archive's location that are not part of it, when no process can be writing or reading old files."""
    archive = Archive(
        store._database, now=lambda: time.time_ns() // 1000 + 2 * (LEASE_DURATION // timedelta(microseconds=1))
    )
    archive.remove_stray_files(grace=timedelta(0))
    live = {file.path for file in archive.live_files()}
    return sorted(set(archive.storage().list_files(["records", "traces", "jsonl", "_work"])) - live)
