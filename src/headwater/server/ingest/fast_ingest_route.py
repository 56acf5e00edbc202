"""The one request that comes thousands of times a second, past the router.

Finding the route among all there are, and what FastAPI does around it, takes longer than reading the event. The route
is declared like any other, and what it does is done here by the same function.
"""

from __future__ import annotations

from fastapi import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from headwater.errors import HeadwaterError
from headwater.server.access.principal import require_write
from headwater.server.app import problems
from headwater.server.app.service import Service
from headwater.server.routes.intake import take_event


class FastIngestRoute:
    def __init__(self, app: ASGIApp, service: Service, path: str) -> None:
        self._app = app
        self._service = service
        self._path = self.path_format = path
        """``path_format`` as a route has it, by which requests are counted."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != self._path or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        scope["route"] = self
        request = Request(scope, receive, send)
        try:
            answer = await take_event(request, self._service, await require_write(request))
        except (problems.HttpProblem, HeadwaterError) as error:
            answer = problems.error_response(request, error)
        await answer(scope, receive, send)
