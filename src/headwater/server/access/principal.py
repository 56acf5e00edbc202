"""The authenticated principal, and the dependencies by which a route requires a scope.

``middleware.py`` has authenticated the request before a route is reached; the route states the scope it requires.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from fastapi import Request

from headwater.errors import NotAuthenticated, NotPermitted
from headwater.model.access import Scope
from headwater.model.audit import Actor
from headwater.store.access.visibility import Visibility


@dataclass(frozen=True, slots=True)
class Principal:
    name: str
    scopes: frozenset[Scope]
    visibility: Visibility
    """Which namespaces the principal sees."""
    key_id: str | None
    """None on a server that needs no key: on loopback, as long as the store has none."""
    client_ip: str | None = None
    user_agent: str | None = None
    request_id: str | None = None

    @property
    def actor(self) -> Actor:
        """The principal as the audit log records it."""
        return Actor(
            self.name,
            "user" if self.key_id is None else "key",
            correlation_id=self.request_id,
            client_ip=self.client_ip,
            user_agent=self.user_agent,
        )


async def current_principal(request: Request) -> Principal:
    """Return the principal of a request, whatever its scopes."""
    principal = request.scope.get("state", {}).get("principal")
    if not isinstance(principal, Principal):
        raise NotAuthenticated()
    return principal


def _require_scope(scope: Scope, *, whole: bool = False) -> Callable[[Request], Awaitable[Principal]]:
    # A coroutine, although it awaits nothing: FastAPI runs other dependencies in a thread.
    async def principal_with_scope(request: Request) -> Principal:
        principal = await current_principal(request)
        if scope not in principal.scopes or (whole and not principal.visibility.is_everything):
            raise NotPermitted(scope, whole=whole)
        return principal

    return principal_with_scope


require_read = _require_scope(Scope.READ)
require_write = _require_scope(Scope.WRITE)
require_admin = _require_scope(Scope.ADMIN)
# For data that cannot be limited to namespaces: totals of the whole store, and records, which have no namespace.
require_full_read = _require_scope(Scope.READ, whole=True)
require_full_write = _require_scope(Scope.WRITE, whole=True)
require_full_admin = _require_scope(Scope.ADMIN, whole=True)
