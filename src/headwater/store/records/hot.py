"""The hot records: loaded in batches, found by root, by node and by their fields."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii
from typing import TypeVarTuple

from sqlalchemy import Connection, RowMapping, Select, Text, func, select, type_coerce
from sqlalchemy.exc import DBAPIError, OperationalError

from headwater.model.record_schema import CONTENT_NAMES, PARENTS, content_of, with_parents
from headwater.model.records import Record, key_of_id
from headwater.store.engine.dialect import dialect_of
from headwater.store.records.evidence import record_leaf, write_load
from headwater.store.schema.record_tables import record_hot
from headwater.store.schema.stored_rows import PlainRow
from headwater.store.schema.tables import from_micros, to_micros

_DAY = 86_400_000_000
_CHUNK = 500
Columns = TypeVarTuple("Columns")
_COLUMNS = [column.name for column in record_hot.columns]
_PARENTS_COLUMN, _TIME_COLUMN = _COLUMNS.index("parent_ids"), _COLUMNS.index("recorded_at")


@dataclass(frozen=True, slots=True)
class RecordFilter:
    """Which records a search returns; ``location`` is a prefix of theirs, ``since`` is in microseconds."""

    root_id: str | None = None
    node_id: str | None = None
    action_taken: str | None = None
    location: str | None = None
    since: int | None = None


def load(conn: Connection, records: Sequence[Record], number: int, ttl_expiry: int) -> dict[int, str]:
    """Insert records as load ``number``; one that exists stays as it is.

    Returns the records that the database refused: by their position, its reason.
    """
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


def _leaves(conn: Connection, rows: Sequence[PlainRow], number: int, inserted: int) -> Iterator[bytes]:
    """The leaves of the rows that this load inserted; rows that existed before have theirs in an earlier load."""
    inserted_keys: set[tuple[bytes, ...]] | None = None
    if inserted != len(rows):
        inserted_keys, root_keys = set(), sorted({row[0] for row in rows})
        for chunk in (root_keys[start : start + _CHUNK] for start in range(0, len(root_keys), _CHUNK)):
            in_load = record_hot.c.root_key.in_(chunk), record_hot.c.load == number
            query = select(*record_hot.primary_key).where(*in_load)
            inserted_keys.update(tuple(map(bytes, row)) for row in conn.execute(query))
    for row in rows:
        if inserted_keys is None or row[:3] in inserted_keys:
            if inserted_keys is not None:
                inserted_keys.remove(row[:3])  # of two equal rows the first was inserted
            parents = row[_PARENTS_COLUMN]
            yield record_leaf(row[2], row[_TIME_COLUMN], json.loads(parents) if '","' in parents else ())


def _insert(conn: Connection, rows: Sequence[PlainRow]) -> int:
    """Insert all rows or none; returns how many did not exist yet, or -1 where the driver does not know.

    Values go to the driver directly: through SQLAlchemy's types a row costs several times as much.
    """
    statement = dialect_of(conn).insert(record_hot).on_conflict_do_nothing().compile(conn.engine)
    order: list[str] | None = statement.positiontup
    parameters: Sequence[PlainRow] | list[dict[str, object]] = (
        rows if order == _COLUMNS else [dict(zip(_COLUMNS, row, strict=True)) for row in rows]
    )
    if not rows:
        return 0
    with conn.begin_nested():
        return conn.exec_driver_sql(statement.string, parameters).rowcount


def _row(record: Record, number: int, ttl_expiry: int) -> PlainRow:
    """The values in the order of the table's columns."""
    recorded_at = to_micros(record.recorded_at)
    parents = f"[{','.join(map(encode_basestring_ascii, record.parent_ids))}]"
    return (
        key_of_id(record.root_id),
        key_of_id(record.node_id),
        record.digest,
        *with_parents(content_of(record), parents),
        recorded_at,
        recorded_at // _DAY,
        number,
        ttl_expiry,
    )


def record_from_row(row: RowMapping) -> Record:
    values = [row[name] for name in CONTENT_NAMES]
    return Record(*[*with_parents(values, tuple(values[PARENTS])), from_micros(row["recorded_at"])])


def columns_of_root(conn: Connection, root_id: str) -> dict[str, Sequence[object]]:
    """The hot rows of a root, column by column: a root may have very many rows."""
    columns = [type_coerce(column, Text) if column.name == "parent_ids" else column for column in record_hot.columns]
    query = select(*columns).where(record_hot.c.root_key == key_of_id(root_id)).order_by(record_hot.c.node_key)
    rows = conn.execute(query).all()
    values: list[PlainRow] = list(zip(*rows, strict=True)) if rows else [()] * len(_COLUMNS)
    columns_by_name = dict(zip(_COLUMNS, values, strict=True))
    # Decoded in one call: one by one it takes longer than all the rest.
    return {**columns_by_name, "parent_ids": json.loads(f"[{','.join(columns_by_name['parent_ids'])}]")}


def find(conn: Connection, criteria: RecordFilter, limit: int) -> Sequence[RowMapping]:
    """Matching rows, the newest first."""
    query = _where(select(record_hot), criteria)
    ordered = query.order_by(record_hot.c.recorded_at.desc(), record_hot.c.root_key, record_hot.c.node_key)
    return conn.execute(ordered.limit(limit)).mappings().all()


def _where(query: Select[*Columns], criteria: RecordFilter) -> Select[*Columns]:
    hot = record_hot.c
    if criteria.root_id is not None:
        query = query.where(hot.root_key == key_of_id(criteria.root_id))
    if criteria.node_id is not None:
        query = query.where(hot.node_key == key_of_id(criteria.node_id))
    if criteria.action_taken is not None:
        query = query.where(hot.action_taken == criteria.action_taken)
    if criteria.location is not None:
        # Not LIKE: SQLite's ignores case.
        query = query.where(func.substr(hot.storage_location, 1, len(criteria.location)) == criteria.location)
    if criteria.since is not None:
        query = query.where(hot.recorded_at >= criteria.since)
    return query


def content_digests(conn: Connection, records: Sequence[Record]) -> dict[tuple[str, str], set[bytes]]:
    """The digests of all hot contents of the nodes of these records, by (root, node)."""
    hot, digests = record_hot.c, dict[tuple[str, str], set[bytes]]()
    nodes = {(record.root_id, record.node_id) for record in records}
    node_keys = sorted({key_of_id(node) for _, node in nodes})
    for chunk in (node_keys[start : start + _CHUNK] for start in range(0, len(node_keys), _CHUNK)):
        for row in conn.execute(select(hot.root_id, hot.node_id, hot.digest).where(hot.node_key.in_(chunk))):
            if (row.root_id, row.node_id) in nodes:
                digests.setdefault((row.root_id, row.node_id), set()).add(bytes(row.digest))
    return digests


def sample_roots(conn: Connection, limit: int) -> list[str]:
    """Up to ``limit`` root ids. Steps from one root key to the next, because a root may have very many rows."""
    roots: list[str] = []
    key: bytes = b""
    while len(roots) < limit:
        after = record_hot.c.root_key > key
        query = select(record_hot.c.root_key, record_hot.c.root_id).where(after)
        row = conn.execute(query.order_by(record_hot.c.root_key).limit(1)).one_or_none()
        if row is None:
            break
        key = bytes(row.root_key)
        roots.append(row.root_id)
    return roots


def count(conn: Connection) -> int:
    return conn.scalar(select(func.count()).select_from(record_hot)) or 0
