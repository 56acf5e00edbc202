"""What the routes share, one for each process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ParamSpec, TypeVar

from fastapi import Depends, Request, Response

from headwater.client import Lineage
from headwater.server.access.principal import (
    Principal,
    administers,
    administers_all,
    reads,
    reads_all,
    writes,
    writes_all,
)
from headwater.server.app.live_feed import Feed
from headwater.server.app.readiness import Readiness
from headwater.server.app.request_bodies import Gate
from headwater.server.app.responses import Json
from headwater.server.app.settings import Settings
from headwater.server.app.threads import Threads
from headwater.server.ingest.group_commit import Intake
from headwater.server.ingest.local_ingest import Storing
from headwater.server.tasks.tasks import Tasks
from headwater.store.store import Store

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


@dataclass
class Service:
    store_url: str
    store: Lineage
    settings: Settings
    threads: Threads
    gate: Gate
    storing: Storing
    intake: Intake
    tasks: Tasks
    feed: Feed
    readiness: Readiness
    draining: bool = False
    """Asked to stop: what is under way is finished, and streams are ended."""
    count_again_at: float = 0.0
    """When the graph is next counted for the metrics."""

    def drain(self) -> None:
        self.draining = self.feed.ending = True

    def seen_by(self, who: Principal) -> Store:
        return self.store.visible_to(who.visibility)

    async def answer(
        self, call: Callable[Arguments, object], *args: Arguments.args, **options: Arguments.kwargs
    ) -> Response:
        """What the call answers, as JSON: that is made in the thread too, for it may be megabytes."""
        return await self.threads.read(lambda: Json(call(*args, **options)))

    async def ask(
        self, call: Callable[Arguments, Answer], *args: Arguments.args, **options: Arguments.kwargs
    ) -> Answer:
        return await self.threads.read(call, *args, **options)


async def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


Serving = Annotated[Service, Depends(_service)]
Reader = Annotated[Principal, Depends(reads)]
Writer = Annotated[Principal, Depends(writes)]
Admin = Annotated[Principal, Depends(administers)]
# Of all namespaces, not only of some.
FullReader = Annotated[Principal, Depends(reads_all)]
FullWriter = Annotated[Principal, Depends(writes_all)]
FullAdmin = Annotated[Principal, Depends(administers_all)]
