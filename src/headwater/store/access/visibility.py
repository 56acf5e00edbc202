"""The veil: which namespaces somebody may see.

What is behind it does not exist for them. That holds for a dataset by its canonical name, for a job by its own, for a
run by its job, and for what somebody said (an event, a version, an edge) by who said it and by what it is about.

No veil at all (None) sees everything, and a query without one is the query it always was: nothing is joined for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sqlalchemy import ColumnElement, FromClause, and_, exists, false, func, or_

from headwater.errors import QueryError, shorten
from headwater.formats.openlineage.text import UNSTORABLE_REASON, is_storable
from headwater.store.schema.tables import dataset, event, job, lineage, run, run_dataset

EVERYTHING = "*"
# Each is looked in by a subquery of its own, so one of each is enough.
_DATASET, _JOB, _RUN, _USED, _LED = (table.alias() for table in (dataset, job, run, run_dataset, lineage))


@dataclass(frozen=True, slots=True)
class Veil:
    """``names`` are seen exactly as they are, ``prefixes`` with whatever follows; case matters, as in all names."""

    names: frozenset[str]
    prefixes: frozenset[str] = frozenset()

    @classmethod
    def of(cls, patterns: Iterable[str]) -> Veil | None:
        """From `name` and `prefix*`; None, which sees everything, if `*` is among them."""
        listed = list(patterns)
        for pattern in listed:
            if not is_storable(pattern):
                raise QueryError(f"'{shorten(pattern)}' {UNSTORABLE_REASON}.")
        if EVERYTHING in listed:
            return None
        begun = {pattern for pattern in listed if pattern.endswith("*")}
        return cls(frozenset(listed) - begun, frozenset(pattern[:-1] for pattern in begun))

    @property
    def patterns(self) -> list[str]:
        return sorted([*self.names, *(f"{prefix}*" for prefix in self.prefixes)])

    def sees(self, namespace: str) -> bool:
        return namespace in self.names or any(namespace.startswith(prefix) for prefix in self.prefixes)

    def lets(self, namespace: ColumnElement[str]) -> ColumnElement[bool]:
        """The same as a condition of SQL."""
        return or_(*self._conditions(namespace)) if self.names or self.prefixes else false()

    def _conditions(self, namespace: ColumnElement[str]) -> Iterator[ColumnElement[bool]]:
        if self.names:
            yield namespace.in_(sorted(self.names))
        for prefix in sorted(self.prefixes):
            # Not LIKE, for which SQLite takes upper and lower case for the same.
            yield func.substr(namespace, 1, len(prefix)) == prefix


def dataset_seen(veil: Veil, dataset_id: ColumnElement[int]) -> ColumnElement[bool]:
    """That the dataset of this id is seen. By the primary key: a look for each row, however many datasets there are."""
    return exists().where(_DATASET.c.id == dataset_id, veil.lets(_DATASET.c.namespace))


def job_seen(veil: Veil, job_id: ColumnElement[int]) -> ColumnElement[bool]:
    """That the job of this id is seen, where there is one: what a dataset declares of itself has no job."""
    return or_(job_id.is_(None), exists().where(_JOB.c.id == job_id, veil.lets(_JOB.c.namespace)))


def edge_seen(veil: Veil, edges: FromClause) -> ColumnElement[bool]:
    """Of rows of ``edge``, ``column_edge`` or ``lineage``: that both ends are seen, and who said so."""
    return and_(
        dataset_seen(veil, edges.c.upstream_id),
        dataset_seen(veil, edges.c.downstream_id),
        job_seen(veil, edges.c.job_id),
    )


def run_seen(veil: Veil, run_id: ColumnElement[int]) -> ColumnElement[bool]:
    return exists().where(_RUN.c.id == run_id, job_seen(veil, _RUN.c.job_id))


def run_whole(veil: Veil, run_id: ColumnElement[int]) -> ColumnElement[bool]:
    """That all a run read and wrote is seen too: what cannot be taken apart, evidence above all, is for these."""
    return and_(
        run_seen(veil, run_id),
        ~exists().where(_USED.c.run_id == run_id, ~dataset_seen(veil, _USED.c.dataset_id)),
        ~exists().where(_LED.c.run_id == run_id, ~edge_seen(veil, _LED)),
    )


def parent_seen(veil: Veil, parent_key: ColumnElement[bytes]) -> ColumnElement[bool]:
    """That the parent which a run says it has is there, and seen."""
    return exists().where(_RUN.c.key == parent_key, job_seen(veil, _RUN.c.job_id))


def event_seen(veil: Veil) -> ColumnElement[bool]:
    """Of rows of ``event``: that who tells it is seen; the run, too, which other events may say is another job's."""
    of_run = or_(event.c.run_id.is_(None), run_seen(veil, event.c.run_id))
    of_dataset = or_(event.c.dataset_id.is_(None), dataset_seen(veil, event.c.dataset_id))
    return and_(job_seen(veil, event.c.job_id), of_run, of_dataset)
