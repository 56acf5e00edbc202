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
from headwater.server.app.openapi_schemas import answers_text
from headwater.server.app.problems import Problem
from headwater.server.app.responses import encoded
from headwater.server.app.service import Reader, Service, Serving
from headwater.server.routes.tasks import may_see

router = APIRouter(tags=["Live"])
_ALIVE_SECONDS = 15.0
_CHECKED_SECONDS = 2.0
"""Whether the key that a stream was opened with is still good."""
_AT_ONCE = 500


@router.get("/stream", response_class=Response, responses=answers_text(["text/event-stream"], 422))
async def stream(
    serving: Serving, who: Reader, last_event_id: Annotated[str | None, Header(max_length=100)] = None
) -> Response:
    """`run` for each event of a run, `task` for each step of a task. `Last-Event-ID` goes on where one left off."""
    if serving.feed.listeners >= serving.settings.streams:
        raise Problem(429, "streams_busy", "Too many open streams.", {"Retry-After": "10"})
    if serving.feed.listeners_of(_client(who)) >= serving.settings.streams_per_key:
        detail = f"This key has {serving.settings.streams_per_key} open streams, the maximum. Close one first."
        raise Problem(429, "streams_busy", detail, {"Retry-After": "10"})
    after = int(last_event_id) if last_event_id is not None and last_event_id.isdecimal() else None
    told = _told(serving, who, None if after is None else min(after, 2**62))
    return StreamingResponse(told, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


async def _told(serving: Service, who: Principal, after: int | None) -> AsyncIterator[bytes]:
    yield b"retry: 2000\n\n"
    pages = serving.seen_by(who).pages
    tasks: dict[str, Any] = {}
    spoken = time.monotonic()
    welcome = _Welcome(serving, who)
    async with aclosing(
        serving.feed.turns(_client(who), serving.settings.streams_per_key)
    ) as turns:  # or it would count as a listener until it is collected
        async for last in turns:
            after = last if after is None else after
            while after < last:
                # Each portion is handed over before the next is read: whoever begins at 0 may be a million behind,
                # and read slowly. They are as much of a listener as the others when the server ends, or their key.
                if not await welcome.still():
                    return
                events = await serving.ask(pages.runs_after, after, limit=_AT_ONCE)
                after = events[-1].number if len(events) == _AT_ONCE else last
                if events:
                    yield b"".join(_line("run", event, event.number) for event in events)
                    spoken = time.monotonic()
            if not await welcome.still():
                return
            lines = [_line("task", task) for task in await _moved(serving, who, tasks)]
            if not lines and time.monotonic() > spoken + _ALIVE_SECONDS:
                lines = [b": still here\n\n"]
            if lines:
                spoken = time.monotonic()
                yield b"".join(lines)


def _client(who: Principal) -> str:
    """Whose share a stream is of: a key's, whichever session it comes by; without keys, an address's."""
    return f"key {who.key_id}" if who.key_id is not None else f"address {who.client_ip}"


class _Welcome:
    """Whether a listener may stay: the server goes on, and the key is good, which is looked up now and then."""

    def __init__(self, serving: Service, who: Principal) -> None:
        self._serving = serving
        self._who = who
        self._checked = time.monotonic()

    async def still(self) -> bool:
        if self._serving.draining:
            return False
        if self._who.key_id is None or time.monotonic() < self._checked + _CHECKED_SECONDS:
            return True
        self._checked = time.monotonic()
        return await self._serving.ask(self._serving.store.access.still_good, self._who.key_id)


async def _moved(serving: Service, who: Principal, known: dict[str, Any]) -> list[Any]:
    """Tasks that went on since they were last told of; their results are asked for by whoever wants them."""
    now = {}
    for task in await serving.ask(serving.tasks.all):
        if may_see(task, who):
            now[task.id] = {**plain(task), "result": None}
    moved = [told for number, told in now.items() if known.get(number) != told]
    known.clear()
    known.update(now)
    return moved


def _line(kind: str, what: Any, number: int | None = None) -> bytes:
    mark = b"" if number is None else b"id: %d\n" % number
    return b"%sevent: %s\ndata: %s\n\n" % (mark, kind.encode(), encoded(plain(what)))
