"""Hot records read in parallel, from wherever a part of them is wanted: also on executors, which have no headwater.

Shipped by value, so nothing here imports anything of ours, and the database is spoken to by its driver alone: Python's
own for SQLite, psycopg for PostgreSQL, which has to be installed where tasks run.

A scan is one moment of the table, however long it takes and on however many connections: numbers of loads become
visible in their order, so all rows up to one number are there or none of a later one are asked for; and a row that is
not archived is never removed.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

BATCH_ROWS = 50_000
_KEYS = 2**128  # a root's key is 16 bytes of a hash, so that equal ranges hold about equally many roots
_COLUMNS = (
    "root_id",
    "node_id",
    "parent_ids",
    "action_taken",
    "storage_location",
    "recorded_at",
    "digest",
    "day",
    "load",
)
SCHEMA = (
    "root_id string, node_id string, parent_ids array<string>, action_taken string, storage_location string, "
    "recorded_at timestamp, digest binary, day int, load bigint"
)
"""What a scan gives, in Spark's words."""
_FRESH = (
    "NOT EXISTS (SELECT 1 FROM record_archived_day a WHERE a.day = h.day AND h.load <= a.upto)"
    " AND NOT EXISTS (SELECT 1 FROM record_archived_root a WHERE a.root_key = h.root_key AND h.load <= a.upto)"
)


@dataclass(frozen=True)  # without slots, as Scan: both are sent by value
class KeyRange:
    """Roots whose key is at least ``low`` and below ``high``; None is the end."""

    low: bytes
    high: bytes | None


@dataclass(frozen=True)
class HotScan:
    """Rows up to load ``upto``: of these days, unless none is named; and unless told those that are not archived.

    ``address``: the file of SQLite, or what libpq takes for PostgreSQL.
    """

    address: str
    is_sqlite: bool
    upto: int
    days: tuple[int, ...] = ()
    archived_too: bool = False

    def ranges(self, count: int) -> list[KeyRange]:
        """The table cut into so many parts."""
        ends = [(_KEYS * i // count).to_bytes(16, "big") for i in range(1, count)]
        return [KeyRange(low, high) for low, high in zip([b"", *ends], [*ends, None], strict=True)]

    def batches(self, part: KeyRange) -> Iterator[Any]:
        """Arrow batches, ordered by root."""
        with closing(self._connect()) as connection, closing(self._cursor(connection)) as cursor:
            cursor.execute(*self._statement(part))
            while (batch := _fetched(cursor)) is not None:
                yield batch

    def checksum(self) -> tuple[int, str]:
        """Of all its rows, without Spark: how many, and the SHA-256 over their digests in the order of their keys."""
        hashed, rows = sha256(), 0
        text, values = self._statement(KeyRange(b"", None), ("digest",), "h.root_key, h.node_key, h.digest")
        with closing(self._connect()) as connection, closing(self._cursor(connection)) as cursor:
            cursor.execute(text, values)
            while some := cursor.fetchmany(BATCH_ROWS):
                hashed.update(b"".join(bytes(row[0]) for row in some))
                rows += len(some)
        return rows, hashed.hexdigest()

    def _statement(
        self, part: KeyRange, names: Sequence[str] = _COLUMNS, order: str = "h.root_key"
    ) -> tuple[str, Sequence[Any]]:
        mark = "?" if self.is_sqlite else "%s"
        values: list[Any] = [part.low, self.upto]
        conditions = [f"h.root_key >= {mark}", f"h.load <= {mark}"]
        if part.high is not None:
            conditions.append(f"h.root_key < {mark}")
            values.append(part.high)
        if self.days:
            conditions.append(f"h.day IN ({', '.join(map(str, self.days))})")
        if not self.archived_too:
            conditions.append(_FRESH)
        columns = ", ".join(f"h.{name}" for name in names)
        return f"SELECT {columns} FROM record_hot h WHERE {' AND '.join(conditions)} ORDER BY {order}", values

    def _connect(self) -> Any:
        if self.is_sqlite:
            import sqlite3
            from urllib.parse import quote

            return sqlite3.connect(f"file:{quote(self.address)}?mode=ro", uri=True, timeout=60)
        try:
            import psycopg
        except ImportError:
            raise RuntimeError(
                "Python on this executor has no psycopg, by which it would read the store in PostgreSQL: "
                "install psycopg[binary] wherever tasks of Spark run."
            ) from None
        return psycopg.connect(self.address)

    def _cursor(self, connection: Any) -> Any:
        """On PostgreSQL one with a name: the rows then stay with the server until they are fetched."""
        return connection.cursor() if self.is_sqlite else connection.cursor("headwater_scan")


def _fetched(cursor: Any) -> Any:
    """The next batch. Python looks for cycles once in so many new objects, and would find none in these rows."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        rows = cursor.fetchmany(BATCH_ROWS)
        return as_batch(rows) if rows else None
    finally:
        if was_on:
            gc.enable()


def _lists(texts: Sequence[str]) -> Any:
    """Lists of strings, of their JSON. Where nothing in it is escaped, what parts two strings parts nothing else."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if any("\\" in text for text in texts):
        return pa.array(json.loads(f"[{','.join(texts)}]"), pa.list_(pa.string()))
    inner = pc.utf8_slice_codeunits(pa.array(texts, pa.string()), 2, -2)
    return pc.split_pattern(inner, '","')


def as_batch(rows: Sequence[tuple[Any, ...]]) -> Any:
    import pyarrow as pa

    root_id, node_id, parents, action, location, recorded_at, digest, day, load = zip(*rows, strict=True)
    text, number = pa.string(), pa.int64()
    columns = [
        pa.array(root_id, text),
        pa.array(node_id, text),
        _lists(parents),
        pa.array(action, text),
        pa.array(location, text),
        pa.array(recorded_at, number).cast(pa.timestamp("us", "UTC")),
        pa.array(digest, pa.binary()),
        pa.array(day, pa.int32()),
        pa.array(load, number),
    ]
    return pa.RecordBatch.from_arrays(columns, list(_COLUMNS))
