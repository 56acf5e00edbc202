"""`verify` detects a flip of any stored byte, tested one by one."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterator
from typing import Any

import pytest

from headwater.errors import AuditBroken, EvidenceBroken
from headwater.store.schema.tables import metadata
from headwater.store.store import Store
from tests.assurance.stores import disarm, fill
from tests.support.events import run_event

COVERED = {
    "audit": [column.name for column in metadata.tables["audit"].c],
    "checkpoint": ["size", "note"],
    "certificate": [column.name for column in metadata.tables["certificate"].c],
    # When an event was received is not proven.
    "event": ["id", "digest", "kind", "event_type", "event_time", "body", "run_id", "job_id", "dataset_id"],
}


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One for all tests: each restores it."""
    with Store("memory://") as store:
        fill(store, tmp_path_factory.mktemp("keys") / "key.pem")
        with store._database.write() as conn:
            disarm(conn)
        yield store


def raw(store: Store) -> sqlite3.Connection:
    """The plain connection, without triggers and foreign keys."""
    connection: Any = store._database.engine.raw_connection().driver_connection
    connection.execute("PRAGMA foreign_keys = OFF")
    assert isinstance(connection, sqlite3.Connection)
    return connection


def flipped(value: Any, position: int, bit: int) -> Any:
    """The value with one bit of one byte changed."""
    if isinstance(value, int):
        return value ^ 1 << bit << 8 * position
    data = value.encode() if isinstance(value, str) else value
    return data[:position] + bytes([data[position] ^ 1 << bit]) + data[position + 1 :]


def size_of(value: Any) -> int:
    if value is None:
        return 0
    if isinstance(value, int):
        return max(1, (value.bit_length() + 7) // 8)
    return len(value.encode() if isinstance(value, str) else value)


SHORT = 40  # bytes: of what is no longer, each is flipped in every run
NUMBERED_BY = {"audit": "seq", "checkpoint": "size", "certificate": "seq", "event": "id", "log_tile": "number"}


def flips(connection: sqlite3.Connection, table: str, column: str, step: int = 1) -> Generator[tuple[int, int]]:
    """Flips one bit of a byte, yields the row and the byte's position, restores it. Long values: one byte in
    ``step``."""
    key = NUMBERED_BY[table]
    for row, value in connection.execute(f"SELECT {key}, {column} FROM {table}").fetchall():
        # SQLite would store bytes as bytes; what was text has to stay text, whatever is in it now.
        new = "CAST(? AS TEXT)" if isinstance(value, str) else "?"
        size = size_of(value)
        for position in range(size) if size <= SHORT else range(row % step, size, step):
            for bit in ((position + further) % 8 for further in range(8)):
                changed = flipped(value, position, bit)
                try:
                    connection.execute(f"UPDATE {table} SET {column} = {new} WHERE {key} = {row}", (changed,))
                    break
                except sqlite3.IntegrityError:  # the number of another row
                    continue
            else:
                raise AssertionError((table, column, row, position))
            try:
                yield row, position
            finally:
                where = changed if column == key else row
                connection.execute(f"UPDATE {table} SET {column} = ? WHERE {key} = {where}", (value,))


def assert_flips_are_detected(log: Store, table: str, column: str, step: int = 1) -> None:
    connection = raw(log)
    before = log.verify()
    tried = 0
    for place in flips(connection, table, column, step):
        with pytest.raises((AuditBroken, EvidenceBroken)) as broken:
            log.verify(events=table == "event")
        assert str(broken.value).isprintable(), place
        tried += 1
    assert log.verify() == before
    assert tried or metadata.tables[table].c[column].nullable


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize(("table", "column"), [(table, name) for table in COVERED for name in COVERED[table]])
def test_a_flipped_byte_is_detected(log: Store, table: str, column: str, step: int) -> None:
    assert_flips_are_detected(log, table, column, step)


@pytest.mark.parametrize("column", ["level", "number", "hash"])
def test_a_flipped_byte_of_a_tile_is_detected(one_store: Store, column: str) -> None:
    one_store.ingest_many(run_event("RUNNING", run=str(i)) for i in range(260))
    with one_store._database.write() as conn:
        disarm(conn)
    assert_flips_are_detected(one_store, "log_tile", column)


def test_the_flipped_rows_are_of_every_kind(log: Store) -> None:
    connection = raw(log)
    kinds = {kind for (kind,) in connection.execute("SELECT DISTINCT event_type FROM audit")}
    assert kinds == {"event.ingested", "certificate.issued", "key.adopted", "key.rotated", "checkpoint.signed"}
    counts = {table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in COVERED}
    assert counts == {"audit": 9, "checkpoint": 2, "certificate": 2, "event": 3}


def test_without_events_everything_else_is_verified(log: Store) -> None:
    flipping = flips(raw(log), "event", "body")
    next(flipping)
    assert log.verify(events=False).events is None
    with pytest.raises(EvidenceBroken, match=r"^Event 1"):
        log.verify()
    flipping.close()
    log.verify()
