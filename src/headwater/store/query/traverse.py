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
from typing import NamedTuple

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    FromClause,
    Row,
    Select,
    and_,
    bindparam,
    func,
    null,
    select,
    union_all,
)

from headwater.model.answers import Direction, Grain
from headwater.model.lineage import Dependency
from headwater.store.access.view import View, VisibleTables
from headwater.store.engine.dialect import Dialect, IdList
from headwater.store.schema.tables import OPEN

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


_PARTS = {
    Grain.DATASET: ("upstream_id", "downstream_id"),
    Grain.COLUMN: ("upstream_column_id", "downstream_column_id"),
    Grain.PARTITION: ("upstream_partition_id", "partition_id"),
}


def walk_table(tables: VisibleTables, grain: Grain) -> FromClause:
    if grain is Grain.DATASET:
        return tables.edge
    return tables.column_edge if grain is Grain.COLUMN else tables.lineage


def reach(view: View, walk: Walk, start: Collection[Ref], max_depth: int) -> Reach:
    """Every node within ``max_depth`` hops of ``start``, which is not part of the answer."""
    steps: dict[Ref, Step] = {}
    to_hubs: dict[Ref, int] = {}
    in_cycle = truncated = False
    frontier: Collection[Ref] = start
    # One level more than asked for, to know whether anything was cut.
    for depth in range(1, max_depth + 2):
        found: dict[Ref, Step] = {}
        for far, part, edge_id in _beyond_hubs(view, walk, _neighbours(view, walk, frontier), to_hubs):
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
    view: View, walk: Walk, neighbours: Iterable[Row[int, int | None, int]], to_hubs: dict[Ref, int]
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
        yield from _neighbours(view, walk, new.keys())


def hubs_between(view: View, ids: Collection[int], as_of: int | None) -> dict[int, tuple[set[int], set[int]]]:
    """Hubs that lead from one of these datasets to one of them, with which: those on the way in, and on the way out."""
    ways = {direction: _hub_ends(view, ids, direction, as_of) for direction in Direction}
    into, out = ways[Direction.DOWNSTREAM], ways[Direction.UPSTREAM]
    return {hub: (into[hub], out[hub]) for hub in into.keys() & out.keys()}


def _hub_ends(view: View, ids: Collection[int], direction: Direction, as_of: int | None) -> dict[int, set[int]]:
    edge = view.tables.edge
    near, far = ends(view.tables, Grain.DATASET, direction)
    listed = view.id_table("ids")
    query = (
        select(far.id, near.id).join(listed, listed.c.id == near.id).where(far.id < 0, holding(edge, as_of)).distinct()
    )
    found: dict[int, set[int]] = defaultdict(set)
    for hub, dataset_id in view.execute(query, {"ids": view.id_list(ids)}):
        found[hub].add(dataset_id)
    return found


def _neighbours(view: View, walk: Walk, frontier: Collection[Ref]) -> Iterable[Row[int, int | None, int]]:
    """Each neighbour of the frontier once, with the newest edge that leads there."""
    query = _level(view.tables, walk.grain, walk.direction, walk.as_of is not None, walk.weakest, view.dialect)
    parted = [(i, part) for i, part in frontier if part is not None]
    parameters: dict[str, IdList | int] = {"whole": view.id_list([i for i, part in frontier if part is None])}
    if walk.grain is not Grain.DATASET:
        parameters |= {
            "parted": view.id_list([i for i, _ in parted]),
            "parted_part": view.id_list([part for _, part in parted]),
            "parents": view.id_list({i for i, _ in parted}),
        }
    if walk.as_of is not None:
        parameters["as_of"] = walk.as_of
    return view.execute(query, parameters).all()


@lru_cache(maxsize=500)
def _level(
    tables: VisibleTables, grain: Grain, direction: Direction, as_of: bool, weakest: Dependency, dialect: Dialect
) -> Select[int, int | None, int]:
    table = walk_table(tables, grain)
    near, far = ends(tables, grain, direction)
    holds = holding(table, bindparam("as_of") if as_of else None)
    if weakest is not Dependency.UNKNOWN:
        strong_enough = list(Dependency)[: list(Dependency).index(weakest) + 1]
        holds = and_(holds, table.c.dependency.in_(strong_enough))
    whole = dialect.id_table("whole")
    if grain is Grain.DATASET:
        joined = whole.join(table, near.id == whole.c.id)
        return (
            select(far.id.label("far"), null().label("part"), func.max(table.c.id).label("edge_id"))
            .select_from(joined)
            .where(holds)
            .group_by(far.id)
        )
    parted, parents = dialect.pair_table("parted"), dialect.id_table("parents")
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


def ends(tables: VisibleTables, grain: Grain, direction: Direction) -> tuple[End, End]:
    """The near and the far end of an edge, seen in the direction of the walk."""
    table = walk_table(tables, grain)
    upstream_part, downstream_part = _PARTS[grain]
    upstream = End(table.c.upstream_id, table.c[upstream_part])
    downstream = End(table.c.downstream_id, table.c[downstream_part])
    return (downstream, upstream) if direction is Direction.UPSTREAM else (upstream, downstream)


def holding(table: FromClause, as_of: int | BindParameter[int] | None) -> ColumnElement[bool]:
    """The rows that hold now, or held at ``as_of``."""
    if as_of is None:
        return table.c.valid_to == OPEN
    start = table.c.consumed_at if "consumed_at" in table.c else table.c.valid_from
    return and_(start <= as_of, table.c.valid_to > as_of)
