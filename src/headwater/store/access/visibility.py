"""Visibility: which namespaces a caller may see.

Hidden objects do not exist for the caller. A dataset is hidden by its canonical name, a job by its own, a run by its
job, and a statement (an event, a version, an edge) by its author and its subject.

:class:`~headwater.store.access.view.View` applies this to the tables; nothing else reads them for an answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sqlalchemy import ColumnElement, FromClause, and_, exists, false, func, or_, true

from headwater.errors import QueryError, shorten
from headwater.formats.openlineage.text import UNSTORABLE_REASON, is_storable
from headwater.store.schema.tables import dataset, event, job, lineage, run, run_dataset

# Each is looked up in a subquery of its own, so one alias of each is enough.
_DATASET, _JOB, _RUN, _USED, _LINEAGE = (table.alias() for table in (dataset, job, run, run_dataset, lineage))


@dataclass(frozen=True, slots=True)
class Visibility:
    """``names`` are visible as they are, ``prefixes`` with whatever follows. Case matters, as in all names."""

    names: frozenset[str]
    prefixes: frozenset[str] = frozenset()

    @classmethod
    def of(cls, patterns: Iterable[str]) -> Visibility:
        """From `name` and `prefix*`; `*` alone is :data:`EVERYTHING`."""
        listed = list(patterns)
        for pattern in listed:
            if not is_storable(pattern):
                raise QueryError(f"'{shorten(pattern)}' {UNSTORABLE_REASON}.")
        prefixes = frozenset(pattern[:-1] for pattern in listed if pattern.endswith("*"))
        if "" in prefixes:
            return EVERYTHING
        return cls(frozenset(pattern for pattern in listed if not pattern.endswith("*")), prefixes)

    @property
    def is_everything(self) -> bool:
        return "" in self.prefixes

    @property
    def patterns(self) -> list[str]:
        return sorted([*self.names, *(f"{prefix}*" for prefix in self.prefixes)])

    def sees(self, namespace: str) -> bool:
        return namespace in self.names or any(namespace.startswith(prefix) for prefix in self.prefixes)

    def condition(self, namespace: ColumnElement[str]) -> ColumnElement[bool]:
        """:meth:`sees` as SQL."""
        if self.is_everything:
            return true()
        return or_(*self._conditions(namespace)) if self.names or self.prefixes else false()

    def _conditions(self, namespace: ColumnElement[str]) -> Iterator[ColumnElement[bool]]:
        if self.names:
            yield namespace.in_(sorted(self.names))
        for prefix in sorted(self.prefixes):
            # Not LIKE: SQLite's does not tell upper from lower case.
            yield func.substr(namespace, 1, len(prefix)) == prefix


EVERYTHING = Visibility(frozenset(), frozenset({""}))
"""Visibility without a limit. Nothing has it unless it asks for it by name."""


def dataset_visible(visibility: Visibility, dataset_id: ColumnElement[int]) -> ColumnElement[bool]:
    """That the dataset of this id is visible. By the primary key: one lookup a row, however many datasets there are."""
    return exists().where(_DATASET.c.id == dataset_id, visibility.condition(_DATASET.c.namespace))


def job_visible(visibility: Visibility, job_id: ColumnElement[int]) -> ColumnElement[bool]:
    """That the job of this id is visible, where there is one: what a dataset declares of itself has no job."""
    return or_(job_id.is_(None), exists().where(_JOB.c.id == job_id, visibility.condition(_JOB.c.namespace)))


def edge_visible(visibility: Visibility, edges: FromClause) -> ColumnElement[bool]:
    """Of rows of ``edge``, ``column_edge`` or ``lineage``: that both ends are visible, and who stated it."""
    return and_(
        dataset_visible(visibility, edges.c.upstream_id),
        dataset_visible(visibility, edges.c.downstream_id),
        job_visible(visibility, edges.c.job_id),
    )


def run_visible(visibility: Visibility, run_id: ColumnElement[int]) -> ColumnElement[bool]:
    return exists().where(_RUN.c.id == run_id, job_visible(visibility, _RUN.c.job_id))


def run_wholly_visible(visibility: Visibility, run_id: ColumnElement[int]) -> ColumnElement[bool]:
    """That all that a run read and wrote is visible too: what cannot be taken apart, evidence above all, needs this."""
    if visibility.is_everything:
        return true()
    return and_(
        run_visible(visibility, run_id),
        ~exists().where(_USED.c.run_id == run_id, ~dataset_visible(visibility, _USED.c.dataset_id)),
        ~exists().where(_LINEAGE.c.run_id == run_id, ~edge_visible(visibility, _LINEAGE)),
    )


def event_visible(visibility: Visibility) -> ColumnElement[bool]:
    """Of rows of ``event``: that its job is visible, and its run, which other events may give to another job."""
    of_run = or_(event.c.run_id.is_(None), run_visible(visibility, event.c.run_id))
    of_dataset = or_(event.c.dataset_id.is_(None), dataset_visible(visibility, event.c.dataset_id))
    return and_(job_visible(visibility, event.c.job_id), of_run, of_dataset)
