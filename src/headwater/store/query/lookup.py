"""From what a person types to a row: datasets, columns, partitions and runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from rapidfuzz import fuzz, process
from sqlalchemy import ColumnElement, Select, bindparam, exists, or_, select

from headwater.errors import (
    AmbiguousDataset,
    NoEvidence,
    UnknownColumn,
    UnknownDataset,
    UnknownPartition,
    UnknownRun,
)
from headwater.model.names import Dataset, Endpoint, Job
from headwater.store.access.view import View, VisibleTables
from headwater.store.schema.name_keys import endpoint_key, key_of
from headwater.store.schema.stored_rows import StoredDataset, StoredRun

_SUGGESTIONS = 5
_MOST_SPLITS = 400


def is_known(tables: VisibleTables) -> ColumnElement[bool]:
    """For rows of ``tables.dataset``: an event had it among its datasets, or current lineage leads to it or from it.

    A name that only a withdrawn statement mentioned is unknown: its row exists, but nothing refers to it.
    """
    dataset = tables.dataset
    written = exists().where(tables.version.c.dataset_id == dataset.c.id)
    read = exists().where(tables.lineage.c.upstream_id == dataset.c.id)
    claims = exists().where(tables.symlink.c.dataset_id == dataset.c.id)
    return or_(dataset.c.first_seen.is_not(None), written, read, claims)


def find_dataset(view: View, asked: str | Endpoint) -> StoredDataset:
    """The dataset called ``asked``, under its canonical name.

    A string is a name, if only one namespace has it, or `namespace/name`. An alias finds what it stands for.
    """
    if isinstance(asked, Dataset | Job):
        keys = [endpoint_key(asked)]
    else:
        keys = [endpoint_key(Dataset(*split)) for split in _splits(asked)]
    by_key, by_name, known = _lookups(view.tables)
    found = set(view.scalars(by_key, {"keys": keys}))
    if not found and isinstance(asked, str):
        found = set(view.scalars(by_name, {"named": key_of(asked)}))
    canonical = list(view.execute(known, {"found": list(found)}))
    if not canonical:
        raise UnknownDataset(str(asked), _closest(str(asked), _names(view)))
    if len(canonical) > 1:
        raise AmbiguousDataset(str(asked), sorted(f"{row.namespace}/{row.name}" for row in canonical))
    return canonical[0]


@lru_cache(maxsize=500)  # as many as there are of VisibleTables
def _lookups(tables: VisibleTables) -> tuple[Select[int], Select[int], Select[*tuple[object, ...]]]:
    """Ids by keys, by a bare name, and what is known of them. To put these together takes longer than to ask."""
    dataset = tables.dataset
    ids = select(dataset.c.canonical_id)
    by_key = ids.where(dataset.c.key.in_(bindparam("keys", expanding=True)))
    by_name = ids.where(dataset.c.name_key == bindparam("named"), dataset.c.is_job == 0)
    known = select(dataset).where(dataset.c.id.in_(bindparam("found", expanding=True)), is_known(tables))
    return by_key, by_name, known


def _splits(text: str) -> Iterator[tuple[str, str]]:
    """Every way to read `namespace/name`: either may hold slashes."""
    position = text.find("/")
    for _ in range(_MOST_SPLITS):
        if position < 0:
            return
        yield text[:position], text[position + 1 :]
        position = text.find("/", position + 1)


def _names(view: View) -> Iterator[str]:
    dataset = view.tables.dataset
    query = select(dataset.c.namespace, dataset.c.name).where(
        dataset.c.canonical_id == dataset.c.id, dataset.c.is_job == 0, is_known(view.tables)
    )
    return (f"{row.namespace}/{row.name}" for row in view.execute(query.execution_options(yield_per=5_000)))


def _closest(asked: str, names: Iterable[str]) -> list[str]:
    matches = process.extract(asked, names, scorer=fuzz.WRatio, limit=_SUGGESTIONS)
    return [name for name, _, _ in matches]


def find_column(view: View, owner: StoredDataset, name: str, known: Iterable[str]) -> int:
    """The label of a column that the dataset has, by its schema or in any column edge."""
    column_edge, label = view.tables.column_edge, view.tables.label
    row = view.execute(select(label.c.id).where(label.c.key == key_of(name))).first()
    if row is not None:
        for side in ("upstream", "downstream"):
            mine = column_edge.c[f"{side}_id"] == owner.id
            used = select(column_edge.c.id).where(mine, column_edge.c[f"{side}_column_id"] == row.id)
            if view.execute(used.limit(1)).first():
                return int(row.id)
    columns = sorted(set(known) | set(_columns(view, owner)))
    if name in columns:
        # In its schema, but in no column edge: a part that no edge can match.
        return int(row.id) if row is not None else -1
    raise UnknownColumn(name, f"{owner.namespace}/{owner.name}", columns)


def _columns(view: View, owner: StoredDataset) -> Iterator[str]:
    column_edge, label = view.tables.column_edge, view.tables.label
    for side in ("upstream", "downstream"):
        part = column_edge.c[f"{side}_column_id"]
        used = select(label.c.text).join(column_edge, part == label.c.id).where(column_edge.c[f"{side}_id"] == owner.id)
        yield from view.scalars(used)


def find_partition(view: View, owner: StoredDataset, name: str) -> int:
    lineage, version, label = view.tables.lineage, view.tables.version, view.tables.label
    row = view.execute(select(label.c.id).where(label.c.key == key_of(name))).first()
    if row is not None:
        written = select(version.c.id).where(version.c.dataset_id == owner.id, version.c.partition_id == row.id)
        read = select(lineage.c.id).where(lineage.c.upstream_id == owner.id, lineage.c.upstream_partition_id == row.id)
        for used in (written, read):
            if view.execute(used.limit(1)).first():
                return int(row.id)
    raise UnknownPartition(name, f"{owner.namespace}/{owner.name}", latest_partitions(view, owner.id, 10))


def latest_partitions(view: View, dataset_id: int, limit: int) -> list[str]:
    """Partitions that were written or read, the most recently touched first."""
    lineage, version, label = view.tables.lineage, view.tables.version, view.tables.label
    written = select(label.c.text, version.c.written_at.label("at")).join(version, version.c.partition_id == label.c.id)
    read = select(label.c.text, lineage.c.consumed_at.label("at")).join(
        lineage, lineage.c.upstream_partition_id == label.c.id
    )
    newest: dict[str, int] = {}
    for query in (
        written.where(version.c.dataset_id == dataset_id).order_by(version.c.written_at.desc()).limit(10 * limit),
        read.where(lineage.c.upstream_id == dataset_id).order_by(lineage.c.consumed_at.desc()).limit(10 * limit),
    ):
        for row in view.execute(query):
            newest[row.text] = max(row.at, newest.get(row.text, row.at))
    return sorted(newest, key=lambda text: (-newest[text], text))[:limit]


def find_run(view: View, run_id: str) -> StoredRun:
    run = view.tables.run
    row = view.execute(select(run).where(run.c.key == key_of(run_id))).first()
    if row is None:
        newest = view.scalars(select(run.c.run_id).order_by(run.c.last_event_at.desc()).limit(50_000))
        raise UnknownRun(run_id, _closest(run_id, newest))
    return row


def find_whole_run(view: View, run_id: str) -> StoredRun:
    """A run of which everything is visible: evidence cannot be shown in parts."""
    run = view.tables.run
    found = find_run(view, run_id)
    if (
        not view.is_everything
        and view.scalar(select(run.c.id).where(run.c.id == found.id, view.tables.run_is_whole(run.c.id))) is None
    ):
        raise NoEvidence(run_id)
    return found
