"""The neighbourhood of a dataset: some hops each way, a limited number of neighbours per node, and every edge between.

:mod:`surroundings` draws all there is. Here a hub may have ten thousand neighbours: they are counted and cut by the
database, and what a card counts says how many are not shown.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from dataclasses import replace

from sqlalchemy import ColumnElement, and_, distinct, func, select

from headwater.model.answers import Direction, Grain
from headwater.model.lineage import EdgeType, Origin
from headwater.model.names import Endpoint, Job
from headwater.model.picture import Link, Neighbourhood
from headwater.store.access.view import View, VisibleTables
from headwater.store.query.picture.cards import cards
from headwater.store.query.picture.column_links import links_between
from headwater.store.query.picture.subgraph import job_names, names_of
from headwater.store.query.traverse import Walk, ends, holding, is_hub
from headwater.store.schema.stored_rows import StoredEdge
from headwater.store.schema.tables import from_micros

MOST_NODES = 1_000
"""Each way. What was not come to is among the neighbours that the cards count."""
_ORIGINS = [str(origin) for origin in Origin]


def neighbourhood(
    view: View,
    start: int,
    *,
    upstream: int,
    downstream: int,
    limit: int,
    columns: bool = False,
    as_of: int | None,
) -> Neighbourhood:
    """Of the dataset of the number ``start``; ``limit``: of each node, on each side, the first by name. ``columns``:
    with those of the nodes, and every edge between them."""
    up = Walk(Grain.DATASET, Direction.UPSTREAM, as_of)
    down = replace(up, direction=Direction.DOWNSTREAM)
    distance = {start: 0}
    for walk, hops in ((up, upstream), (down, downstream)):
        for number, depth in _within(view, walk, start, hops, limit):
            distance[number] = min(depth, distance.get(number, depth))
    upstreams, downstreams = _degrees(view, up, distance), _degrees(view, down, distance)
    shown = cards(view, upstreams, downstreams, with_schema=columns, as_of=as_of)
    order = sorted(distance, key=lambda number: (distance[number], *_order(shown[number].endpoint)))
    return Neighbourhood(
        nodes=tuple(shown[number] for number in order),
        edges=_links(view, distance, as_of),
        column_edges=links_between(view, distance, as_of=as_of) if columns else None,
        as_of=None if as_of is None else from_micros(as_of),
    )


def _order(endpoint: Endpoint) -> tuple[str, str, bool]:
    return endpoint.namespace, endpoint.name, isinstance(endpoint, Job)


def _within(view: View, walk: Walk, start: int, hops: int, limit: int) -> Iterator[tuple[int, int]]:
    """What is found, with the hops it took."""
    found, frontier = {start}, [start]
    for depth in range(1, hops + 1):
        near = _nearest(view, walk, frontier, limit)
        hubs = [number for number in near if is_hub(number)]
        if hubs:  # what is behind them is no further away
            near = [*hubs, *dict.fromkeys([*near, *_nearest(view, walk, hubs, limit)])]
        new = [number for number in dict.fromkeys(near) if number not in found][: MOST_NODES - len(found)]
        found.update(new)
        yield from ((number, depth) for number in new)
        frontier = [number for number in new if not is_hub(number)]


def _nearest(view: View, walk: Walk, frontier: Collection[int], limit: int) -> list[int]:
    """Of each of the frontier the first neighbours by name, each once."""
    dataset = view.tables.dataset
    near, far = ends(view.tables, walk.grain, walk.direction)
    listed = view.id_table("ids")
    pairs = (
        select(near.id.label("near"), far.id.label("far"))
        .join(listed, listed.c.id == near.id)
        .where(_neighbours(view.tables, walk))
        .distinct()
        .subquery()
    )
    by_name = (dataset.c.namespace, dataset.c.name, dataset.c.is_job)
    place = func.row_number().over(partition_by=pairs.c.near, order_by=by_name)
    ranked = select(pairs.c.far, place.label("place")).join(dataset, dataset.c.id == pairs.c.far).subquery()
    query = (
        select(ranked.c.far)
        .join(dataset, dataset.c.id == ranked.c.far)
        .where(ranked.c.place <= limit)
        .order_by(*by_name)
    )
    return list(dict.fromkeys(view.scalars(query, {"ids": view.id_list(frontier)})))


def _degrees(view: View, walk: Walk, ids: Collection[int]) -> Counter[int]:
    near, far = ends(view.tables, walk.grain, walk.direction)
    listed = view.id_table("ids")
    query = (
        select(near.id.label("near"), func.count(distinct(far.id)).label("many"))
        .join(listed, listed.c.id == near.id)
        .where(_neighbours(view.tables, walk))
        .group_by(near.id)
    )
    counted: Counter[int] = Counter(dict.fromkeys(ids, 0))
    counted.update({row.near: row.many for row in view.execute(query, {"ids": view.id_list(ids)})})
    return counted


def _neighbours(tables: VisibleTables, walk: Walk) -> ColumnElement[bool]:
    """Of edges: that they hold, and lead to another node."""
    near, far = ends(tables, walk.grain, walk.direction)
    return and_(holding(tables.edge, walk.as_of), far.id != near.id)


def _links(view: View, ids: Collection[int], as_of: int | None) -> tuple[Link, ...]:
    edge = view.tables.edge
    listed = view.id_table("ids")
    query = (
        select(edge)
        .join(listed, listed.c.id == edge.c.downstream_id)
        # Not the bare column, whose index would have each node tried with each other.
        .where(holding(edge, as_of), (edge.c.upstream_id + 0).in_(select(view.id_table("ids").c.id)))
    )
    pairs: dict[tuple[int, int], list[StoredEdge]] = defaultdict(list)
    for row in view.execute(query, {"ids": view.id_list(ids)}):
        pairs[row.upstream_id, row.downstream_id].append(row)
    jobs = job_names(view, {row.job_id for rows in pairs.values() for row in rows if row.job_id is not None})
    names = names_of(view, ids)
    links = [_link(names[upstream], names[downstream], rows, jobs) for (upstream, downstream), rows in pairs.items()]
    return tuple(sorted(links, key=lambda link: (*_order(link.downstream), *_order(link.upstream))))


def _link(upstream: Endpoint, downstream: Endpoint, rows: list[StoredEdge], jobs: dict[int, Job]) -> Link:
    strongest = min(rows, key=lambda row: (_ORIGINS.index(row.origin), -row.valid_from, row.type))
    return Link(
        upstream=upstream,
        downstream=downstream,
        jobs=tuple(sorted({jobs[row.job_id] for row in rows if row.job_id is not None})),
        type=EdgeType(strongest.type),
        origin=Origin(strongest.origin),
    )
