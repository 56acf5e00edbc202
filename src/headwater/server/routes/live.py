"""Server-sent events: runs as they are heard of, tasks as they go on."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Annotated, Any

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
"""Whether the key that a stream was opened with is still good."""
_MAX_EVENTS = 500


@router.get("/stream", response_class=Response, responses=file_responses(["text/event-stream"], 422))
async def stream(
    service: CurrentService, who: Reader, last_event_id: Annotated[str | None, Header(max_length=100)] = None
) -> Response:
    """`run` for each event of a run, `task` for each step of a task. `Last-Event-ID` goes on where one left off."""
    if service.feed.listeners >= service.settings.streams:
        raise HttpProblem(429, "streams_busy", "Too many open streams.", {"Retry-After": "10"})
    if service.feed.listeners_of(_client(who)) >= service.settings.streams_per_key:
        detail = f"This key has {service.settings.streams_per_key} open streams, the maximum. Close one first."
        raise HttpProblem(429, "streams_busy", detail, {"Retry-After": "10"})
    after = int(last_event_id) if last_event_id is not None and last_event_id.isdecimal() else None
    told = _messages(service, who, None if after is None else min(after, 2**62))
    return StreamingResponse(told, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


async def _messages(service: Service, who: Principal, after: int | None) -> AsyncIterator[bytes]:
    yield b"retry: 2000\n\n"
    pages = service.store_for(who).pages
    tasks: dict[str, Any] = {}
    spoken = time.monotonic()
    welcome = _StreamPermission(service, who)
    async with aclosing(
        service.feed.turns(_client(who), service.settings.streams_per_key)
    ) as turns:  # or it would count as a listener until it is collected
        async for last in turns:
            after = last if after is None else after
            while after < last:
                # Each portion is handed over before the next is read: whoever begins at 0 may be a million behind,
                # and read slowly. They are as much of a listener as the others when the server ends, or their key.
                if not await welcome.still():
                    return
                events = await service.call(pages.runs_after, after, limit=_MAX_EVENTS)
                after = events[-1].number if len(events) == _MAX_EVENTS else last
                if events:
                    yield b"".join(_line("run", event, event.number) for event in events)
                    spoken = time.monotonic()
            if not await welcome.still():
                return
            lines = [_line("task", task) for task in await _changed_tasks(service, who, tasks)]
            if not lines and time.monotonic() > spoken + _KEEPALIVE_SECONDS:
                lines = [b": still here\n\n"]
            if lines:
                spoken = time.monotonic()
                yield b"".join(lines)


def _client(who: Principal) -> str:
    """Whose share a stream is of: a key's, whichever session it comes by; without keys, an address's."""
    return f"key {who.key_id}" if who.key_id is not None else f"address {who.client_ip}"


class _StreamPermission:
    """Whether a listener may stay: the server goes on, and the key is good, which is looked up now and then."""

    def __init__(self, service: Service, who: Principal) -> None:
        self._service = service
        self._who = who
        self._checked = time.monotonic()

    async def still(self) -> bool:
        if self._service.draining:
            return False
        if self._who.key_id is None or time.monotonic() < self._checked + _KEY_CHECK_SECONDS:
            return True
        self._checked = time.monotonic()
        return await self._service.ask(self._service.store.access.still_good, self._who.key_id)


async def _changed_tasks(service: Service, who: Principal, known: dict[str, Any]) -> list[Any]:
    """Tasks that went on since they were last told of; their results are asked for by whoever wants them."""
    now = {}
    for task in await service.call(service.tasks.all):
        if may_see(task, who):
            now[task.id] = {**plain(task), "result": None}
    moved = [told for number, told in now.items() if known.get(number) != told]
    known.clear()
    known.update(now)
    return moved


def _line(kind: str, what: Any, number: int | None = None) -> bytes:
    mark = b"" if number is None else b"id: %d\n" % number
    return b"%sevent: %s\ndata: %s\n\n" % (mark, kind.encode(), encode_json(plain(what)))
