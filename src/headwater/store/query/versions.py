"""Versions of datasets: the metadata of each when it was written, and which of them runs read and wrote."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Protocol

from sqlalchemy import ColumnElement, Select, func, or_, select

from headwater.model.answers import Version
from headwater.model.names import Dataset
from headwater.model.runs import Facets
from headwater.model.versions import RunVersions, VersionOf
from headwater.store.access.view import View, VisibleTables
from headwater.store.query.events import bodies
from headwater.store.query.lookup import find_dataset
from headwater.store.schema.stored_rows import StoredVersion
from headwater.store.schema.tables import from_micros, to_micros


def facets_of_versions(view: View, named: Dataset, versions: Sequence[Version]) -> list[Facets]:
    """For each of these versions of a dataset the facets that its run, or the event that declared it, said of it: not
    those that hold today."""
    run, version, label = view.tables.run, view.tables.version, view.tables.label
    found = find_dataset(view, named)
    query = (
        select(version.c.written_at, version.c.run_id, version.c.event_id, label.c.text.label("partition"))
        .add_columns(run.c.run_id.label("run_name"))
        .outerjoin(label, label.c.id == version.c.partition_id)
        .outerjoin(run, run.c.id == version.c.run_id)
        .where(version.c.dataset_id == found.id)
        .where(version.c.written_at.in_({to_micros(one.written_at) for one in versions}))
    )
    rows = {(row.written_at, row.partition, row.run_name): row for row in view.execute(query)}
    names = _names(view, found.id)
    return [
        _facets_of_version(view, rows.get((to_micros(one.written_at), one.partition, one.run_id)), names)
        for one in versions
    ]


def _names(view: View, canonical: int) -> frozenset[Dataset]:
    dataset = view.tables.dataset
    query = select(dataset.c.namespace, dataset.c.name).where(dataset.c.canonical_id == canonical)
    rows = view.execute(query)
    return frozenset(Dataset(row.namespace, row.name) for row in rows)


def _facets_of_version(view: View, row: StoredVersion | None, names: Collection[Dataset]) -> Facets:
    event = view.tables.event
    if row is None:
        return {}
    of_run = event.c.run_id == row.run_id if row.run_id is not None else event.c.id == row.event_id
    query = select(event.c.id).where(of_run).order_by(event.c.event_time, event.c.digest)
    said: dict[str, object] = {}
    for number in view.scalars(query).all():  # one after another: each may have many megabytes
        for body in bodies(view, [number]):
            for facets in _written(json.loads(body.decode("utf-8-sig")), names):
                said |= facets
    return {name: facet for name, facet in said.items() if not _is_deleted(facet)}


def _written(document: Mapping[str, object], names: Collection[Dataset]) -> Iterator[dict[str, object]]:
    """Of the outputs, and of what a dataset declares of itself; not of the same dataset as it was read."""
    outputs, itself = document.get("outputs"), document.get("dataset")
    for use in [*(outputs if isinstance(outputs, list) else ()), itself]:
        if isinstance(use, dict) and Dataset(str(use.get("namespace")), str(use.get("name"))) in names:
            facets = use.get("facets")
            if isinstance(facets, dict):
                yield facets


def _is_deleted(facet: object) -> bool:
    return isinstance(facet, Mapping) and facet.get("_deleted") is True


# -- of runs ----------------------------------------------------------------------------------------


def versions_of_runs(view: View, run_ids: Collection[str]) -> dict[str, RunVersions]:
    """What each run wrote, and the version that each input had when the run began; none if no earlier write is
    known."""
    found: dict[str, RunVersions] = defaultdict(RunVersions)
    for row in view.execute(_wrote(view.tables, run_ids)):
        found[row.by].outputs.append(_version(row))
    for row in view.execute(_read(view.tables, run_ids)):
        found[row.by].inputs.append(_version(row))
    return found


def _wrote(tables: VisibleTables, run_ids: Collection[str]) -> Select[*tuple[object, ...]]:
    dataset, label, run, version = tables.dataset, tables.label, tables.run, tables.version
    return (
        select(*_columns(tables), run.c.run_id.label("by"), run.c.run_id.label("writer"))
        .join(run, run.c.id == version.c.run_id)
        .join(dataset, dataset.c.id == version.c.dataset_id)
        .outerjoin(label, label.c.id == version.c.partition_id)
        .where(run.c.run_id.in_(run_ids))
        .order_by(dataset.c.namespace, dataset.c.name, label.c.text, version.c.written_at)
    )


def _read(tables: VisibleTables, run_ids: Collection[str]) -> Select[*tuple[object, ...]]:
    dataset, label, run, version = tables.dataset, tables.label, tables.run, tables.version
    run_dataset = tables.run_dataset
    used, writer, before = dataset.alias(), run.alias(), version.alias()
    earlier = (
        select(before.c.id)
        .where(before.c.dataset_id == used.c.canonical_id)
        .where(before.c.written_at <= func.coalesce(run.c.started_at, run.c.first_event_at))
        .where(or_(before.c.run_id.is_(None), before.c.run_id != run.c.id))
        .order_by(before.c.written_at.desc(), before.c.tiebreak.desc())
        .limit(1)
    )
    return (
        select(*_columns(tables), run.c.run_id.label("by"), writer.c.run_id.label("writer"))
        .select_from(run)
        .join(run_dataset, (run_dataset.c.run_id == run.c.id) & (run_dataset.c.direction == "input"))
        .join(used, used.c.id == run_dataset.c.dataset_id)
        .join(version, version.c.id == earlier.correlate(used, run).scalar_subquery())
        .join(dataset, dataset.c.id == version.c.dataset_id)
        .outerjoin(writer, writer.c.id == version.c.run_id)
        .outerjoin(label, label.c.id == version.c.partition_id)
        .where(run.c.run_id.in_(run_ids))
        .order_by(dataset.c.namespace, dataset.c.name)
        .distinct()
    )


def _columns(tables: VisibleTables) -> tuple[ColumnElement[object], ...]:
    dataset = tables.dataset
    return dataset.c.namespace, dataset.c.name, tables.label.c.text.label("partition"), tables.version.c.written_at


class _VersionOfRun(Protocol):
    namespace: str
    name: str
    partition: str | None
    written_at: int
    writer: str | None


def _version(row: _VersionOfRun) -> VersionOf:
    return VersionOf(Dataset(row.namespace, row.name), from_micros(row.written_at), row.partition, row.writer)
