"""A view of the store: a connection, and the tables as far as one visibility shows them.

Questions are asked of a view and name no table but through it, so a query cannot forget what is hidden:
``view.tables.dataset`` *is* the datasets that exist for the caller. With :data:`~.visibility.EVERYTHING` these are the
tables themselves and nothing is joined; otherwise each is a subquery, which both databases merge into the query around
it.

``tests/test_architecture.py`` keeps the tables out of ``store/query`` and ``store/exchange``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TypeVar, TypeVarTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    CursorResult,
    FromClause,
    ScalarResult,
    and_,
    exists,
    select,
)
from sqlalchemy.sql.selectable import TypedReturnsRows

from headwater.store.access.visibility import (
    EVERYTHING,
    Visibility,
    dataset_visible,
    edge_visible,
    event_visible,
    job_visible,
    run_visible,
    run_wholly_visible,
)
from headwater.store.engine.dialect import Dialect, IdList, dialect_of
from headwater.store.schema import tables as raw

Columns = TypeVarTuple("Columns")
Value = TypeVar("Value")


class VisibleTables:
    """The tables of one visibility. Kept from query to query, so that what is built of them can be kept as well."""

    def __init__(self, visibility: Visibility) -> None:
        self.visibility = visibility

    def _visible(self, table: FromClause, condition: ColumnElement[bool], name: str | None = None) -> FromClause:
        return select(table).where(condition).subquery(name)

    @cached_property
    def dataset(self) -> FromClause:
        """Datasets, and jobs that stand among them, under every visible name of theirs."""
        if self.visibility.is_everything:
            return raw.dataset
        return self._visible(raw.dataset, self.visibility.condition(raw.dataset.c.namespace))

    @cached_property
    def dataset_name(self) -> FromClause:
        """Every name of each visible dataset, hidden names among them: what was stated under any of them counts. The
        names themselves are for :meth:`View.sees`."""
        if self.visibility.is_everything:
            return raw.dataset
        return self._visible(raw.dataset, dataset_visible(self.visibility, raw.dataset.c.canonical_id))

    @cached_property
    def symlink(self) -> FromClause:
        if self.visibility.is_everything:
            return raw.symlink
        return self._visible(raw.symlink, dataset_visible(self.visibility, raw.symlink.c.dataset_id))

    @cached_property
    def job(self) -> FromClause:
        if self.visibility.is_everything:
            return raw.job
        return self._visible(raw.job, self.visibility.condition(raw.job.c.namespace))

    @cached_property
    def run(self) -> FromClause:
        if self.visibility.is_everything:
            return raw.run
        return self._visible(raw.run, job_visible(self.visibility, raw.run.c.job_id))

    @cached_property
    def run_dataset(self) -> FromClause:
        """What visible runs read and wrote, as far as it is visible under the name that they used."""
        if self.visibility.is_everything:
            return raw.run_dataset
        used = raw.run_dataset.c
        visible = and_(run_visible(self.visibility, used.run_id), dataset_visible(self.visibility, used.dataset_id))
        return self._visible(raw.run_dataset, visible)

    @cached_property
    def version(self) -> FromClause:
        if self.visibility.is_everything:
            return raw.version
        written = raw.version.c
        visible = and_(
            dataset_visible(self.visibility, written.dataset_id), job_visible(self.visibility, written.job_id)
        )
        return self._visible(raw.version, visible)

    @cached_property
    def lineage(self) -> FromClause:
        return self._edges(raw.lineage)

    @cached_property
    def edge(self) -> FromClause:
        return self._edges(raw.edge)

    @cached_property
    def column_edge(self) -> FromClause:
        return self._edges(raw.column_edge)

    def _edges(self, table: FromClause) -> FromClause:
        return table if self.visibility.is_everything else self._visible(table, edge_visible(self.visibility, table))

    @cached_property
    def event(self) -> FromClause:
        return raw.event if self.visibility.is_everything else self._visible(raw.event, event_visible(self.visibility))

    @cached_property
    def run_event(self) -> FromClause:
        """Every event of each visible run, also those in which a hidden job claims the run: a run is what its events
        come to together. What is hidden of that is removed afterwards (formats/openlineage/visibility.py)."""
        if self.visibility.is_everything:
            return raw.event
        return self._visible(raw.event, run_visible(self.visibility, raw.event.c.run_id))

    @cached_property
    def certificate(self) -> FromClause:
        """Certificates of runs that are fully visible: one that names something hidden cannot be shown in part."""
        if self.visibility.is_everything:
            return raw.certificate
        of_run = raw.run.c.key == raw.certificate.c.run_key
        return self._visible(raw.certificate, exists().where(of_run, self.run_is_whole(raw.run.c.id)))

    label: FromClause = raw.label
    """Texts of columns and partitions by id, unfiltered: visible rows refer to them."""

    content: FromClause = raw.content
    """Schemas and column sets by digest, unfiltered: visible rows refer to them."""

    def run_is_whole(self, run_id: ColumnElement[int]) -> ColumnElement[bool]:
        """That all that the run read and wrote is visible as well."""
        return run_wholly_visible(self.visibility, run_id)


@lru_cache(maxsize=500)  # there is no end to what keys may see
def visible_tables(visibility: Visibility) -> VisibleTables:
    return VisibleTables(visibility)


@dataclass(frozen=True)
class View:
    """The visible part of the store in one transaction."""

    conn: Connection
    visibility: Visibility

    @classmethod
    def all(cls, conn: Connection) -> View:
        """Everything: for maintenance, and for callers that may see all."""
        return cls(conn, EVERYTHING)

    @property
    def is_everything(self) -> bool:
        return self.visibility.is_everything

    def sees(self, namespace: str) -> bool:
        return self.visibility.sees(namespace)

    @cached_property
    def tables(self) -> VisibleTables:
        return visible_tables(self.visibility)

    @property
    def dialect(self) -> Dialect:
        return dialect_of(self.conn)

    def id_table(self, parameter: str) -> FromClause:
        return self.dialect.id_table(parameter)

    def id_list(self, ids: Iterable[int]) -> IdList:
        return self.dialect.id_list(ids)

    def one_of(self, column: ColumnElement[int], ids: Iterable[int]) -> ColumnElement[bool]:
        return self.dialect.one_of(column, ids)

    def execute(
        self, query: TypedReturnsRows[*Columns], parameters: Mapping[str, object] | None = None
    ) -> CursorResult[*Columns]:
        return self.conn.execute(query, parameters)

    def scalars(
        self, query: TypedReturnsRows[Value], parameters: Mapping[str, object] | None = None
    ) -> ScalarResult[Value]:
        return self.conn.scalars(query, parameters)

    def scalar(self, query: TypedReturnsRows[Value], parameters: Mapping[str, object] | None = None) -> Value | None:
        return self.conn.scalar(query, parameters)

    def exchange_secret(self) -> bytes:
        """What ids of exported elements are made with. It tells nothing of any dataset."""
        return bytes(self.conn.execute(select(raw.exchange_secret.c.secret)).scalar_one())
