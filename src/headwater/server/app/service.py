"""What the routes share; one instance per process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ParamSpec, TypeVar

from fastapi import Depends, Request, Response

from headwater.client import Lineage
from headwater.server.access.principal import (
    Principal,
    require_admin,
    require_full_admin,
    require_full_read,
    require_full_write,
    require_read,
    require_write,
)
from headwater.server.app.live_feed import LiveFeed
from headwater.server.app.readiness import ReadinessProbe
from headwater.server.app.request_bodies import BodyReader
from headwater.server.app.responses import JsonResponse
from headwater.server.app.settings import ServerSettings
from headwater.server.app.threads import StoreThreads
from headwater.server.ingest.group_commit import GroupCommit
from headwater.server.ingest.local_ingest import Ingest
from headwater.server.tasks.tasks import Tasks
from headwater.store.store import Store

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


@dataclass
class Service:
    store_url: str
    store: Lineage
    settings: ServerSettings
    threads: StoreThreads
    body_reader: BodyReader
    ingest: Ingest
    group_commit: GroupCommit
    tasks: Tasks
    feed: LiveFeed
    readiness: ReadinessProbe
    draining: bool = False
    """The server is shutting down: open requests are finished and streams closed."""
    count_again_at: float = 0.0
    """When the graph is next counted for the metrics, on the monotonic clock."""

    def drain(self) -> None:
        self.draining = self.feed.closing = True

    def store_for(self, who: Principal) -> Store:
        return self.store.visible_to(who.visibility)

    async def respond(
        self, function: Callable[Arguments, object], *args: Arguments.args, **options: Arguments.kwargs
    ) -> Response:
        """Return the result as JSON. It is encoded in the thread as well, because it may be megabytes."""
        return await self.threads.read(lambda: JsonResponse(function(*args, **options)))

    async def call(
        self, function: Callable[Arguments, Answer], *args: Arguments.args, **options: Arguments.kwargs
    ) -> Answer:
        return await self.threads.read(function, *args, **options)


async def _current_service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


CurrentService = Annotated[Service, Depends(_current_service)]
Reader = Annotated[Principal, Depends(require_read)]
Writer = Annotated[Principal, Depends(require_write)]
Admin = Annotated[Principal, Depends(require_admin)]
# These require a key for all namespaces.
FullReader = Annotated[Principal, Depends(require_full_read)]
FullWriter = Annotated[Principal, Depends(require_full_write)]
FullAdmin = Annotated[Principal, Depends(require_full_admin)]
