"""Taking events in: stored, folded and audited in one transaction, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import chain

from sqlalchemy import Connection, insert, select

from headwater.formats.openlineage.event import Event, EventKind
from headwater.formats.openlineage.fidelity import is_certified
from headwater.model.answers import Receipt
from headwater.model.audit import Actor
from headwater.store.engine.prepared import Lookup, Prepared, together
from headwater.store.fold.aliases import resolve_aliases
from headwater.store.fold.descriptions import describe_again
from headwater.store.fold.entities import Entities, missing
from headwater.store.fold.graph import Graph
from headwater.store.fold.memory import Memory
from headwater.store.log import audit
from headwater.store.log.audit import INGESTED, Deed
from headwater.store.log.certificates import issue
from headwater.store.log.log_head import STANDING, Standing
from headwater.store.schema.tables import event as event_table
from headwater.store.schema.tables import to_micros

_KNOWN_EVENTS = Lookup(select(event_table.c.digest), event_table.c.digest)
_INSERT = Prepared(insert(event_table))


def ingest_events(
    conn: Connection, memory: Memory, submitted: Sequence[tuple[Event, Actor]]
) -> tuple[list[Receipt], Memory]:
    """Store and fold events, each already read and checked, and say who brought each one.

    The caller holds the write transaction. ``memory`` is what the last one left; this one leaves another.
    """
    unseen: dict[bytes, tuple[Event, Actor]] = {}
    for event, actor in submitted:
        unseen.setdefault(event.digest, (event, actor))
    known, spoken_of = _KNOWN_EVENTS.questions(list(unseen)), missing(memory, [event for event, _ in unseen.values()])
    ((told,), *answers) = together(conn, [(STANDING, {}), *known, *(question for question, _ in spoken_of)])
    for (digest,) in chain(*answers[: len(known)]):
        del unseen[digest]
    if unseen:
        standing = Standing.told(told)
        relied_on, memory = memory, memory.at(standing)
        new = [event for event, _ in unseen.values()]
        entities = Entities(conn, memory, standing)
        if memory is relied_on:
            entities.take(spoken_of, answers[len(known) :])
        else:
            entities.read(missing(memory, new))
        _fold(conn, entities, new)
        audit.record(conn, standing, [(actor, entry_of(event)) for event, actor in unseen.values()])
        ended = [(actor, event) for event, actor in unseen.values() if is_certified(event)]
        if ended:
            issue(conn, standing, ended)
        memory = memory.left_at(standing)
    return [Receipt(e.digest.hex(), unseen.pop(e.digest, None) is None, e.problems) for e, _ in submitted], memory


def fold_again(conn: Connection, memory: Memory, standing: Standing, events: Sequence[Event]) -> Memory:
    """Store and fold events as :func:`ingest_events` does, without the log: what they make of the graph, and no more.

    The events come in their order, each once, into a store that holds nothing but the events before them; ``standing``
    is what the last call left of it, and has the limit to fold under.
    """
    memory = memory.at(standing)
    entities = Entities(conn, memory, standing)
    entities.read(missing(memory, events))
    _fold(conn, entities, events)
    return memory.left_at(standing)


def _fold(conn: Connection, entities: Entities, new: Sequence[Event]) -> None:
    entities.make(new)
    for event in new:
        entities.apply(event)
    entities.flush()
    _store(conn, entities, new)
    renamed = resolve_aliases(conn, entities)
    describe_again(conn, entities, renamed)
    Graph(conn, entities).fold(new, renamed)


def _store(conn: Connection, entities: Entities, events: Sequence[Event]) -> None:
    """Keep each event as received."""
    received_at = to_micros(datetime.now(UTC))
    _INSERT.run(
        conn,
        [
            {
                "id": entities.standing.next(event_table),
                "digest": event.digest,
                "kind": event.kind,
                "event_type": event.event_type,
                "event_time": to_micros(event.time),
                "received_at": received_at,
                "run_id": entities.run(event.run_id).id if event.kind is EventKind.RUN else None,
                "job_id": entities.job(event.job).id if event.job else None,
                "dataset_id": entities.dataset(event.dataset.dataset).id if event.dataset else None,
                "problems": [[p.path, p.reason] for p in event.problems] or None,
                "body": event.body,
            }
            for event in events
        ],
    )


def entry_of(event: Event) -> Deed:
    """The log entry of an ingested event."""
    subject = {EventKind.RUN: event.run_id, EventKind.JOB: str(event.job)}.get(event.kind)
    if event.dataset is not None:
        subject = str(event.dataset.dataset)
    details = {"digest": f"sha256:{event.digest.hex()}", "event_time": event.time.isoformat()}
    if event.event_type is not None:
        details["event_type"] = event.event_type
    if event.kind is EventKind.RUN:
        details["job"] = str(event.job)
    return Deed(INGESTED, "ingest", event.kind, subject, details)
