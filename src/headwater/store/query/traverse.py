"""Walking the graph, frontier by frontier.

Each level is one query: the frontier goes in as a list of ids, the neighbours come back once each, with the newest edge
that leads there. Nodes are never visited twice, so cycles end, diamonds do not multiply, and the level at which a
node first appears is its depth. The three grains differ only in the table they walk and in what a node is part of:
a node without a part (None) stands for the dataset as a whole and touches every part of it.

A hub (decision 20) lies in the middle of a hop: where a level leads to one, what lies behind it is on the same level.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    Table,
    and_,
    bindparam,
    func,
    null,
    select,
    union_all,
)

from headwater.model.answers import Direction, Grain
from headwater.model.lineage import Dependency
from headwater.store.access.visibility import Veil, dataset_seen, edge_seen, job_seen
from headwater.store.engine.arrays import id_list, id_table, is_postgresql, pair_table
from headwater.store.schema.tables import OPEN, column_edge, edge, lineage

UNLIMITED = 100
"""How deep an unlimited question goes. An answer that this cuts says so."""

Ref = tuple[int, int | None]
"""A node: dataset id, and the label id of its column or partition."""


@dataclass(frozen=True)
class Walk:
    """What to walk, and which way."""

    grain: Grain
    direction: Direction
    as_of: int | None = None
    weakest: Dependency = Dependency.UNKNOWN
    """For columns: edges weaker than this are not followed."""
    veil: Veil | None = None
    """What it hides is not walked to, and so not through."""


class Step(NamedTuple):
    """How a node was first reached."""

    depth: int
    edge_id: int


@dataclass(frozen=True)
class Reach:
    steps: Mapping[Ref, Step]
    truncated: bool
    in_cycle: bool
    to_hubs: Mapping[Ref, int]
    """For each hub that lies within a hop: the edge that leads to it."""


_TABLES: Mapping[Grain, Table] = {
    Grain.DATASET: edge,
    Grain.COLUMN: column_edge,
    Grain.PARTITION: lineage,
}
_PARTS = {
    Grain.DATASET: ("upstream_id", "downstream_id"),
    Grain.COLUMN: ("upstream_column_id", "downstream_column_id"),
    Grain.PARTITION: ("upstream_partition_id", "partition_id"),
}


def walk_table(grain: Grain) -> Table:
    return _TABLES[grain]


def reach(conn: Connection, walk: Walk, start: Collection[Ref], max_depth: int) -> Reach:
    """Every node within ``max_depth`` hops of ``start``, which is not part of the answer."""
    steps: dict[Ref, Step] = {}
    to_hubs: dict[Ref, int] = {}
    in_cycle = truncated = False
    frontier: Collection[Ref] = start
    # One level more than asked for, to know whether anything was cut.
    for depth in range(1, max_depth + 2):
        found: dict[Ref, Step] = {}
        for far, part, edge_id in _beyond_hubs(conn, walk, _neighbours(conn, walk, frontier), to_hubs):
            ref = (far, part)
            if ref in steps:
                continue
            if ref in start:
                in_cycle = True
            else:
                found.setdefault(ref, Step(depth, edge_id))
        if not found:
            break
        if depth > max_depth:
            truncated = True
            break
        steps |= found
        frontier = found.keys()
    return Reach(steps, truncated, in_cycle, to_hubs)


def is_hub(dataset_id: int) -> bool:
    return dataset_id < 0


def _beyond_hubs(
    conn: Connection, walk: Walk, neighbours: Iterable[Row[int, int | None, int]], to_hubs: dict[Ref, int]
) -> Iterator[Row[int, int | None, int]]:
    """The neighbours; instead of hubs those behind them. Behind one that was passed before, all is known already."""
    new: dict[Ref, int] = {}
    for row in neighbours:
        far, part, edge_id = row
        if not is_hub(far):
            yield row
        elif (far, part) not in to_hubs:
            new[far, part] = edge_id
    if new:
        to_hubs |= new
        yield from _neighbours(conn, walk, new.keys())


def hubs_between(
    conn: Connection, ids: Collection[int], as_of: int | None, veil: Veil | None
) -> dict[int, tuple[set[int], set[int]]]:
    """Hubs that lead from one of these datasets to one of them, with which: those on the way in, and on the way out."""
    ways = {direction: _hub_ends(conn, ids, direction, as_of, veil) for direction in Direction}
    into, out = ways[Direction.DOWNSTREAM], ways[Direction.UPSTREAM]
    return {hub: (into[hub], out[hub]) for hub in into.keys() & out.keys()}


def _hub_ends(
    conn: Connection, ids: Collection[int], direction: Direction, as_of: int | None, veil: Veil | None
) -> dict[int, set[int]]:
    near, far = ends(Grain.DATASET, direction)
    listed = id_table(is_postgresql(conn), "ids")
    query = (
        select(far.id, near.id).join(listed, listed.c.id == near.id).where(far.id < 0, holding(edge, as_of)).distinct()
    )
    if veil is not None:
        query = query.where(edge_seen(veil, edge))
    found: dict[int, set[int]] = defaultdict(set)
    for hub, dataset_id in conn.execute(query, {"ids": id_list(conn, ids)}):
        found[hub].add(dataset_id)
    return found


def _neighbours(conn: Connection, walk: Walk, frontier: Collection[Ref]) -> Iterable[Row[int, int | None, int]]:
    """Each neighbour of the frontier once, with the newest edge that leads there."""
    query = _level(walk.grain, walk.direction, walk.as_of is not None, walk.weakest, is_postgresql(conn), walk.veil)
    parted = [(i, part) for i, part in frontier if part is not None]
    parameters = {"whole": id_list(conn, [i for i, part in frontier if part is None])}
    if walk.grain is not Grain.DATASET:
        parameters |= {
            "parted": id_list(conn, [i for i, _ in parted]),
            "parted_part": id_list(conn, [part for _, part in parted]),
            "parents": id_list(conn, {i for i, _ in parted}),
        }
    if walk.as_of is not None:
        parameters["as_of"] = walk.as_of
    return conn.execute(query, parameters).all()


@lru_cache(maxsize=500)  # there is no end of veils
def _level(
    grain: Grain, direction: Direction, as_of: bool, weakest: Dependency, postgresql: bool, veil: Veil | None
) -> Select[*tuple[Any, ...]]:
    table = walk_table(grain)
    near, far = ends(grain, direction)
    holds = holding(table, bindparam("as_of") if as_of else None)
    if weakest is not Dependency.UNKNOWN:
        strong_enough = list(Dependency)[: list(Dependency).index(weakest) + 1]
        holds = and_(holds, table.c.dependency.in_(strong_enough))
    if veil is not None:
        holds = and_(holds, dataset_seen(veil, far.id), job_seen(veil, table.c.job_id))
    whole = id_table(postgresql, "whole")
    if grain is Grain.DATASET:
        joined = whole.join(table, near.id == whole.c.id)
        return (
            select(far.id.label("far"), null().label("part"), func.max(table.c.id).label("edge_id"))
            .select_from(joined)
            .where(holds)
            .group_by(far.id)
        )
    parted, parents = pair_table(postgresql, "parted"), id_table(postgresql, "parents")
    columns = (far.id.label("far"), far.part.label("part"), table.c.id.label("edge_id"))
    matches = union_all(
        # A part matches itself, and edges that concern the dataset as a whole ...
        select(*columns)
        .select_from(parted.join(table, and_(near.id == parted.c.id, near.part == parted.c.part)))
        .where(holds),
        select(*columns)
        .select_from(parents.join(table, and_(near.id == parents.c.id, near.part.is_(None))))
        .where(holds),
        # ... and the dataset as a whole matches every part.
        select(*columns).select_from(whole.join(table, near.id == whole.c.id)).where(holds),
    ).subquery()
    return select(matches.c.far, matches.c.part, func.max(matches.c.edge_id).label("edge_id")).group_by(
        matches.c.far, matches.c.part
    )


@dataclass(frozen=True)
class End:
    id: ColumnElement[int]
    part: ColumnElement[int]


def ends(grain: Grain, direction: Direction) -> tuple[End, End]:
    """The near and the far end of an edge, seen in the direction of the walk."""
    table = walk_table(grain)
    upstream_part, downstream_part = _PARTS[grain]
    upstream = End(table.c.upstream_id, table.c[upstream_part])
    downstream = End(table.c.downstream_id, table.c[downstream_part])
    return (downstream, upstream) if direction is Direction.UPSTREAM else (upstream, downstream)


def holding(table: Table, as_of: Any) -> ColumnElement[bool]:
    """The rows that hold now, or held at ``as_of``."""
    if as_of is None:
        return table.c.valid_to == OPEN
    start = table.c.consumed_at if table is lineage else table.c.valid_from
    return and_(start <= as_of, table.c.valid_to > as_of)
