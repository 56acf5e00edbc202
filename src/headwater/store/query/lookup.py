"""From what a person types to a row: datasets, columns, partitions and runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from rapidfuzz import fuzz, process
from sqlalchemy import ColumnElement, Connection, Row, Select, Table, bindparam, exists, or_, select

from headwater.errors import (
    AmbiguousDataset,
    NoEvidence,
    UnknownColumn,
    UnknownDataset,
    UnknownPartition,
    UnknownRun,
)
from headwater.model.names import Dataset, Endpoint, Job
from headwater.store.access.visibility import Veil, edge_seen, job_seen, run_whole
from headwater.store.schema.name_keys import endpoint_key, key_of
from headwater.store.schema.tables import column_edge, dataset, label, lineage, run, symlink, version

_SUGGESTIONS = 5
_MOST_SPLITS = 400


def is_known(veil: Veil | None = None) -> ColumnElement[bool]:
    """Of a dataset: an event had it among its datasets, or lineage that counts leads to it or from it.

    A name that only a withdrawn statement mentioned is not known: its row is there, but nothing speaks for it.
    """
    written = exists().where(version.c.dataset_id == dataset.c.id)
    read = exists().where(lineage.c.upstream_id == dataset.c.id)
    claims = exists().where(symlink.c.dataset_id == dataset.c.id)
    if veil is not None:
        written = written.where(job_seen(veil, version.c.job_id))
        read = read.where(edge_seen(veil, lineage))
    return or_(dataset.c.first_seen.is_not(None), written, read, claims)


def find_dataset(conn: Connection, asked: str | Endpoint, veil: Veil | None = None) -> Row[Any]:
    """The dataset called ``asked``, under its canonical name.

    A string is a name, if only one namespace has it, or `namespace/name`. An alias finds what it stands for.
    """
    if isinstance(asked, Dataset | Job):
        keys = [endpoint_key(asked)]
    else:
        keys = [endpoint_key(Dataset(*split)) for split in _splits(asked)]
    by_key, by_name, known = _lookups(veil)
    found = set(conn.scalars(by_key, {"keys": keys}))
    if not found and isinstance(asked, str):
        found = set(conn.scalars(by_name, {"named": key_of(asked)}))
    canonical = list(conn.execute(known, {"found": list(found)}))
    if not canonical:
        raise UnknownDataset(str(asked), _closest(str(asked), _names(conn, veil)))
    if len(canonical) > 1:
        raise AmbiguousDataset(str(asked), sorted(f"{row.namespace}/{row.name}" for row in canonical))
    return canonical[0]


@lru_cache(maxsize=500)  # there is no end of veils
def _lookups(veil: Veil | None) -> tuple[Select[Any], Select[Any], Select[Any]]:
    """Ids by keys, by a bare name, and what is known of them. To put these together takes longer than to ask."""
    seen = () if veil is None else (veil.lets(dataset.c.namespace),)
    ids = select(dataset.c.canonical_id)
    by_key = ids.where(dataset.c.key.in_(bindparam("keys", expanding=True)), *seen)
    by_name = ids.where(dataset.c.name_key == bindparam("named"), dataset.c.is_job == 0, *seen)
    return (
        by_key,
        by_name,
        select(dataset).where(dataset.c.id.in_(bindparam("found", expanding=True)), is_known(veil), *seen),
    )


def _splits(text: str) -> Iterator[tuple[str, str]]:
    """Every way to read `namespace/name`: either may hold slashes."""
    position = text.find("/")
    for _ in range(_MOST_SPLITS):
        if position < 0:
            return
        yield text[:position], text[position + 1 :]
        position = text.find("/", position + 1)


def _names(conn: Connection, veil: Veil | None) -> Iterator[str]:
    query = select(dataset.c.namespace, dataset.c.name).where(
        dataset.c.canonical_id == dataset.c.id, dataset.c.is_job == 0, is_known(veil)
    )
    if veil is not None:
        query = query.where(veil.lets(dataset.c.namespace))
    return (f"{row.namespace}/{row.name}" for row in conn.execute(query.execution_options(yield_per=5_000)))


def _closest(asked: str, names: Iterable[str]) -> list[str]:
    matches = process.extract(asked, names, scorer=fuzz.WRatio, limit=_SUGGESTIONS)
    return [name for name, _, _ in matches]


def find_column(conn: Connection, owner: Row[Any], name: str, known: Iterable[str], veil: Veil | None = None) -> int:
    """The label of a column that the dataset has, by its schema or in any column edge."""
    row = conn.execute(select(label.c.id).where(label.c.key == key_of(name))).first()
    if row is not None:
        for side in ("upstream", "downstream"):
            mine = column_edge.c[f"{side}_id"] == owner.id
            used = select(column_edge.c.id).where(mine, column_edge.c[f"{side}_column_id"] == row.id)
            if conn.execute(_seen(used, column_edge, veil).limit(1)).first():
                return int(row.id)
    columns = sorted(set(known) | set(_columns(conn, owner, veil)))
    if name in columns:
        # In its schema, but in no column edge: a part that no edge can match.
        return int(row.id) if row is not None else -1
    raise UnknownColumn(name, f"{owner.namespace}/{owner.name}", columns)


def _columns(conn: Connection, owner: Row[Any], veil: Veil | None) -> Iterator[str]:
    for side in ("upstream", "downstream"):
        part = column_edge.c[f"{side}_column_id"]
        used = select(label.c.text).join(column_edge, part == label.c.id).where(column_edge.c[f"{side}_id"] == owner.id)
        yield from conn.scalars(_seen(used, column_edge, veil))


def find_partition(conn: Connection, owner: Row[Any], name: str, veil: Veil | None = None) -> int:
    row = conn.execute(select(label.c.id).where(label.c.key == key_of(name))).first()
    if row is not None:
        written = select(version.c.id).where(version.c.dataset_id == owner.id, version.c.partition_id == row.id)
        read = select(lineage.c.id).where(lineage.c.upstream_id == owner.id, lineage.c.upstream_partition_id == row.id)
        for used in (_seen(written, version, veil), _seen(read, lineage, veil)):
            if conn.execute(used.limit(1)).first():
                return int(row.id)
    raise UnknownPartition(name, f"{owner.namespace}/{owner.name}", latest_partitions(conn, owner.id, 10, veil))


def latest_partitions(conn: Connection, dataset_id: int, limit: int, veil: Veil | None = None) -> list[str]:
    """Partitions that were written or read, the most recently touched first."""
    written = select(label.c.text, version.c.written_at.label("at")).join(version, version.c.partition_id == label.c.id)
    read = select(label.c.text, lineage.c.consumed_at.label("at")).join(
        lineage, lineage.c.upstream_partition_id == label.c.id
    )
    newest: dict[str, int] = {}
    for query in (
        _seen(written, version, veil)
        .where(version.c.dataset_id == dataset_id)
        .order_by(version.c.written_at.desc())
        .limit(10 * limit),
        _seen(read, lineage, veil)
        .where(lineage.c.upstream_id == dataset_id)
        .order_by(lineage.c.consumed_at.desc())
        .limit(10 * limit),
    ):
        for row in conn.execute(query):
            newest[row.text] = max(row.at, newest.get(row.text, row.at))
    return sorted(newest, key=lambda text: (-newest[text], text))[:limit]


def _seen(query: Select[Any], table: Table, veil: Veil | None) -> Select[Any]:
    """Only of what is said by somebody who is seen; where ``table`` has edges, between datasets that are."""
    if veil is None:
        return query
    return query.where(job_seen(veil, version.c.job_id) if table is version else edge_seen(veil, table))


def find_run(conn: Connection, run_id: str, veil: Veil | None = None) -> Row[Any]:
    query, recent = select(run).where(run.c.key == key_of(run_id)), select(run.c.run_id)
    if veil is not None:
        query, recent = (one.where(job_seen(veil, run.c.job_id)) for one in (query, recent))
    row = conn.execute(query).first()
    if row is None:
        newest = conn.scalars(recent.order_by(run.c.last_event_at.desc()).limit(50_000))
        raise UnknownRun(run_id, _closest(run_id, newest))
    return row


def find_whole_run(conn: Connection, run_id: str, veil: Veil | None) -> Row[Any]:
    """A run of which everything is seen: what is to be proven cannot be told in parts."""
    found = find_run(conn, run_id, veil)
    if (
        veil is not None
        and conn.scalar(select(run.c.id).where(run.c.id == found.id, run_whole(veil, run.c.id))) is None
    ):
        raise NoEvidence(run_id)
    return found
