"""Who asks, and what they may do: the dependencies that every route begins with.

The door (``door.py``) has found out who it is before a route is reached; a route says what it takes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from fastapi import Request

from headwater.errors import NotAuthenticated, NotPermitted
from headwater.model.access import Scope
from headwater.model.audit import Actor
from headwater.store.access.visibility import Veil


@dataclass(frozen=True, slots=True)
class Principal:
    name: str
    scopes: frozenset[Scope]
    veil: Veil | None
    """Which namespaces they see; None: all."""
    key_id: str | None
    """None where nobody has to show a key: on loopback, as long as there is none."""
    client_ip: str | None = None
    user_agent: str | None = None
    request_id: str | None = None

    @property
    def actor(self) -> Actor:
        """As the audit log names them."""
        return Actor(
            self.name,
            "user" if self.key_id is None else "key",
            correlation_id=self.request_id,
            client_ip=self.client_ip,
            user_agent=self.user_agent,
        )


async def current_principal(request: Request) -> Principal:
    """Whoever it is, whatever they may do."""
    found = request.scope.get("state", {}).get("principal")
    if not isinstance(found, Principal):
        raise NotAuthenticated()
    return found


def _require_scope(scope: Scope, *, whole: bool = False) -> Callable[[Request], Awaitable[Principal]]:
    # Nothing is waited for: a dependency that is no coroutine would go through a thread.
    async def who(request: Request) -> Principal:
        found = await current_principal(request)
        if scope not in found.scopes or (whole and found.veil is not None):
            raise NotPermitted(scope, whole=whole)
        return found

    return who


require_read = _require_scope(Scope.READ)
require_write = _require_scope(Scope.WRITE)
require_admin = _require_scope(Scope.ADMIN)
# For what cannot be told in parts, like numbers about the whole store, or has no namespace, like records.
require_full_read = _require_scope(Scope.READ, whole=True)
require_full_write = _require_scope(Scope.WRITE, whole=True)
require_full_admin = _require_scope(Scope.ADMIN, whole=True)
