"""The derived tables as rows of names: equal in two stores that ingested the same events, whatever ids they
assigned.

A name is here the SHA-256 that the store keeps of it (``key``), which names of any length have.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from itertools import groupby
from operator import itemgetter

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    FromClause,
    Select,
    Table,
    Text,
    and_,
    exists,
    or_,
    select,
    type_coerce,
)

from headwater.errors import EvidenceBroken
from headwater.store.engine.dialect import dialect_of, driver_of
from headwater.store.log.entries import as_stored
from headwater.store.schema.stored_rows import PlainRow
from headwater.store.schema.tables import (
    Json,
    content,
    dataset,
    edge,
    event,
    job,
    label,
    lineage,
    run,
    symlink,
    version,
)

_FETCHED = 2_000
_MOST_KNOWN = 100_000
_KEYS = {dataset: dataset.c.key, job: job.c.key, run: run.c.key, label: label.c.key, event: event.c.digest}
"""By what a row of a table is known in every store."""
_FOREIGN = {("dataset", "canonical_id"): dataset}
"""What a column refers to where the table does not say so."""
LEFT_OUT = {"dataset": ("contested",), "version": ("digest",), "lineage": ("version_id",)}
"""Columns that are looked at otherwise: a hint that only speed depends on, and what depends on ids."""


@dataclass(frozen=True)
class NamedTable:
    """A table, read by names. ``columns`` are those of each row, in their order."""

    table: Table
    columns: tuple[str, ...]
    query: Select[*tuple[object, ...]]
    dangling: tuple[tuple[str, Select[*tuple[object, ...]]], ...]
    """For each column that refers to another table: the ids of its rows whose reference leads nowhere."""
    json: tuple[int, ...]
    """Positions of JSON, in which the order of keys does not count."""
    references: Mapping[str, Table]
    """Columns that are keys here, with the table that each leads to."""

    def rows(self, conn: Connection) -> Iterator[PlainRow]:
        for row in stream(conn, self.query):
            yield self._in_order(row) if self.json else row

    def _in_order(self, row: PlainRow) -> PlainRow:
        values = list(row)
        for place in self.json:
            values[place] = in_order(values[place])
        return tuple(values)


@cache
def by_names(table: Table) -> NamedTable:
    columns, selected, references = list[str](), list[ColumnElement[object]](), dict[str, Table]()
    dangling = list[tuple[str, Select[*tuple[object, ...]]]]()
    source: FromClause = table
    for column in table.c:
        if column.name == "id":
            continue
        target = _target(column)
        if target is not None:
            other = target.alias()
            lost = select(*table.primary_key).outerjoin_from(table, other, other.c.id == column)
            dangling.append((column.name, lost.where(column.is_not(None), other.c.id.is_(None)).limit(1)))
        if column.name in LEFT_OUT.get(table.name, ()):
            continue
        columns.append(column.name)
        if target is None:
            selected.append(type_coerce(column, Text) if isinstance(column.type, Json) else column)
        else:
            source = source.outerjoin(other, other.c.id == column)
            selected.append(other.c[_KEYS[target].name])
            references[column.name] = target
    query = select(*selected).select_from(source)
    if table is dataset:
        query = query.where(or_(dataset.c.first_seen.is_not(None), *_spoken_of()))
    json_at = tuple(i for i, name in enumerate(columns) if isinstance(table.c[name].type, Json))
    return NamedTable(table, tuple(columns), query, tuple(dangling), json_at, references)


def _target(column: Column[object]) -> Table | None:
    told = _FOREIGN.get((column.table.name, column.name))
    return told if told is not None else next((key.column.table for key in column.foreign_keys), None)


def _spoken_of() -> list[ColumnElement[bool]]:
    """A name that only a withdrawn statement mentioned keeps its row, but nothing refers to it any more."""
    columns = (version.c.dataset_id, lineage.c.upstream_id, symlink.c.alias_id, edge.c.upstream_id)
    return [exists().where(column == dataset.c.id) for column in columns]


def in_order(text: object) -> object:
    """JSON with its keys in order; what is none stays as it is."""
    if not isinstance(text, str):
        return text
    try:
        return _ordered(json.loads(text))
    except (ValueError, RecursionError):
        return text


_ordered = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def stream(conn: Connection, query: Select[*tuple[object, ...]]) -> Iterator[PlainRow]:
    """Rows as the driver gives them, a few thousand at a time."""
    sql = str(query.compile(conn.engine, compile_kwargs={"literal_binds": True}))
    with closing(dialect_of(conn).cursor(driver_of(conn))) as cursor:
        cursor.execute(sql)
        while rows := cursor.fetchmany(_FETCHED):
            yield from rows


# -- versions and what they read --------------------------------------------------------------------------------------

_VERSION_IDS = ("dataset_id", "partition_id", "origin", "job_id", "run_id", "event_id", "written_at")
"""The columns by which a version is known."""


class NamedVersions:
    """NamedVersions, each with its lineage rows. What several share is read once, as far as memory goes.

    ``check``: whether the digests must match their rows. They depend on ids, so they are not compared.
    """

    def __init__(self, conn: Connection, *, check: bool) -> None:
        self._conn = conn
        self._check = check
        self._keys: dict[int, bytes | None] = {}
        self._bodies: dict[bytes, list[PlainRow]] = {}
        self._by_names: dict[tuple[bytes, bool], bytes] = {}
        self.lineage_rows = 0

    def rows(self) -> Iterator[tuple[PlainRow, list[PlainRow]]]:
        which, reads = by_names(version), by_names(lineage)
        known = [which.columns.index(name) for name in _VERSION_IDS]
        upstreams, columns, schema, said = (
            which.columns.index(name) for name in ("upstream_digest", "column_digest", "schema_digest", "label")
        )
        raw = (version.c.digest, version.c.id)
        lineage_raw = (lineage.c.upstream_id, lineage.c.upstream_partition_id, lineage.c.version_id)
        after = 0
        while True:
            query = which.query.add_columns(*raw).where(version.c.id > after).order_by(version.c.id).limit(_FETCHED)
            page = as_stored(self._conn, query)
            if not page:
                return
            first, after = after, page[-1][-1]
            of_page = and_(lineage.c.version_id > first, lineage.c.version_id <= after)
            ordered = reads.query.add_columns(*lineage_raw).where(of_page).order_by(lineage.c.version_id, lineage.c.id)
            read = {number: list(some) for number, some in groupby(as_stored(self._conn, ordered), itemgetter(-1))}
            self._fetch({row[place] for row in page for place in (upstreams, columns, schema)})
            for row in page:
                mine = read.get(row[-1], [])
                self.lineage_rows += len(mine)
                if self._check:
                    self._verify(row, mine, (row[upstreams], row[columns], row[schema], row[said]))
                values = list(row[: -len(raw)])
                for place, is_column in ((upstreams, False), (columns, True)):
                    values[place] = self._shared_by_names(row[place], is_column)
                identity = sha256(repr([row[place] for place in known]).encode()).digest()
                yield tuple(values), [(identity, *one[: -len(lineage_raw)]) for one in mine]

    def _fetch(self, digests: set[object]) -> None:
        wanted = [one for one in digests if isinstance(one, bytes) and one not in self._bodies]
        if len(self._bodies) > _MOST_KNOWN:
            self._bodies, self._by_names = {}, {}
            wanted = [one for one in digests if isinstance(one, bytes)]
        for start in range(0, len(wanted), 500):
            chunk = wanted[start : start + 500]
            found = self._conn.execute(select(content).where(content.c.digest.in_(chunk)))
            self._bodies.update((bytes(digest), body) for digest, body in found)

    def _verify(self, row: PlainRow, reads: Sequence[PlainRow], shared: PlainRow) -> None:
        """The digest over all that a version says."""
        upstreams, columns, schema, said = shared
        what = f"Version {row[-1]}"
        for digest in (upstreams, columns, *(() if schema is None else (schema,))):
            if digest not in self._bodies:
                raise EvidenceBroken(what, "the content that it refers to is missing")
        partitions: dict[int, list[int | None]] = {}
        for *_, upstream_id, partition_id, _version in reads:
            partitions.setdefault(upstream_id, []).append(partition_id)
        fields = None if schema is None else self._bodies[schema]
        of_reads = [partitions.get(element[0]) for element in self._bodies[upstreams]]
        said_in_all = [self._bodies[upstreams], self._bodies[columns], fields, said, of_reads]
        document = json.dumps(said_in_all, separators=(",", ":"))
        if sha256(document.encode()).digest() != row[-2]:
            raise EvidenceBroken(what, "its digest is not that of its upstreams, columns, schema and label")

    def _shared_by_names(self, digest: bytes, is_column: bool) -> bytes:
        """A hash over what that content says, by names."""
        found = self._by_names.get((digest, is_column))
        if found is None:
            body = self._bodies.get(digest)
            if body is None:
                return digest
            self._name({element[0] for element in body})
            rows = sorted(repr((self._keys[element[0]], *element[1:])) for element in body)
            found = self._by_names[digest, is_column] = sha256("\n".join(rows).encode()).digest()
        return found

    def _name(self, ids: set[int]) -> None:
        if len(self._keys) > _MOST_KNOWN:
            self._keys = {}
        wanted = [one for one in ids if one not in self._keys]
        for start in range(0, len(wanted), 500):
            chunk = wanted[start : start + 500]
            found = self._conn.execute(select(dataset.c.id, dataset.c.key).where(dataset.c.id.in_(chunk)))
            self._keys.update((number, bytes(key)) for number, key in found)
        self._keys.update((one, None) for one in wanted if one not in self._keys)
