"""Datasets that lead back to themselves, version by version: which a format that knows no cycles can hold.

A version is a dataset as one moment's writes left it. What a write read is the version before: times only ever grow
along an edge, so nothing leads back.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection

from sqlalchemy import select

from headwater.store.access.view import View
from headwater.store.exchange.documents import BEFORE, StatedEdge
from headwater.store.exchange.scope import ExportScope
from headwater.store.query.traverse import is_hub

_STATEMENT_COLUMNS = ("upstream_id", "job_id", "run_id", "origin", "basis", "type", "transformation")


class VersionNodes:
    def __init__(self, view: View, scope: ExportScope, ids: Collection[int]) -> None:
        """Of the datasets ``ids``: the versions that hold, and those that they were made of."""
        self._written: dict[int, list[int]] = {dataset_id: [] for dataset_id in ids}
        self.moments: dict[int, set[int]] = {dataset_id: set() for dataset_id in ids}
        """By dataset: the versions that are nodes."""
        self.edges: dict[int, list[tuple[int, int | None, StatedEdge]]] = {dataset_id: [] for dataset_id in ids}
        """By target: its moment, that of the source where it too has versions, and the row of ``lineage``."""
        if ids:
            self._read_moments(view, scope, ids)
            self._read_edges(view, scope, ids)

    def __contains__(self, dataset_id: int) -> bool:
        return dataset_id in self.moments

    def newest(self, dataset_id: int) -> int:
        """The version that stands for the dataset where no version is meant."""
        return max(self.moments[dataset_id])

    def before(self, dataset_id: int, moment: int) -> int:
        """Of the nodes: the last before ``moment``, else the first."""
        earlier = [each for each in self.moments[dataset_id] if each < moment]
        return max(earlier, default=min(self.moments[dataset_id]))

    def _read_moments(self, view: View, scope: ExportScope, ids: Collection[int]) -> None:
        version = view.tables.version
        query = select(version.c.dataset_id, version.c.written_at).distinct()
        query = query.where(view.one_of(version.c.dataset_id, ids)).order_by(version.c.written_at)
        if scope.as_of is not None:
            query = query.where(version.c.written_at <= scope.as_of)
        for row in view.execute(query):
            self._written[row.dataset_id].append(row.written_at)

    def _read_edges(self, view: View, scope: ExportScope, ids: Collection[int]) -> None:
        lineage = view.tables.lineage
        said = (lineage.c[name] for name in ("downstream_id", "consumed_at", *_STATEMENT_COLUMNS))
        query = scope.held(select(*said).distinct(), lineage)
        query = query.where(view.one_of(lineage.c.downstream_id, ids))
        for row in view.execute(query.order_by(lineage.c.downstream_id, lineage.c.consumed_at, lineage.c.upstream_id)):
            if not scope.has(row.upstream_id):
                continue
            source: int | None = None
            if is_hub(row.upstream_id):  # it passes on what the same write read
                source = row.consumed_at if row.upstream_id in self else None
                if source is not None:
                    self.moments[row.upstream_id].add(source)
            elif row.upstream_id in self:
                earlier = self._written[row.upstream_id]
                place = bisect_left(earlier, row.consumed_at)
                source = earlier[place - 1] if place else BEFORE
                self.moments[row.upstream_id].add(source)
            self.moments[row.downstream_id].add(row.consumed_at)
            self.edges[row.downstream_id].append((row.consumed_at, source, row))
