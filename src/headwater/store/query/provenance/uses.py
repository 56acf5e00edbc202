"""The runs that read or wrote datasets, as provenance sees them, and what their events say of that beside."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Connection, LargeBinary, Row, Select, exists, func, literal, or_, select

from headwater.formats.openlineage.facet_names import PROVENANCE_FACET
from headwater.formats.openlineage.visibility import visible_event
from headwater.formats.provenance import LIFECYCLE, read_lifecycle, read_provenance
from headwater.formats.wia.elements import Document
from headwater.model.runs import RunState
from headwater.store.access.visibility import Veil, dataset_seen
from headwater.store.engine.arrays import is_postgresql, one_of
from headwater.store.query.final_events import whole_runs
from headwater.store.schema.tables import dataset, event, job, run, run_dataset

AT = func.coalesce(run.c.ended_at, run.c.last_event_at)
"""When a run read and wrote, as far as anybody knows."""
_AT_ONCE = 50

Name = tuple[str, str]


def names_of(conn: Connection, owners: Collection[int], veil: Veil | None) -> dict[int, set[Name]]:
    """By dataset: the names under which it may be used, as far as they are seen."""
    query = select(dataset.c.canonical_id, dataset.c.namespace, dataset.c.name).where(
        one_of(conn, dataset.c.canonical_id, owners)
    )
    if veil is not None:
        query = query.where(veil.lets(dataset.c.namespace))
    names: dict[int, set[Name]] = {owner: set() for owner in owners}
    for row in conn.execute(query):
        names[row.canonical_id].add((row.namespace, row.name))
    return names


def select_uses(conn: Connection, owners: Collection[int], veil: Veil | None) -> tuple[Select[Any], Any]:
    """Every read, and every write that was completed: one a run, under whatever names; and the table of directions."""
    used = (
        select(dataset.c.canonical_id.label("owner_id"), run_dataset.c.run_id, run_dataset.c.direction)
        .join(dataset, dataset.c.id == run_dataset.c.dataset_id)
        .where(one_of(conn, dataset.c.canonical_id, owners))
        .distinct()
    )
    read = run_dataset.alias()
    inputs = exists().where(read.c.run_id == run.c.id, read.c.direction == "input")
    if veil is not None:
        used = used.where(veil.lets(dataset.c.namespace))
        inputs = inputs.where(dataset_seen(veil, read.c.dataset_id))
    uses = used.subquery()
    query = (
        select(
            uses.c.owner_id,
            uses.c.direction,
            run.c.id,
            run.c.run_id,
            run.c.key,
            AT.label("at"),
            inputs.label("had_inputs"),
            job.c.namespace,
            job.c.name,
        )
        .join(run, run.c.id == uses.c.run_id)
        .join(job, job.c.id == run.c.job_id)
        .where(or_(uses.c.direction == "input", run.c.state == RunState.COMPLETE))
    )
    return (query if veil is None else query.where(veil.lets(job.c.namespace))), uses


def first_writes(conn: Connection, owners: Collection[int], veil: Veil | None) -> dict[int, Row[Any]]:
    """By dataset: the earliest write that is known."""
    query, uses = select_uses(conn, owners, veil)
    numbered = query.where(uses.c.direction == "output").add_columns(
        func.row_number().over(partition_by=uses.c.owner_id, order_by=(AT, run.c.key.desc())).label("place")
    )
    ranked = numbered.subquery()
    rows = conn.execute(select(ranked).where(ranked.c.place == 1)).all()
    return {row.owner_id: row for row in rows}


def latest_uses(conn: Connection, owners: Collection[int], as_of: int | None, veil: Veil | None) -> Sequence[Row[Any]]:
    """Of each dataset the newest read and the newest write by each job, and the earliest write of all."""
    query, uses = select_uses(conn, owners, veil)
    of_job = (uses.c.owner_id, uses.c.direction, run.c.job_id)
    of_all = (uses.c.owner_id, uses.c.direction)
    ranked = (
        query.where(*(() if as_of is None else (as_of >= AT,)))
        .add_columns(
            func.row_number().over(partition_by=of_job, order_by=(AT.desc(), run.c.key)).label("newest"),
            func.row_number().over(partition_by=of_all, order_by=(AT, run.c.key.desc())).label("earliest"),
        )
        .subquery()
    )
    wanted = or_(ranked.c.newest == 1, (ranked.c.earliest == 1) & (ranked.c.direction == "output"))
    order = (ranked.c.owner_id, ranked.c.at.desc(), ranked.c.key, ranked.c.direction.desc())
    return conn.execute(select(ranked).where(wanted).order_by(*order)).all()


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

    def take(self, said: Mapping[str, Any], shown: Mapping[str, Any] | None) -> None:
        """Events are taken in their order: a later facet replaces an earlier one. ``shown``: what may be told of it."""
        facets = ((shown or {}).get("run") or {}).get("facets") or {}
        if PROVENANCE_FACET in facets:
            self.document = read_provenance(facets) or {}
        for use in said.get("outputs") or ():
            facets = use.get("facets") or {}
            if LIFECYCLE in facets:
                self.changes[use["namespace"], use["name"]] = read_lifecycle(facets)


def words_of(conn: Connection, runs: Collection[int], veil: Veil | None) -> dict[int, RunWords]:
    """By run. Only the events are read that hold one of the words, and only once."""
    found: dict[int, RunWords] = defaultdict(RunWords)
    whole = whole_runs(conn, runs, veil) if veil is not None and runs else set()
    query = (
        select(event.c.run_id, event.c.body)
        .where(one_of(conn, event.c.run_id, runs), or_(holds(conn, PROVENANCE_FACET), holds(conn, LIFECYCLE)))
        .order_by(event.c.event_time, event.c.digest)
    )
    for row in _rows(conn, query) if runs else ():
        said = json.loads(row.body)
        shown = said if veil is None else visible_event(said, veil.sees, whole=row.run_id in whole)
        found[row.run_id].take(said, shown)
    return found


def holds(conn: Connection, word: str) -> ColumnElement[bool]:
    """Of an event: its body has this word in it somewhere."""
    sought = literal(word.encode(), LargeBinary)
    if is_postgresql(conn):
        return func.position(sought.op("IN")(event.c.body)) > 0
    return func.instr(event.c.body, sought) > 0


def _rows(conn: Connection, query: Select[Any]) -> Iterator[Row[Any]]:
    with conn.execute(query.execution_options(yield_per=_AT_ONCE)) as rows:
        yield from rows
