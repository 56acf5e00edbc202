"""Which part of a store an export is of, its datasets page by page, and where it leads back to itself."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVarTuple

import numpy as np
from sqlalchemy import ColumnElement, FromClause, Select, select

from headwater.errors import QueryError
from headwater.formats.wia.cycles import Numbers, cycle_path, strong_components
from headwater.model.answers import Direction, Grain
from headwater.store.access.view import View
from headwater.store.query.lookup import is_known
from headwater.store.query.picture.estate_map import was_known
from headwater.store.query.traverse import UNLIMITED, Walk, holding, hubs_between, reach
from headwater.store.schema.stored_rows import StoredDataset

_AT_ONCE = 500
Columns = TypeVarTuple("Columns")


@dataclass(frozen=True)
class ExportScope:
    ids: frozenset[int] | None = None
    """The datasets; None means all."""
    as_of: int | None = None

    def has(self, dataset_id: int) -> bool:
        return self.ids is None or dataset_id in self.ids

    def held(self, query: Select[*Columns], table: FromClause) -> Select[*Columns]:
        """Of rows of ``edge``, ``column_edge`` or ``lineage``: those that hold at its time."""
        return query.where(holding(table, self.as_of))


def scope_around(
    view: View,
    starts: Collection[int],
    *,
    directions: Collection[Direction],
    depth: int | None,
    as_of: int | None,
) -> ExportScope:
    """The datasets within ``depth`` hops of ``starts``, and these; everything where there are no starts."""
    if depth is not None and depth < 1:
        raise QueryError(f"The depth must be 1 or more, not {depth}.")
    if not starts:
        if depth is not None:
            raise QueryError("A depth is counted from a dataset: name one.")
        return ExportScope(None, as_of)
    found = set(starts)
    for direction in directions:
        walk = Walk(Grain.DATASET, direction, as_of)
        steps = reach(view, walk, {(start, None) for start in starts}, min(depth or UNLIMITED, UNLIMITED)).steps
        found |= {dataset_id for dataset_id, _ in steps}
    found |= hubs_between(view, found, as_of).keys()
    return ExportScope(frozenset(found), as_of)


def pages(view: View, scope: ExportScope, *columns: ColumnElement[object]) -> Iterator[Sequence[StoredDataset]]:
    """The datasets of a scope, and jobs that lineage leads to or from, in the order of their numbers.

    ``columns``: those of theirs to read, by default all; their facets are long.
    """
    dataset = view.tables.dataset
    query = select(*(columns or dataset.c)).order_by(dataset.c.id)
    query = query.where(dataset.c.canonical_id == dataset.c.id, is_known(view.tables))
    if scope.as_of is not None:
        query = query.where(was_known(view.tables, scope.as_of))
    if scope.ids is not None:
        ids = sorted(scope.ids)
        for start in range(0, len(ids), _AT_ONCE):
            yield view.execute(query.where(view.one_of(dataset.c.id, ids[start : start + _AT_ONCE]))).all()
        return
    last = -(2**63)  # hubs are below zero
    while page := view.execute(query.where(dataset.c.id > last).limit(_AT_ONCE)).all():
        last = page[-1].id
        yield page


def cycles(view: View, scope: ExportScope) -> list[tuple[list[int], list[int]]]:
    """Of each set of datasets that all lead to each other: these, and one way round."""
    sources, targets = _ends(view, scope)
    if not len(sources):
        return []
    least = int(min(sources.min(), targets.min()))  # hubs are below zero, and what is counted here is not
    sources, targets = sources - least, targets - least
    found = strong_components(sources, targets, int(max(sources.max(), targets.max())) + 1)
    paths = [cycle_path(knot, sources, targets) for knot in found]
    return [
        ([node + least for node in knot], [node + least for node in path])
        for knot, path in zip(found, paths, strict=True)
    ]


def _ends(view: View, scope: ExportScope) -> tuple[Numbers, Numbers]:
    edge = view.tables.edge
    query = scope.held(select(edge.c.upstream_id, edge.c.downstream_id), edge)
    with view.execute(query.execution_options(yield_per=10_000)) as rows:
        flat = np.fromiter((end for row in rows for end in row), dtype=np.int64).reshape(-1, 2)
    if scope.ids is not None:
        inside = np.isin(flat, np.fromiter(scope.ids, dtype=np.int64)).all(axis=1)
        flat = flat[inside]
    return flat[:, 0], flat[:, 1]
