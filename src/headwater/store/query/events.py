"""Events as they were received: lists of them, one whole, and all of them one after another."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol

from sqlalchemy import ColumnElement, Select, func, or_, select

from headwater.errors import UnknownEvent
from headwater.formats.openlineage.visibility import visible_event
from headwater.model.names import Dataset, Job
from headwater.model.pages import ReceivedEvent
from headwater.model.runs import Problem
from headwater.store.access.view import View, VisibleTables
from headwater.store.query.cursors import Position, beyond
from headwater.store.schema.tables import from_micros, to_micros


class _ReceivedRow(Protocol):
    """What :func:`_events` selects."""

    id: int
    digest: bytes
    kind: str
    event_type: str | None
    event_time: int
    received_at: int
    problems: list[tuple[str, str]] | None
    run_name: str | None
    job_namespace: str
    job_name: str | None
    dataset_namespace: str
    dataset_name: str | None


class _Size(Protocol):
    id: int
    size: int


class _Body(Protocol):
    body: bytes
    whole: bool


def list_events(
    view: View,
    *,
    run_id: int | None = None,
    after: Position | None = None,
    limit: int = 100,
) -> list[ReceivedEvent]:
    """The last to arrive first."""
    event = view.tables.event
    query = _events(view.tables, event.c.problems, event.c.received_at)
    if run_id is not None:
        query = query.where(event.c.run_id == run_id)
    if after is not None:
        query = query.where(beyond(after, event.c.id.desc()))
    return [_received(view, row) for row in view.execute(query.order_by(event.c.id.desc()).limit(limit))]


def _events(tables: VisibleTables, *more: ColumnElement[object]) -> Select[*tuple[object, ...]]:
    dataset, event, job, run = tables.dataset, tables.event, tables.job, tables.run
    columns = (event.c.id, event.c.digest, event.c.kind, event.c.event_type, event.c.event_time)
    names = (job.c.namespace.label("job_namespace"), job.c.name.label("job_name"))
    of_dataset = (dataset.c.namespace.label("dataset_namespace"), dataset.c.name.label("dataset_name"))
    return (
        select(*columns, run.c.run_id.label("run_name"), *names, *of_dataset, *more)
        .outerjoin(run, run.c.id == event.c.run_id)
        .outerjoin(job, job.c.id == event.c.job_id)
        .outerjoin(dataset, dataset.c.id == event.c.dataset_id)
    )


def _received(view: View, row: _ReceivedRow) -> ReceivedEvent:
    # A problem is located by counting datasets of the event, hidden ones too.
    problems = row.problems if view.is_everything else None
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


def event_body(view: View, digest: str) -> bytes:
    """As it was received, byte for byte; where not all of it is visible, its visible part."""
    event = view.tables.event
    try:
        key = bytes.fromhex(digest)
    except ValueError:
        raise UnknownEvent(digest) from None
    for row in view.execute(_bodies(view.tables).where(event.c.digest == key)):
        body = _body(view, row)
        if body is not None:
            return body
    raise UnknownEvent(digest)


def lines_after(view: View, number: int, limit: int) -> tuple[int | None, list[bytes]]:
    """Events after the one of this number, each in one line: the number to go on from, None at the end."""
    event = view.tables.event
    query = _sizes(view.tables).where(event.c.id > number).order_by(event.c.id).limit(limit)
    sizes = view.execute(query).all()
    first = next(iter(_portions(sizes)), [])
    # A line break in JSON is white space, or stands in a string as \\n.
    lines = [body.replace(b"\r", b" ").replace(b"\n", b" ") + b"\n" for body in bodies(view, first)]
    return (first[-1] if len(first) < len(sizes) or len(sizes) == limit else None), lines


def events_between(
    view: View,
    *,
    since: datetime | None,
    until: datetime | None,
    newest_first: bool,
    limit: int,
    offset: int,
) -> tuple[int, list[list[int]]]:
    """How many there are by their own times, and the numbers of some of them, in portions that memory holds."""
    event = view.tables.event
    when = []
    if since is not None:
        when.append(event.c.event_time >= to_micros(since))
    if until is not None:
        when.append(event.c.event_time < to_micros(until))
    total = view.scalar(select(func.count()).select_from(event).where(*when)) or 0
    order = (event.c.event_time, event.c.id)
    query = _sizes(view.tables).where(*when).limit(limit).offset(offset)
    rows = view.execute(query.order_by(*(column.desc() for column in order) if newest_first else order))
    return total, _portions(rows)


def bodies(view: View, numbers: Sequence[int]) -> list[bytes]:
    """Of these events in this order, without those that nothing is seen of."""
    event = view.tables.event
    rows = view.execute(_bodies(view.tables).add_columns(event.c.id).where(event.c.id.in_(numbers)))
    found = {row.id: _body(view, row) for row in rows}
    return [body for number in numbers if (body := found.get(number)) is not None]


def _sizes(tables: VisibleTables) -> Select[int, int]:
    """Neither database reads a body to tell how long it is."""
    event = tables.event
    return select(event.c.id, func.length(event.c.body).label("size"))


def _portions(sizes: Iterable[_Size]) -> list[list[int]]:
    found: list[list[int]] = []
    room = 0
    for row in sizes:
        if not found or row.size > room:
            found.append([])
            room = _MOST_BYTES
        found[-1].append(row.id)
        room -= row.size
    return found


def _bodies(tables: VisibleTables) -> Select[*tuple[object, ...]]:
    event = tables.event
    whole = or_(event.c.run_id.is_(None), tables.run_is_whole(event.c.run_id))
    return select(event.c.body, whole.label("whole"))


def _body(view: View, row: _Body) -> bytes | None:
    if view.is_everything:
        return bytes(row.body)
    document = visible_event(json.loads(bytes(row.body).decode("utf-8-sig")), view.sees, whole=bool(row.whole))
    return None if document is None else json.dumps(document, separators=(",", ":")).encode()


def runs_after(view: View, number: int, limit: int) -> list[ReceivedEvent]:
    """Events of runs that arrived after the one of this number, in their order: the content of an event stream."""
    event = view.tables.event
    query = _events(view.tables, event.c.problems, event.c.received_at)
    query = query.where(event.c.id > number, event.c.run_id.is_not(None))
    return [_received(view, row) for row in view.execute(query.order_by(event.c.id).limit(limit))]


def last_number(view: View) -> int:
    event = view.tables.event
    return int(view.scalar(select(event.c.id).order_by(event.c.id.desc()).limit(1)) or 0)
