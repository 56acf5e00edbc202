"""Versions apart from their datasets: what was told of one when it was written, which of them runs read and wrote."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, func, or_, select

from headwater.model.answers import Version
from headwater.model.names import Dataset
from headwater.model.runs import Facets
from headwater.model.versions import RunVersions, VersionOf
from headwater.store.access.visibility import Veil, job_seen
from headwater.store.query.events import bodies
from headwater.store.query.lookup import find_dataset
from headwater.store.schema.tables import dataset, event, from_micros, label, run, run_dataset, to_micros, version


def told_of_versions(
    conn: Connection, named: Dataset, versions: Sequence[Version], veil: Veil | None = None
) -> list[Facets]:
    """For each of these versions of a dataset the facets that its run, or the event that declared it, said of it: not
    those that hold today."""
    found = find_dataset(conn, named, veil)
    query = (
        select(version.c.written_at, version.c.run_id, version.c.event_id, label.c.text.label("partition"))
        .add_columns(run.c.run_id.label("run_name"))
        .outerjoin(label, label.c.id == version.c.partition_id)
        .outerjoin(run, run.c.id == version.c.run_id)
        .where(version.c.dataset_id == found.id)
        .where(version.c.written_at.in_({to_micros(one.written_at) for one in versions}))
    )
    rows = {(row.written_at, row.partition, row.run_name): row for row in conn.execute(query)}
    names = _names(conn, found.id, veil)
    return [
        _said(conn, rows.get((to_micros(one.written_at), one.partition, one.run_id)), names, veil) for one in versions
    ]


def _names(conn: Connection, canonical: int, veil: Veil | None) -> frozenset[Dataset]:
    query = select(dataset.c.namespace, dataset.c.name).where(dataset.c.canonical_id == canonical)
    rows = conn.execute(query if veil is None else query.where(veil.lets(dataset.c.namespace)))
    return frozenset(Dataset(row.namespace, row.name) for row in rows)


def _said(conn: Connection, row: Row[Any] | None, names: Collection[Dataset], veil: Veil | None) -> Facets:
    if row is None:
        return {}
    of_run = event.c.run_id == row.run_id if row.run_id is not None else event.c.id == row.event_id
    query = select(event.c.id).where(of_run).order_by(event.c.event_time, event.c.digest)
    said: dict[str, Any] = {}
    for number in conn.scalars(query).all():  # one after another: each may have many megabytes
        for body in bodies(conn, [number], veil):
            for facets in _written(json.loads(body.decode("utf-8-sig")), names):
                said |= facets
    return {name: facet for name, facet in said.items() if not _is_deleted(facet)}


def _written(document: Mapping[str, Any], names: Collection[Dataset]) -> Iterator[dict[str, Any]]:
    """Of the outputs, and of what a dataset declares of itself; not of the same dataset as it was read."""
    outputs, itself = document.get("outputs"), document.get("dataset")
    for use in [*(outputs if isinstance(outputs, list) else ()), itself]:
        if isinstance(use, dict) and Dataset(str(use.get("namespace")), str(use.get("name"))) in names:
            facets = use.get("facets")
            if isinstance(facets, dict):
                yield facets


def _is_deleted(facet: Any) -> bool:
    return isinstance(facet, Mapping) and facet.get("_deleted") is True


# -- of runs ----------------------------------------------------------------------------------------


def versions_of_runs(conn: Connection, run_ids: Collection[str], veil: Veil | None = None) -> dict[str, RunVersions]:
    """What each wrote, and the version that each input had when the run began; none where nobody is known to have
    written it before."""
    found: dict[str, RunVersions] = defaultdict(RunVersions)
    for row in conn.execute(_wrote(run_ids, veil)):
        found[row.by].outputs.append(_version(row))
    for row in conn.execute(_read(run_ids, veil)):
        found[row.by].inputs.append(_version(row))
    return found


def _wrote(run_ids: Collection[str], veil: Veil | None) -> Any:
    query = (
        select(*_COLUMNS, run.c.run_id.label("by"), run.c.run_id.label("writer"))
        .join(run, run.c.id == version.c.run_id)
        .join(dataset, dataset.c.id == version.c.dataset_id)
        .outerjoin(label, label.c.id == version.c.partition_id)
        .where(run.c.run_id.in_(run_ids))
        .order_by(dataset.c.namespace, dataset.c.name, label.c.text, version.c.written_at)
    )
    return _seen(query, veil)


def _read(run_ids: Collection[str], veil: Veil | None) -> Any:
    used, writer, before = dataset.alias(), run.alias(), version.alias()
    earlier = (
        select(before.c.id)
        .where(before.c.dataset_id == used.c.canonical_id)
        .where(before.c.written_at <= func.coalesce(run.c.started_at, run.c.first_event_at))
        .where(or_(before.c.run_id.is_(None), before.c.run_id != run.c.id))
        .order_by(before.c.written_at.desc(), before.c.tiebreak.desc())
        .limit(1)
    )
    if veil is not None:
        earlier = earlier.where(job_seen(veil, before.c.job_id))
    query = (
        select(*_COLUMNS, run.c.run_id.label("by"), writer.c.run_id.label("writer"))
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
    return _seen(query, veil)


_COLUMNS = (dataset.c.namespace, dataset.c.name, label.c.text.label("partition"), version.c.written_at)


def _seen(query: Any, veil: Veil | None) -> Any:
    """Both the dataset and whoever wrote it."""
    if veil is None:
        return query
    return query.where(veil.lets(dataset.c.namespace), job_seen(veil, version.c.job_id))


def _version(row: Row[Any]) -> VersionOf:
    return VersionOf(Dataset(row.namespace, row.name), from_micros(row.written_at), row.partition, row.writer)
