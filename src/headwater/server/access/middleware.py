"""Authenticates every request below /api/ before it reaches a route, and checks its origin and its rate.

A route that forgot to ask for a principal would still be closed to unauthenticated requests.
"""

from __future__ import annotations

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from headwater.errors import AccessError, NotAuthenticated, StoreError
from headwater.server.access.credentials import Authenticator
from headwater.server.app import problems

_PROTECTED_PREFIX = "/api/"
_LOGIN = ("POST", "/api/v1/session")


class AccessMiddleware:
    def __init__(self, app: ASGIApp, authenticator: Authenticator) -> None:
        self._app = app
        self._authenticator = authenticator

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            await self._authenticate(scope)
        except (AccessError, StoreError) as refused:
            instance = scope["raw_path"].decode("ascii", "replace")
            answer = problems.problem_response(problems.problem_of(refused), instance, scope["state"]["request_id"])
            await answer(scope, receive, send)
            return
        await self._app(scope, receive, send)

    async def _authenticate(self, scope: Scope) -> None:
        method, path = scope["method"], scope["path"]
        if (method, path) == _LOGIN or not (path.startswith(_PROTECTED_PREFIX) or path == "/metrics"):
            return
        principal = await self._authenticator.principal(HTTPConnection(scope), method)
        if principal is None:
            raise NotAuthenticated()
        scope.setdefault("state", {})["principal"] = principal
