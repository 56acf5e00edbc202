"""Handles the one request that arrives thousands of times a second without the router.

Routing, and FastAPI's work around a route, take longer than parsing the event. The route is declared like any other,
and this calls the same function.
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
        """``path_format`` as routes have it: metrics count requests by it."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != self._path or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        scope["route"] = self
        request = Request(scope, receive, send)
        try:
            response = await take_event(request, self._service, await require_write(request))
        except (problems.HttpProblem, HeadwaterError) as error:
            response = problems.error_response(request, error)
        await response(scope, receive, send)
