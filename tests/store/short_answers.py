"""Short forms of answers, by plain names."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import func, select

from headwater.model.answers import Closure
from headwater.model.lineage import ColumnEdge
from headwater.store.schema.tables import metadata
from headwater.store.store import Store

Link = tuple[str, str]


def links(store: Store, as_of: datetime | None = None) -> set[Link]:
    """Every current dataset-level edge, as (upstream, downstream)."""
    found = set()
    for summary in store.datasets(limit=10_000):
        for node in store.upstream(summary.dataset, depth=1, as_of=as_of).nodes:
            found.add((node.endpoint.name, summary.dataset.name))
    return found


def names(closure: Closure) -> list[str]:
    """The nodes in the order of the answer: `name`, `name#column` or `name@partition`."""
    return [
        node.endpoint.name if node.part is None else f"{node.endpoint.name}{node.grain.mark}{node.part}"
        for node in closure.nodes
    ]


def depths(closure: Closure) -> dict[str, int]:
    return dict(zip(names(closure), (node.depth for node in closure.nodes), strict=True))


def short(edges: Iterable[ColumnEdge]) -> set[tuple[str, str, str, str | None]]:
    """Column edges as (from, to, dependency, subtype)."""
    return {
        (
            _column(edge.upstream.name, edge.upstream_column),
            _column(edge.downstream.name, edge.downstream_column),
            str(edge.dependency),
            edge.subtype,
        )
        for edge in edges
    }


def _column(name: str, column: str | None) -> str:
    return name if column is None else f"{name}#{column}"


def row_counts(store: Store) -> dict[str, int]:
    """The number of rows in every table, except for the secret that a store has from its creation."""
    tables = [(name, table) for name, table in _tables() if name != "exchange_secret"]
    with store._database.read() as conn:
        return {name: conn.execute(select(func.count()).select_from(t)).scalar_one() for name, t in tables}


def _tables() -> list[tuple[str, Any]]:
    return sorted(metadata.tables.items())
