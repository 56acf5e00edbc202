"""Who may do what: keys, sessions, scopes, the veil, and how often.

``install`` puts the door before the application, ``check_bind`` refuses an address where the door would stand open.
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
    """To be called before the outermost middleware is added: the door needs the request's id, and its answers, too,
    are wrapped."""
    from headwater.server.access.credentials import Authenticator
    from headwater.server.access.key_routes import router as keys
    from headwater.server.access.middleware import AccessMiddleware
    from headwater.server.access.session_routes import router

    credentials = Authenticator(store, settings)
    app.state.credentials = credentials
    app.include_router(router, prefix="/api/v1")
    app.include_router(keys, prefix="/api/v1")
    app.add_middleware(AccessMiddleware, credentials=credentials)
