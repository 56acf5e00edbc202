"""The column edges of one dataset: those that lead into it, column by column, then those that lead out of it. And those
between several datasets, all at once."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple, Protocol

from sqlalchemy import func, select

from headwater.formats.openlineage.flows import edge_type
from headwater.model.answers import Direction, Grain
from headwater.model.lineage import Dependency
from headwater.model.names import Endpoint, Job
from headwater.model.picture import ColumnLink
from headwater.store.access.view import View
from headwater.store.query.closure import endpoint_of
from headwater.store.query.cursors import Position, beyond
from headwater.store.query.picture.subgraph import names_of
from headwater.store.query.traverse import ends, holding
from headwater.store.schema.stored_rows import StoredDataset

KINDS = (int, str, str, str, str, str, str, str, str, int)
"""Of what a position is made: into or out of, the dataset's own column, the other's name and column, the job, how, and
a number where all of that is equal."""
MOST_BETWEEN = 10_000
"""What is more than that is asked for dataset by dataset, and page by page."""
_SIDES = (Direction.UPSTREAM, Direction.DOWNSTREAM)
_SAME = ("dependency", "subtype", "masking", "logic")


class Placed(NamedTuple):
    link: ColumnLink
    position: Position


class _LinkRow(Protocol):
    job_namespace: str
    job_name: str | None
    dependency: str
    subtype: str | None
    masking: int
    logic: str | None


class _PlacedRow(_LinkRow, Protocol):
    """An edge of one dataset, whose first columns are its place in the list."""

    namespace: str
    name: str
    is_job: int
    own_column: str | None
    other_column: str | None

    def __getitem__(self, places: slice) -> Position: ...


def column_links(
    view: View, owner: StoredDataset, *, as_of: int | None, after: Position | None, limit: int
) -> list[Placed]:
    found: list[Placed] = []
    for side, direction in enumerate(_SIDES):
        if after is not None and side < after[0]:
            continue
        passed = after[1:] if after is not None and side == after[0] else None
        left = limit - len(found)
        if left > 0:
            rows = _rows(view, owner.id, direction, as_of, passed, left)
            found += [Placed(_link(row, owner, direction), (side, *row[: len(KINDS) - 1])) for row in rows]
    return found


def _rows(
    view: View,
    owner: int,
    direction: Direction,
    as_of: int | None,
    passed: Position | None,
    limit: int,
) -> list[_PlacedRow]:
    dataset, job, column_edge, label = view.tables.dataset, view.tables.job, view.tables.column_edge, view.tables.label
    near, far = ends(view.tables, Grain.COLUMN, direction)
    mine, theirs = label.alias(), label.alias()
    told = [column_edge.c[name] for name in _SAME]
    # One job may say the same both by a run and by a declaration: that is one link.
    number = func.min(column_edge.c.id)
    grouped = (
        mine.c.text, theirs.c.text, dataset.c.namespace, dataset.c.name, dataset.c.is_job, job.c.namespace, job.c.name,
        *told,
    )  # fmt: skip
    query = (
        select(
            func.coalesce(mine.c.text, "").label("own_place"),
            dataset.c.namespace,
            dataset.c.name,
            func.coalesce(theirs.c.text, "").label("other_place"),
            func.coalesce(job.c.namespace, "").label("job_place"),
            func.coalesce(job.c.name, "").label("job_name_place"),
            column_edge.c.dependency,
            func.coalesce(column_edge.c.subtype, "").label("subtype_place"),
            number.label("number"),
            mine.c.text.label("own_column"),
            theirs.c.text.label("other_column"),
            dataset.c.is_job,
            job.c.namespace.label("job_namespace"),
            job.c.name.label("job_name"),
            *told[1:],
        )
        .join(dataset, dataset.c.id == far.id)
        .outerjoin(mine, mine.c.id == near.part)
        .outerjoin(theirs, theirs.c.id == far.part)
        .outerjoin(job, job.c.id == column_edge.c.job_id)
        .where(near.id == owner, holding(column_edge, as_of))
        .group_by(*grouped)
    )
    if direction is Direction.DOWNSTREAM:
        query = query.where(far.id != near.id)  # of its own columns it is told on the way in
    every = query.subquery()
    places = list(every.c)[: len(KINDS) - 1]
    rows = select(every).order_by(*places).limit(limit)
    return list(view.execute(rows if passed is None else rows.where(beyond(passed, *places))))


def links_between(view: View, ids: Collection[int], *, as_of: int | None) -> tuple[ColumnLink, ...] | None:
    """Every column edge from one of these datasets to one of them; None if they are too many."""
    job, column_edge, label = view.tables.job, view.tables.column_edge, view.tables.label
    listed = view.id_table("ids")
    source, target = label.alias(), label.alias()
    query = (
        select(
            column_edge.c.upstream_id,
            source.c.text.label("upstream_column"),
            column_edge.c.downstream_id,
            target.c.text.label("downstream_column"),
            job.c.namespace.label("job_namespace"),
            job.c.name.label("job_name"),
            *(column_edge.c[name] for name in _SAME),
        )
        .join(listed, listed.c.id == column_edge.c.downstream_id)
        .outerjoin(source, source.c.id == column_edge.c.upstream_column_id)
        .outerjoin(target, target.c.id == column_edge.c.downstream_column_id)
        .outerjoin(job, job.c.id == column_edge.c.job_id)
        .where(
            holding(column_edge, as_of),
            # Not the bare column, whose index would have each dataset tried with each other.
            (column_edge.c.upstream_id + 0).in_(select(view.id_table("ids").c.id)),
        )
        .distinct()  # as above, what is said twice is one
        .limit(MOST_BETWEEN + 1)
    )
    rows = view.execute(query, {"ids": view.id_list(ids)}).all()
    if len(rows) > MOST_BETWEEN:
        return None
    names = names_of(view, ids)
    links = [
        _column_link(
            row, (names[row.upstream_id], row.upstream_column), (names[row.downstream_id], row.downstream_column)
        )
        for row in rows
    ]
    return tuple(sorted(links, key=_order))


def _order(link: ColumnLink) -> tuple[object, ...]:
    ends = ((link.downstream, link.downstream_column), (link.upstream, link.upstream_column))
    named = ((end.namespace, end.name, isinstance(end, Job), column or "") for end, column in ends)
    by = ("", "") if link.job is None else (link.job.namespace, link.job.name)
    return *named, by, link.dependency, link.type or "", link.logic or "", link.masking


def _link(row: _PlacedRow, owner: StoredDataset, direction: Direction) -> ColumnLink:
    own = endpoint_of(owner.namespace, owner.name, owner.is_job), row.own_column
    other = endpoint_of(row.namespace, row.name, row.is_job), row.other_column
    return _column_link(row, other, own) if direction is Direction.UPSTREAM else _column_link(row, own, other)


_End = tuple[Endpoint, str | None]


def _column_link(row: _LinkRow, upstream: _End, downstream: _End) -> ColumnLink:
    dependency = Dependency(row.dependency)
    return ColumnLink(
        *upstream,
        *downstream,
        job=Job(row.job_namespace, row.job_name) if row.job_name is not None else None,
        dependency=dependency,
        type=row.subtype,
        transformation=None if dependency is Dependency.UNKNOWN else edge_type([row.subtype]),
        masking=bool(row.masking),
        logic=row.logic,
    )
