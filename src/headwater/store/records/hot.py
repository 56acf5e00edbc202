"""The hot records: loaded by batches, found by root, by node, and by what is said of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii
from typing import Any

from sqlalchemy import Connection, RowMapping, Select, Text, func, select, type_coerce
from sqlalchemy.exc import DBAPIError, OperationalError

from headwater.model.records import Record, key_of_id
from headwater.store.records.archive import upsert
from headwater.store.records.evidence import leaf, write_load
from headwater.store.schema.record_tables import record_hot
from headwater.store.schema.tables import from_micros, to_micros

_DAY = 86_400_000_000
_AT_ONCE = 500
_COLUMNS = [column.name for column in record_hot.columns]


@dataclass(frozen=True, slots=True)
class RecordFilter:
    """What records are looked for; ``location`` is how the location begins."""

    root_id: str | None = None
    node_id: str | None = None
    action_taken: str | None = None
    location: str | None = None
    since: int | None = None


def load(conn: Connection, records: Sequence[Record], number: int, ttl_expiry: int) -> dict[int, str]:
    """Put records in; one that is there already stays as it is. Those that the database refuses, with its reasons."""
    rows = [_row(record, number, ttl_expiry) for record in records]
    try:
        count = _insert(conn, rows)
        write_load(conn, number, _leaves(conn, rows, number, count))
        return {}
    except OperationalError:  # the database, not the record
        raise
    except DBAPIError:
        refused: dict[int, str] = {}
        for position, row in enumerate(rows):
            try:
                _insert(conn, [row])
            except OperationalError:
                raise
            except DBAPIError as error:
                refused[position] = str(error.orig).strip().split("\n", 1)[0]
        write_load(conn, number, _leaves(conn, rows, number, -1))
        return refused


def _leaves(conn: Connection, rows: Sequence[tuple[Any, ...]], number: int, inserted: int) -> Iterator[bytes]:
    """Of the rows that this load has put in; of those that were there already nothing is said a second time."""
    mine: set[tuple[bytes, ...]] | None = None
    if inserted != len(rows):
        mine, keys = set(), sorted({row[0] for row in rows})
        for some in (keys[start : start + _AT_ONCE] for start in range(0, len(keys), _AT_ONCE)):
            here = select(*record_hot.primary_key).where(record_hot.c.root_key.in_(some), record_hot.c.load == number)
            mine.update(tuple(map(bytes, row)) for row in conn.execute(here))
    for row in rows:
        if mine is None or row[:3] in mine:
            if mine is not None:
                mine.remove(row[:3])  # of two that are the same the first was put in
            parents = row[5]
            yield leaf(row[2], row[8], json.loads(parents) if '","' in parents else ())


def _insert(conn: Connection, rows: Sequence[tuple[Any, ...]]) -> int:
    """All of them or none; how many were not there yet, or -1 where the driver does not know.

    As the driver takes it: through SQLAlchemy's types a row costs several times as much.
    """
    put = upsert(conn)(record_hot).on_conflict_do_nothing().compile(conn.engine)
    order: list[str] | None = put.positiontup
    given: Any = rows if order == _COLUMNS else [dict(zip(_COLUMNS, row, strict=True)) for row in rows]
    if not rows:
        return 0
    with conn.begin_nested():
        return conn.exec_driver_sql(put.string, given).rowcount


def _row(record: Record, number: int, ttl_expiry: int) -> tuple[Any, ...]:
    """In the order of the columns."""
    recorded_at = to_micros(record.recorded_at)
    return (
        key_of_id(record.root_id),
        key_of_id(record.node_id),
        record.digest,
        record.root_id,
        record.node_id,
        f"[{','.join(map(encode_basestring_ascii, record.parent_ids))}]",
        record.action_taken,
        record.storage_location,
        recorded_at,
        recorded_at // _DAY,
        number,
        ttl_expiry,
    )


def record_from_row(row: Mapping[Any, Any]) -> Record:
    return Record(
        row["root_id"],
        row["node_id"],
        tuple(row["parent_ids"]),
        row["action_taken"],
        row["storage_location"],
        from_micros(row["recorded_at"]),
    )


def columns_of_root(conn: Connection, root_id: str) -> dict[str, Sequence[Any]]:
    """By column; a root may have very many rows."""
    columns = [type_coerce(column, Text) if column.name == "parent_ids" else column for column in record_hot.columns]
    query = select(*columns).where(record_hot.c.root_key == key_of_id(root_id)).order_by(record_hot.c.node_key)
    rows = conn.execute(query).all()
    values: list[Sequence[Any]] = list(zip(*rows, strict=True)) if rows else [()] * len(_COLUMNS)
    found = dict(zip(_COLUMNS, values, strict=True))
    # Decoded in one go: one by one it takes longer than all the rest.
    return {**found, "parent_ids": json.loads(f"[{','.join(found['parent_ids'])}]")}


def find(conn: Connection, wanted: RecordFilter, limit: int) -> Sequence[RowMapping]:
    """The newest first."""
    query = _where(select(record_hot), wanted)
    ordered = query.order_by(record_hot.c.recorded_at.desc(), record_hot.c.root_key, record_hot.c.node_key)
    return conn.execute(ordered.limit(limit)).mappings().all()


def _where(query: Select[Any], wanted: RecordFilter) -> Select[Any]:
    hot = record_hot.c
    if wanted.root_id is not None:
        query = query.where(hot.root_key == key_of_id(wanted.root_id))
    if wanted.node_id is not None:
        query = query.where(hot.node_key == key_of_id(wanted.node_id))
    if wanted.action_taken is not None:
        query = query.where(hot.action_taken == wanted.action_taken)
    if wanted.location is not None:
        # Not LIKE: SQLite's does not tell capitals apart.
        query = query.where(func.substr(hot.storage_location, 1, len(wanted.location)) == wanted.location)
    if wanted.since is not None:
        query = query.where(hot.recorded_at >= wanted.since)
    return query


def content_digests(conn: Connection, records: Sequence[Record]) -> dict[tuple[str, str], set[bytes]]:
    """By (root, node), the digests of all hot contents of the nodes of these records."""
    hot, found = record_hot.c, dict[tuple[str, str], set[bytes]]()
    named = {(one.root_id, one.node_id) for one in records}
    keys = sorted({key_of_id(node) for _, node in named})
    for some in (keys[start : start + _AT_ONCE] for start in range(0, len(keys), _AT_ONCE)):
        for row in conn.execute(select(hot.root_id, hot.node_id, hot.digest).where(hot.node_key.in_(some))):
            if (row.root_id, row.node_id) in named:
                found.setdefault((row.root_id, row.node_id), set()).add(bytes(row.digest))
    return found


def sample_roots(conn: Connection, most: int) -> list[str]:
    """Roots there are: from one to the next by the key, however many rows each has."""
    found: list[str] = []
    key: bytes = b""
    while len(found) < most:
        after = record_hot.c.root_key > key
        query = select(record_hot.c.root_key, record_hot.c.root_id).where(after)
        row = conn.execute(query.order_by(record_hot.c.root_key).limit(1)).one_or_none()
        if row is None:
            break
        key = bytes(row.root_key)
        found.append(row.root_id)
    return found


def count(conn: Connection) -> int:
    return conn.scalar(select(func.count()).select_from(record_hot)) or 0
