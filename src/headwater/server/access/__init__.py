"""Access control of the HTTP server: keys, sessions, scopes, visible namespaces and rate limits.

``install`` adds the middleware and the routes; ``check_bind`` refuses an address that other machines reach as long as
the store has no key.

``middleware`` authenticates every request below ``/api/``, ``credentials`` does the work for it, ``principal`` has the
dependencies by which a route states its scope. ``origin_check``, ``proxies``, ``rate_limits`` and ``refusals`` (audit
entries for failed attempts) are used by these; ``key_routes`` and ``session_routes`` are the routes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.server.access.bind_address import check_bind

if TYPE_CHECKING:
    from fastapi import FastAPI

    from headwater.server.app.settings import ServerSettings
    from headwater.store.store import Store

__all__ = ["check_bind", "install"]


def install(app: FastAPI, store: Store, settings: ServerSettings) -> None:
    """Add access control to the application.

    Call this before the outermost middleware is added: access control needs the request id, and its responses need the
    headers, that the outer middleware provides.
    """
    from headwater.server.access.credentials import Authenticator
    from headwater.server.access.key_routes import router as keys
    from headwater.server.access.middleware import AccessMiddleware
    from headwater.server.access.session_routes import router

    authenticator = Authenticator(store, settings)
    app.state.authenticator = authenticator
    app.include_router(router, prefix="/api/v1")
    app.include_router(keys, prefix="/api/v1")
    app.add_middleware(AccessMiddleware, authenticator=authenticator)
