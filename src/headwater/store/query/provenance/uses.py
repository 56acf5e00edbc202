"""The runs that read or wrote datasets, as provenance sees them, and what their events say of that beside."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sqlalchemy import ColumnElement, FromClause, Select, exists, func, or_, select

from headwater.formats.openlineage.facet_names import PROVENANCE_FACET
from headwater.formats.openlineage.visibility import visible_event
from headwater.formats.provenance import LIFECYCLE, read_lifecycle, read_provenance
from headwater.formats.wia.elements import Document
from headwater.model.runs import RunState
from headwater.store.access.view import View
from headwater.store.query.final_events import whole_runs
from headwater.store.query.json_members import object_at, objects_in

_AT_ONCE = 50

Name = tuple[str, str]


def used_at(run: FromClause) -> ColumnElement[int]:
    """When a run read and wrote, as far as it is known."""
    return func.coalesce(run.c.ended_at, run.c.last_event_at)


def names_of(view: View, owners: Collection[int]) -> dict[int, set[Name]]:
    """By dataset: the names under which it may be used, as far as they are visible."""
    dataset = view.tables.dataset
    query = select(dataset.c.canonical_id, dataset.c.namespace, dataset.c.name).where(
        view.one_of(dataset.c.canonical_id, owners)
    )
    names: dict[int, set[Name]] = {owner: set() for owner in owners}
    for row in view.execute(query):
        names[row.canonical_id].add((row.namespace, row.name))
    return names


class UseOfDataset(Protocol):
    """What :func:`select_uses` selects."""

    owner_id: int
    direction: str
    id: int
    run_id: str
    key: bytes
    at: int
    had_inputs: bool
    namespace: str
    name: str


def select_uses(view: View, owners: Collection[int]) -> tuple[Select[*tuple[object, ...]], FromClause]:
    """Every read, and every write that was completed: one a run, under whatever names; and the table of directions."""
    dataset, job, run, run_dataset = view.tables.dataset, view.tables.job, view.tables.run, view.tables.run_dataset
    used = (
        select(dataset.c.canonical_id.label("owner_id"), run_dataset.c.run_id, run_dataset.c.direction)
        .join(dataset, dataset.c.id == run_dataset.c.dataset_id)
        .where(view.one_of(dataset.c.canonical_id, owners))
        .distinct()
    )
    read = run_dataset.alias()
    inputs = exists().where(read.c.run_id == run.c.id, read.c.direction == "input")
    uses = used.subquery()
    query = (
        select(
            uses.c.owner_id,
            uses.c.direction,
            run.c.id,
            run.c.run_id,
            run.c.key,
            used_at(run).label("at"),
            inputs.label("had_inputs"),
            job.c.namespace,
            job.c.name,
        )
        .join(run, run.c.id == uses.c.run_id)
        .join(job, job.c.id == run.c.job_id)
        .where(or_(uses.c.direction == "input", run.c.state == RunState.COMPLETE))
    )
    return query, uses


def first_writes(view: View, owners: Collection[int]) -> dict[int, UseOfDataset]:
    """By dataset: the earliest write that is known."""
    run = view.tables.run
    query, uses = select_uses(view, owners)
    numbered = query.where(uses.c.direction == "output").add_columns(
        func.row_number().over(partition_by=uses.c.owner_id, order_by=(used_at(run), run.c.key.desc())).label("place")
    )
    ranked = numbered.subquery()
    rows = view.execute(select(ranked).where(ranked.c.place == 1)).all()
    return {row.owner_id: row for row in rows}


def latest_uses(view: View, owners: Collection[int], as_of: int | None) -> Sequence[UseOfDataset]:
    """Of each dataset the newest read and the newest write by each job, and the earliest write of all."""
    run = view.tables.run
    query, uses = select_uses(view, owners)
    at = used_at(run)
    of_job = (uses.c.owner_id, uses.c.direction, run.c.job_id)
    of_all = (uses.c.owner_id, uses.c.direction)
    ranked = (
        query.where(*(() if as_of is None else (at <= as_of,)))
        .add_columns(
            func.row_number().over(partition_by=of_job, order_by=(at.desc(), run.c.key)).label("newest"),
            func.row_number().over(partition_by=of_all, order_by=(at, run.c.key.desc())).label("earliest"),
        )
        .subquery()
    )
    wanted = or_(ranked.c.newest == 1, (ranked.c.earliest == 1) & (ranked.c.direction == "output"))
    order = (ranked.c.owner_id, ranked.c.at.desc(), ranked.c.key, ranked.c.direction.desc())
    return view.execute(select(ranked).where(wanted).order_by(*order)).all()


# -- what their events say ------------------------------------------------------------------------


@dataclass
class RunWords:
    """What is said of one run beside what it read and wrote."""

    document: Document = field(default_factory=dict)
    """Of its facet: the agent, the operation, the context."""
    changes: dict[Name, str | None] = field(default_factory=dict)
    """By the name under which it was written: what happened to the dataset."""

    def change(self, names: Collection[Name]) -> str | None:
        """Under several names the last of them counts, so that it is always the same one."""
        said = [self.changes[name] for name in sorted(names) if self.changes.get(name) is not None]
        return said[-1] if said else None

    def take(self, said: Mapping[str, object], shown: Mapping[str, object] | None) -> None:
        """Events are applied in their order: a later facet replaces an earlier one. ``shown``: which of it is
        visible."""
        facets = object_at(shown, "run", "facets")
        if PROVENANCE_FACET in facets:
            self.document = read_provenance(facets) or {}
        for use in objects_in(said, "outputs"):
            facets = object_at(use, "facets")
            if LIFECYCLE in facets:
                self.changes[str(use["namespace"]), str(use["name"])] = read_lifecycle(facets)


def words_of(view: View, runs: Collection[int]) -> dict[int, RunWords]:
    """By run. Only the events are read that hold one of the words, and only once."""
    event = view.tables.run_event
    found: dict[int, RunWords] = defaultdict(RunWords)
    whole = whole_runs(view, runs) if not view.is_everything and runs else set()
    query = (
        select(event.c.run_id, event.c.body)
        .where(
            view.one_of(event.c.run_id, runs), or_(holds(view, event, PROVENANCE_FACET), holds(view, event, LIFECYCLE))
        )
        .order_by(event.c.event_time, event.c.digest)
    )
    for row in _rows(view, query) if runs else ():
        said = json.loads(row.body)
        shown = said if view.is_everything else visible_event(said, view.sees, whole=row.run_id in whole)
        found[row.run_id].take(said, shown)
    return found


def holds(view: View, event: FromClause, word: str) -> ColumnElement[bool]:
    """Of rows of ``event``: the body has this word in it somewhere."""
    return view.dialect.contains(event.c.body, word.encode())


class _RunEvent(Protocol):
    run_id: int
    body: bytes


def _rows(view: View, query: Select[*tuple[object, ...]]) -> Iterator[_RunEvent]:
    with view.execute(query.execution_options(yield_per=_AT_ONCE)) as rows:
        yield from rows
