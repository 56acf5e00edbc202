"""How much there is: of everything, by namespace, and what is known of how each dataset comes about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, distinct, func, select

from headwater.formats.openlineage.facet_names import COVERAGE_FACET
from headwater.model.lineage import Dependency
from headwater.model.names import Dataset
from headwater.model.pages import Counts, Coverage, NamespaceSummary
from headwater.store.access.visibility import Veil, edge_seen
from headwater.store.engine.arrays import id_list, id_table, is_postgresql
from headwater.store.query.cursors import Position, beyond
from headwater.store.query.lookup import is_known
from headwater.store.schema.tables import OPEN, column_edge, dataset, edge, event, job, run


def counts(conn: Connection) -> Counts:
    def number(table: Any, *where: Any) -> int:
        return int(conn.scalar(select(func.count()).select_from(table).where(*where)) or 0)

    return Counts(
        datasets=number(dataset, dataset.c.canonical_id == dataset.c.id, dataset.c.is_job == 0),
        jobs=number(job),
        runs=number(run),
        events=number(event),
        edges=number(edge, edge.c.valid_to == OPEN),
        column_edges=number(column_edge, column_edge.c.valid_to == OPEN),
    )


def namespaces(conn: Connection, veil: Veil | None = None) -> list[NamespaceSummary]:
    """By name, those of jobs and of datasets."""
    known = (dataset.c.canonical_id == dataset.c.id, dataset.c.is_job == 0, is_known(veil))
    of_datasets = select(dataset.c.namespace, func.count().label("many")).where(*known).group_by(dataset.c.namespace)
    of_jobs = select(job.c.namespace, func.count().label("many")).group_by(job.c.namespace)
    found: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for counter, query in zip(found, (of_datasets, of_jobs), strict=True):
        for row in conn.execute(query):
            if veil is None or veil.sees(row.namespace):
                counter[row.namespace] += row.many
    datasets, jobs = found
    return [NamespaceSummary(name, datasets[name], jobs[name]) for name in sorted(datasets.keys() | jobs.keys())]


def coverage(
    conn: Connection,
    *,
    namespace: str | None = None,
    after: Position | None = None,
    limit: int = 100,
    veil: Veil | None = None,
) -> list[Coverage]:
    """Of datasets that something flows into, by name."""
    made = select(edge.c.downstream_id).where(edge.c.valid_to == OPEN)
    query = select(dataset).where(
        dataset.c.canonical_id == dataset.c.id,
        dataset.c.is_job == 0,
        dataset.c.id.in_(made if veil is None else made.where(edge_seen(veil, edge))),
    )
    if veil is not None:
        query = query.where(veil.lets(dataset.c.namespace))
    if namespace is not None:
        query = query.where(dataset.c.namespace == namespace)
    if after is not None:
        query = query.where(beyond(after, dataset.c.namespace, dataset.c.name))
    return coverage_of(conn, conn.execute(query.order_by(dataset.c.namespace, dataset.c.name).limit(limit)).all(), veil)


def coverage_of(conn: Connection, rows: Sequence[Row[Any]], veil: Veil | None = None) -> list[Coverage]:
    """Of the datasets of these rows."""
    ids = [row.id for row in rows]
    upstreams = _upstreams(conn, edge, ids, veil)
    unknown = _upstreams(conn, column_edge, ids, veil, column_edge.c.dependency == Dependency.UNKNOWN)
    return [_covered(row, upstreams[row.id], unknown[row.id], veil) for row in rows]


def _upstreams(conn: Connection, table: Any, ids: list[int], veil: Veil | None, *where: Any) -> Counter[int]:
    listed = id_table(is_postgresql(conn), "ids")
    query = (
        select(table.c.downstream_id, func.count(distinct(table.c.upstream_id)).label("many"))
        .join(listed, listed.c.id == table.c.downstream_id)
        .where(table.c.valid_to == OPEN, *where)
        .group_by(table.c.downstream_id)
    )
    if veil is not None:
        query = query.where(edge_seen(veil, table))
    return Counter({row.downstream_id: row.many for row in conn.execute(query, {"ids": id_list(conn, ids)})})


def _covered(row: Row[Any], upstreams: int, unknown: int, veil: Veil | None) -> Coverage:
    gaps = _stated(row).get("gaps")
    # What a producer says in its own words may name what is hidden.
    shown = gaps if veil is None and isinstance(gaps, list) else []
    return Coverage(
        dataset=Dataset(row.namespace, row.name),
        upstreams=upstreams,
        unknown=unknown,
        complete=stated_complete(row),
        gaps=tuple(gap for gap in shown if isinstance(gap, dict)),
    )


def stated_complete(row: Row[Any]) -> bool | None:
    """Whether its producer says that all of how the dataset comes about is known; None where it said nothing."""
    complete = _stated(row).get("complete")
    return complete if isinstance(complete, bool) else None


def _stated(row: Row[Any]) -> Mapping[str, Any]:
    stated = row.facets.get(COVERAGE_FACET)
    return stated[2] if stated is not None and isinstance(stated[2], dict) else {}
