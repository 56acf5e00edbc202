"""Server-sent events: new events of runs, and progress of tasks."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Annotated

from fastapi import APIRouter, Header, Response
from fastapi.responses import StreamingResponse

from headwater.model.plain import plain
from headwater.server.access.principal import Principal
from headwater.server.app.openapi_schemas import file_responses
from headwater.server.app.problems import HttpProblem
from headwater.server.app.responses import encode_json
from headwater.server.app.service import CurrentService, Reader, Service
from headwater.server.routes.tasks import may_see

router = APIRouter(tags=["Live"])
_KEEPALIVE_SECONDS = 15.0
_KEY_CHECK_SECONDS = 2.0
"""How often an open stream checks that its key is still valid."""
_MAX_EVENTS = 500
_TaskDocument = dict[str, object]


@router.get("/stream", response_class=Response, responses=file_responses(["text/event-stream"], 422))
async def stream(
    service: CurrentService, who: Reader, last_event_id: Annotated[str | None, Header(max_length=100)] = None
) -> Response:
    """`run` for each event of a run, `task` for each step of a task. `Last-Event-ID` resumes a stream."""
    if service.feed.listeners >= service.settings.streams:
        raise HttpProblem(429, "streams_busy", "Too many open streams.", {"Retry-After": "10"})
    if service.feed.listeners_of(_client(who)) >= service.settings.streams_per_key:
        detail = f"This key has {service.settings.streams_per_key} open streams, the maximum. Close one first."
        raise HttpProblem(429, "streams_busy", detail, {"Retry-After": "10"})
    after = int(last_event_id) if last_event_id is not None and last_event_id.isdecimal() else None
    messages = _messages(service, who, None if after is None else min(after, 2**62))
    return StreamingResponse(messages, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


async def _messages(service: Service, who: Principal, after: int | None) -> AsyncIterator[bytes]:
    yield b"retry: 2000\n\n"
    pages = service.store_for(who).pages
    tasks: dict[str, _TaskDocument] = {}
    sent_at = time.monotonic()
    permission = _StreamPermission(service, who)
    async with aclosing(
        service.feed.updates(_client(who), service.settings.streams_per_key)
    ) as updates:  # or it would count as a listener until it is collected
        async for last in updates:
            after = last if after is None else after
            while after < last:
                # Each portion is sent before the next is read: a client that starts at 0 may be a million events behind
                # and read slowly. Its stream, too, ends with the server or with its key.
                if not await permission.is_valid():
                    return
                events = await service.call(pages.runs_after, after, limit=_MAX_EVENTS)
                after = events[-1].number if len(events) == _MAX_EVENTS else last
                if events:
                    yield b"".join(_line("run", event, event.number) for event in events)
                    sent_at = time.monotonic()
            if not await permission.is_valid():
                return
            lines = [_line("task", task) for task in await _changed_tasks(service, who, tasks)]
            if not lines and time.monotonic() > sent_at + _KEEPALIVE_SECONDS:
                lines = [b": still here\n\n"]
            if lines:
                sent_at = time.monotonic()
                yield b"".join(lines)


def _client(who: Principal) -> str:
    """Return whom a stream counts against: a key, in whichever session; without keys, an address."""
    return f"key {who.key_id}" if who.key_id is not None else f"address {who.client_ip}"


class _StreamPermission:
    """Whether a stream may stay open: the server runs, and its key is valid, which is checked now and then."""

    def __init__(self, service: Service, who: Principal) -> None:
        self._service = service
        self._who = who
        self._checked = time.monotonic()

    async def is_valid(self) -> bool:
        if self._service.draining:
            return False
        if self._who.key_id is None or time.monotonic() < self._checked + _KEY_CHECK_SECONDS:
            return True
        self._checked = time.monotonic()
        return await self._service.call(self._service.store.access.still_good, self._who.key_id)


async def _changed_tasks(service: Service, who: Principal, known: dict[str, _TaskDocument]) -> list[_TaskDocument]:
    """Return the tasks that changed since the last call, without results: the client requests those separately."""
    current: dict[str, _TaskDocument] = {}
    for task in await service.call(service.tasks.all):
        if may_see(task, who):
            current[task.id] = {**plain(task), "result": None}
    changed = [task for number, task in current.items() if known.get(number) != task]
    known.clear()
    known.update(current)
    return changed


def _line(kind: str, data: object, number: int | None = None) -> bytes:
    mark = b"" if number is None else b"id: %d\n" % number
    return b"%sevent: %s\ndata: %s\n\n" % (mark, kind.encode(), encode_json(plain(data)))
