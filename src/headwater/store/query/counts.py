"""How much there is: of everything, by namespace, and what is known of how each dataset comes about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from sqlalchemy import ColumnElement, FromClause, distinct, func, select

from headwater.formats.openlineage.facet_names import COVERAGE_FACET
from headwater.model.lineage import Dependency
from headwater.model.names import Dataset
from headwater.model.pages import Counts, Coverage, NamespaceSummary
from headwater.store.access.view import View
from headwater.store.query.cursors import Position, beyond
from headwater.store.query.lookup import is_known
from headwater.store.schema.stored_rows import StoredDataset
from headwater.store.schema.tables import OPEN


def counts(view: View) -> Counts:
    tables = view.tables
    dataset, edge, column_edge = tables.dataset, tables.edge, tables.column_edge

    def number(table: FromClause, *where: ColumnElement[bool]) -> int:
        return int(view.scalar(select(func.count()).select_from(table).where(*where)) or 0)

    return Counts(
        datasets=number(dataset, dataset.c.canonical_id == dataset.c.id, dataset.c.is_job == 0),
        jobs=number(tables.job),
        runs=number(tables.run),
        events=number(tables.event),
        edges=number(edge, edge.c.valid_to == OPEN),
        column_edges=number(column_edge, column_edge.c.valid_to == OPEN),
    )


def namespaces(view: View) -> list[NamespaceSummary]:
    """By name, those of jobs and of datasets."""
    dataset, job = view.tables.dataset, view.tables.job
    known = (dataset.c.canonical_id == dataset.c.id, dataset.c.is_job == 0, is_known(view.tables))
    of_datasets = select(dataset.c.namespace, func.count().label("many")).where(*known).group_by(dataset.c.namespace)
    of_jobs = select(job.c.namespace, func.count().label("many")).group_by(job.c.namespace)
    found: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for counter, query in zip(found, (of_datasets, of_jobs), strict=True):
        for row in view.execute(query):
            counter[row.namespace] += row.many
    datasets, jobs = found
    return [NamespaceSummary(name, datasets[name], jobs[name]) for name in sorted(datasets.keys() | jobs.keys())]


def coverage(
    view: View,
    *,
    namespace: str | None = None,
    after: Position | None = None,
    limit: int = 100,
) -> list[Coverage]:
    """Of datasets that something flows into, by name."""
    dataset, edge = view.tables.dataset, view.tables.edge
    made = select(edge.c.downstream_id).where(edge.c.valid_to == OPEN)
    query = select(dataset).where(
        dataset.c.canonical_id == dataset.c.id,
        dataset.c.is_job == 0,
        dataset.c.id.in_(made),
    )
    if namespace is not None:
        query = query.where(dataset.c.namespace == namespace)
    if after is not None:
        query = query.where(beyond(after, dataset.c.namespace, dataset.c.name))
    return coverage_of(view, view.execute(query.order_by(dataset.c.namespace, dataset.c.name).limit(limit)).all())


def coverage_of(view: View, rows: Sequence[StoredDataset]) -> list[Coverage]:
    """Of the datasets of these rows."""
    edge, column_edge = view.tables.edge, view.tables.column_edge
    ids = [row.id for row in rows]
    upstreams = _upstreams(view, edge, ids)
    unknown = _upstreams(view, column_edge, ids, column_edge.c.dependency == Dependency.UNKNOWN)
    return [_covered(view, row, upstreams[row.id], unknown[row.id]) for row in rows]


def _upstreams(view: View, table: FromClause, ids: list[int], *where: ColumnElement[bool]) -> Counter[int]:
    listed = view.id_table("ids")
    query = (
        select(table.c.downstream_id, func.count(distinct(table.c.upstream_id)).label("many"))
        .join(listed, listed.c.id == table.c.downstream_id)
        .where(table.c.valid_to == OPEN, *where)
        .group_by(table.c.downstream_id)
    )
    return Counter({row.downstream_id: row.many for row in view.execute(query, {"ids": view.id_list(ids)})})


def _covered(view: View, row: StoredDataset, upstreams: int, unknown: int) -> Coverage:
    gaps = _coverage_facet(row).get("gaps")
    # What a producer says in its own words may name what is hidden.
    shown = gaps if view.is_everything and isinstance(gaps, list) else []
    return Coverage(
        dataset=Dataset(row.namespace, row.name),
        upstreams=upstreams,
        unknown=unknown,
        complete=stated_complete(row),
        gaps=tuple(gap for gap in shown if isinstance(gap, dict)),
    )


def stated_complete(row: StoredDataset) -> bool | None:
    """Whether its producer says that all of how the dataset comes about is known; None where it said nothing."""
    complete = _coverage_facet(row).get("complete")
    return complete if isinstance(complete, bool) else None


def _coverage_facet(row: StoredDataset) -> Mapping[str, object]:
    stated = row.facets.get(COVERAGE_FACET)
    return stated[2] if stated is not None and isinstance(stated[2], dict) else {}
