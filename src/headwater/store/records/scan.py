"""Reads hot records in parallel, wherever a part of them is needed: also on executors, where headwater is missing.

Shipped by value, so nothing here imports anything of headwater but the record schema, which is shipped as well. It
talks to the database through its driver alone: Python's own for SQLite, psycopg for PostgreSQL, which has to be
installed where tasks run.

A scan sees one moment of the table, however long it takes and however many connections it uses: load numbers become
visible in order, so all rows up to one number are there and no row of a later one is read; and a row that is not
archived is never removed.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Protocol

from headwater.model.record_schema import SCANNED, arrow_fields, names_of, spark_schema

if TYPE_CHECKING:
    import pyarrow as pa

    _Row = tuple[Any, ...]
    """The values of the columns that a scan selects, as a driver gives them."""

    class _Cursor(Protocol):
        def execute(self, statement: str, values: Sequence[bytes | int], /) -> object: ...
        def fetchmany(self, count: int, /) -> Sequence[_Row]: ...
        def close(self) -> None: ...


BATCH_ROWS = 50_000
_KEYS = 2**128  # a root's key is 16 bytes of a hash, so that equal ranges hold about equally many roots
_COLUMNS = names_of(SCANNED)
SCHEMA = spark_schema(SCANNED)
"""The Spark schema of a scan's rows."""
_UNARCHIVED = (
    "NOT EXISTS (SELECT 1 FROM record_archived_day a WHERE a.day = h.day AND h.load <= a.upto)"
    " AND NOT EXISTS (SELECT 1 FROM record_archived_root a WHERE a.root_key = h.root_key AND h.load <= a.upto)"
)


@dataclass(frozen=True)  # without slots, as HotScan: both are sent by value
class KeyRange:
    """Roots whose key is at least ``low`` and below ``high``; None is the end."""

    low: bytes
    high: bytes | None


@dataclass(frozen=True)
class HotScan:
    """Rows up to load ``upto`` of these ``days`` (empty: all days) that are not archived; with ``archived_too`` all.

    ``address``: what the driver of that ``database`` takes: a file, or a connection string.
    """

    address: str
    database: str
    upto: int
    days: tuple[int, ...] = ()
    archived_too: bool = False

    def ranges(self, count: int) -> list[KeyRange]:
        """The table divided into ``count`` ranges of root keys."""
        bounds = [(_KEYS * i // count).to_bytes(16, "big") for i in range(1, count)]
        return [KeyRange(low, high) for low, high in zip([b"", *bounds], [*bounds, None], strict=True)]

    def batches(self, part: KeyRange) -> Iterator[pa.RecordBatch]:
        """Arrow batches, ordered by root."""
        with self._cursor() as cursor:
            cursor.execute(*self._statement(part))
            while (batch := _fetch_batch(cursor)) is not None:
                yield batch

    def checksum(self) -> tuple[int, str]:
        """The number of rows and the SHA-256 over their digests in the order of their keys, read without Spark."""
        hashed, count = sha256(), 0
        text, values = self._statement(KeyRange(b"", None), ("digest",), "h.root_key, h.node_key, h.digest")
        with self._cursor() as cursor:
            cursor.execute(text, values)
            while rows := cursor.fetchmany(BATCH_ROWS):
                hashed.update(b"".join(bytes(row[0]) for row in rows))
                count += len(rows)
        return count, hashed.hexdigest()

    def _statement(
        self, part: KeyRange, columns: Sequence[str] = _COLUMNS, order: str = "h.root_key"
    ) -> tuple[str, Sequence[bytes | int]]:
        placeholder = _PLACEHOLDERS[self.database]
        values: list[bytes | int] = [part.low, self.upto]
        conditions = [f"h.root_key >= {placeholder}", f"h.load <= {placeholder}"]
        if part.high is not None:
            conditions.append(f"h.root_key < {placeholder}")
            values.append(part.high)
        if self.days:
            conditions.append(f"h.day IN ({', '.join(map(str, self.days))})")
        if not self.archived_too:
            conditions.append(_UNARCHIVED)
        selected = ", ".join(f"h.{name}" for name in columns)
        return f"SELECT {selected} FROM record_hot h WHERE {' AND '.join(conditions)} ORDER BY {order}", values

    def _cursor(self) -> AbstractContextManager[_Cursor]:
        return _CURSORS[self.database](self.address)


@contextmanager
def _sqlite_cursor(address: str) -> Iterator[_Cursor]:
    import sqlite3
    from urllib.parse import quote

    file = f"file:{quote(address)}?mode=ro"
    with closing(sqlite3.connect(file, uri=True, timeout=60)) as connection, closing(connection.cursor()) as cursor:
        yield cursor


@contextmanager
def _postgresql_cursor(address: str) -> Iterator[_Cursor]:
    """A named one: the rows then stay on the server until they are fetched."""
    try:
        import psycopg
    except ImportError:
        raise RuntimeError(
            "Python on this executor has no psycopg, which reads the store in PostgreSQL: "
            "install psycopg[binary] wherever Spark tasks run."
        ) from None
    with closing(psycopg.connect(address)) as connection, closing(connection.cursor("headwater_scan")) as cursor:
        yield cursor


_CURSORS = {"sqlite": _sqlite_cursor, "postgresql": _postgresql_cursor}
_PLACEHOLDERS = {"sqlite": "?", "postgresql": "%s"}


def _fetch_batch(cursor: _Cursor) -> pa.RecordBatch | None:
    """The next batch. Garbage collection is off meanwhile: this many new objects trigger it, and it frees nothing."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        rows = cursor.fetchmany(BATCH_ROWS)
        return as_batch(rows) if rows else None
    finally:
        if was_on:
            gc.enable()


def _string_lists(texts: Sequence[str]) -> pa.Array:
    """Lists of strings from their JSON. Where the JSON has no escapes, `","` occurs only between two strings."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if any("\\" in text for text in texts):
        return pa.array(json.loads(f"[{','.join(texts)}]"), pa.list_(pa.string()))
    inner = pc.utf8_slice_codeunits(pa.array(texts, pa.string()), 2, -2)
    return pc.split_pattern(inner, '","')


def as_batch(rows: Sequence[_Row]) -> pa.RecordBatch:
    import pyarrow as pa

    columns = []
    for field, arrow_field, values in zip(SCANNED, arrow_fields(SCANNED), zip(*rows, strict=True), strict=True):
        if field.kind == "texts":
            columns.append(_string_lists(values))
        elif field.kind == "timestamp":
            columns.append(pa.array(values, pa.int64()).cast(arrow_field.type))
        else:
            columns.append(pa.array(values, arrow_field.type))
    return pa.RecordBatch.from_arrays(columns, list(_COLUMNS))
