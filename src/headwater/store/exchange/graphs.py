"""Whole graphs, or large parts of them: ``store.graphs``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

from headwater.formats.openlineage.event import as_utc
from headwater.model.answers import Direction
from headwater.model.names import Endpoint
from headwater.store.access.view import View
from headwater.store.access.visibility import Visibility
from headwater.store.engine.database import Database
from headwater.store.query.lookup import find_dataset
from headwater.store.schema.tables import to_micros

if TYPE_CHECKING:
    from headwater.store.exchange.graph_stream import GraphStream


class Graphs:
    def __init__(self, database: Database, visibility: Visibility) -> None:
        self._database = database
        self._visibility = visibility

    @contextmanager
    def stream(
        self,
        datasets: Sequence[str | Endpoint] = (),
        *,
        directions: Sequence[Direction] = tuple(Direction),
        depth: int | None = None,
        as_of: datetime | None = None,
        acyclic: bool = True,
    ) -> Iterator[GraphStream]:
        """All lineage, or what is around some datasets, as elements of the exchange format, one by one.

        ``acyclic``: datasets that lead back to themselves come version by version, because then nothing does.
        """
        from headwater.store.exchange.graph_stream import GraphStream
        from headwater.store.exchange.scope import scope_around

        moment = to_micros(as_utc(as_of)) if as_of is not None else None
        with self._database.read() as conn:
            view = View(conn, self._visibility)
            starts = [find_dataset(view, dataset).id for dataset in datasets]
            scope = scope_around(view, starts, directions=directions, depth=depth, as_of=moment)
            yield GraphStream(view, scope, acyclic=acyclic)
