"""Events as they were received: lists of them, one whole, and all of them one after another."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, func, or_, select

from headwater.errors import UnknownEvent
from headwater.formats.openlineage.visibility import visible_event
from headwater.model.names import Dataset, Job
from headwater.model.pages import ReceivedEvent
from headwater.model.runs import Problem
from headwater.store.access.visibility import Veil, event_seen, run_whole
from headwater.store.query.cursors import Position, beyond
from headwater.store.schema.tables import dataset, event, from_micros, job, run, to_micros


def list_events(
    conn: Connection,
    *,
    run_id: int | None = None,
    after: Position | None = None,
    limit: int = 100,
    veil: Veil | None = None,
) -> list[ReceivedEvent]:
    """The last to arrive first."""
    query = _events(veil, event.c.problems, event.c.received_at)
    if run_id is not None:
        query = query.where(event.c.run_id == run_id)
    if after is not None:
        query = query.where(beyond(after, event.c.id.desc()))
    return [_received(row, veil) for row in conn.execute(query.order_by(event.c.id.desc()).limit(limit))]


def _events(veil: Veil | None, *more: Any) -> Select[Any]:
    columns = (event.c.id, event.c.digest, event.c.kind, event.c.event_type, event.c.event_time)
    names = (job.c.namespace.label("job_namespace"), job.c.name.label("job_name"))
    of_dataset = (dataset.c.namespace.label("dataset_namespace"), dataset.c.name.label("dataset_name"))
    query = (
        select(*columns, run.c.run_id.label("run_name"), *names, *of_dataset, *more)
        .outerjoin(run, run.c.id == event.c.run_id)
        .outerjoin(job, job.c.id == event.c.job_id)
        .outerjoin(dataset, dataset.c.id == event.c.dataset_id)
    )
    return query if veil is None else query.where(event_seen(veil))


def _received(row: Row[Any], veil: Veil | None) -> ReceivedEvent:
    # Where an event is wrong is said by counting its datasets, those that are hidden too.
    problems = row.problems if veil is None else None
    return ReceivedEvent(
        number=row.id,
        digest=bytes(row.digest).hex(),
        kind=row.kind,
        event_type=row.event_type,
        event_time=from_micros(row.event_time),
        received_at=from_micros(row.received_at),
        run_id=row.run_name,
        job=Job(row.job_namespace, row.job_name) if row.job_name is not None else None,
        dataset=Dataset(row.dataset_namespace, row.dataset_name) if row.dataset_name is not None else None,
        problems=tuple(Problem(path, reason) for path, reason in problems or ()),
    )


# -- with their bodies ---------------------------------------------------------------------------

_MOST_BYTES = 8 * 2**20
"""Of bodies in memory at once: an event may have 20 MB, and hundreds are asked for. A longer one comes alone."""


def event_body(conn: Connection, digest: str, veil: Veil | None = None) -> bytes:
    """As it was received, byte for byte; through a veil, what is seen of it."""
    try:
        key = bytes.fromhex(digest)
    except ValueError:
        raise UnknownEvent(digest) from None
    for row in conn.execute(_bodies(veil).where(event.c.digest == key)):
        body = _body(row, veil)
        if body is not None:
            return body
    raise UnknownEvent(digest)


def lines_after(conn: Connection, number: int, limit: int, veil: Veil | None = None) -> tuple[int | None, list[bytes]]:
    """Events after the one of this number, each in one line: the number to go on from, None at the end."""
    query = _sizes(veil).where(event.c.id > number).order_by(event.c.id).limit(limit)
    sizes = conn.execute(query).all()
    first = next(iter(_portions(sizes)), [])
    # A line break in JSON is white space, or stands in a string as \\n.
    lines = [body.replace(b"\r", b" ").replace(b"\n", b" ") + b"\n" for body in bodies(conn, first, veil)]
    return (first[-1] if len(first) < len(sizes) or len(sizes) == limit else None), lines


def events_between(
    conn: Connection,
    *,
    since: datetime | None,
    until: datetime | None,
    newest_first: bool,
    limit: int,
    offset: int,
    veil: Veil | None,
) -> tuple[int, list[list[int]]]:
    """How many there are by their own times, and the numbers of some of them, in portions that memory holds."""
    when = []
    if since is not None:
        when.append(event.c.event_time >= to_micros(since))
    if until is not None:
        when.append(event.c.event_time < to_micros(until))
    seen = [event_seen(veil)] if veil is not None else []
    total = conn.scalar(select(func.count()).select_from(event).where(*when, *seen)) or 0
    order = (event.c.event_time, event.c.id)
    query = _sizes(veil).where(*when).limit(limit).offset(offset)
    rows = conn.execute(query.order_by(*(column.desc() for column in order) if newest_first else order))
    return total, _portions(rows)


def bodies(conn: Connection, numbers: Sequence[int], veil: Veil | None = None) -> list[bytes]:
    """Of these events in this order, without those that nothing is seen of."""
    rows = conn.execute(_bodies(veil).add_columns(event.c.id).where(event.c.id.in_(numbers)))
    found = {row.id: _body(row, veil) for row in rows}
    return [body for number in numbers if (body := found.get(number)) is not None]


def _sizes(veil: Veil | None) -> Select[Any]:
    """Neither database reads a body to tell how long it is."""
    query = select(event.c.id, func.length(event.c.body).label("size"))
    return query if veil is None else query.where(event_seen(veil))


def _portions(sizes: Iterable[Row[Any]]) -> list[list[int]]:
    found: list[list[int]] = []
    room = 0
    for row in sizes:
        if not found or row.size > room:
            found.append([])
            room = _MOST_BYTES
        found[-1].append(row.id)
        room -= row.size
    return found


def _bodies(veil: Veil | None) -> Select[Any]:
    if veil is None:
        return select(event.c.body)
    whole = or_(event.c.run_id.is_(None), run_whole(veil, event.c.run_id))
    return select(event.c.body, whole.label("whole")).where(event_seen(veil))


def _body(row: Row[Any], veil: Veil | None) -> bytes | None:
    if veil is None:
        return bytes(row.body)
    document = visible_event(json.loads(bytes(row.body).decode("utf-8-sig")), veil.sees, whole=bool(row.whole))
    return None if document is None else json.dumps(document, separators=(",", ":")).encode()


def runs_after(conn: Connection, number: int, limit: int, veil: Veil | None = None) -> list[ReceivedEvent]:
    """Events of runs that arrived after the one of this number, in their order: what a stream tells of."""
    query = _events(veil, event.c.problems, event.c.received_at).where(event.c.id > number, event.c.run_id.is_not(None))
    return [_received(row, veil) for row in conn.execute(query.order_by(event.c.id).limit(limit))]


def last_number(conn: Connection) -> int:
    return int(conn.scalar(select(func.max(event.c.id))) or 0)
