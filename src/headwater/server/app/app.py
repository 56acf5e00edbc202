"""The application: its parts put together, and its life from the first request to the last."""

from __future__ import annotations

import multiprocessing
import signal
import tempfile
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI

import headwater
from headwater.server import access
from headwater.server.access.proxies import ForwardedClient, TrustedProxies
from headwater.server.app import logs, problems
from headwater.server.app.live_feed import Feed
from headwater.server.app.openapi_schemas import COMPONENTS, without_foreign_problems
from headwater.server.app.readiness import Readiness
from headwater.server.app.request_bodies import Gate
from headwater.server.app.request_middleware import Envelope
from headwater.server.app.service import Service
from headwater.server.app.settings import Settings, from_environment
from headwater.server.app.shutdown import close_within, leave_threads
from headwater.server.app.threads import Threads
from headwater.server.ingest.fast_ingest_route import Shortcut
from headwater.server.ingest.group_commit import Intake
from headwater.server.ingest.local_ingest import Here
from headwater.server.ingest.writer_client import Dictating
from headwater.server.routes import install as install_routes
from headwater.server.routes import page
from headwater.server.tasks.tasks import Tasks

PREFIX = "/api/v1"
_CLOSE_SECONDS = 1.0
"""For what is under way when requests are waited for no longer: first the storing, then the questions."""


def create_app(store_url: str, settings: Settings | None = None) -> FastAPI:
    settings = settings or Settings()
    service = _service(store_url, settings)
    app = FastAPI(
        title="Headwater",
        version=headwater.__version__,
        summary="Data lineage for PySpark: where tables, columns and rows come from, and what depends on them.",
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,  # they load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        servers=[{"url": settings.root_path}] if settings.root_path else None,
        lifespan=_life,
    )
    app.state.service = service
    problems.install(app)
    install_routes(app, PREFIX)
    _document(app)
    app.add_middleware(Shortcut, service=service, path=f"{PREFIX}/lineage")
    access.install(app, service.store, settings)
    page.install(app, settings.root_path)
    app.add_middleware(Envelope, root_path=settings.root_path)
    if settings.trusted_proxies:
        app.add_middleware(ForwardedClient, proxies=TrustedProxies(settings.trusted_proxies))
    return app


def _service(store_url: str, settings: Settings) -> Service:
    store = headwater.connect(store_url, max_direct_edges=settings.max_direct_edges)
    threads = Threads(settings.writers, settings.readers)
    storing = Here(store) if settings.scribe is None else Dictating(settings.scribe, Here(store))
    workspace = Path(settings.workspace or tempfile.mkdtemp(prefix="headwater-"))
    return Service(
        store_url,
        store,
        settings,
        threads,
        Gate(settings),
        storing,
        Intake(storing, settings.writers),
        Tasks(workspace),
        Feed(store, threads),
        Readiness(store, store_url, threads),
    )


def worker() -> FastAPI:
    """One of the processes of `headwater serve`."""
    store_url, settings = from_environment()
    logs.set_up(settings.log_level)
    return create_app(store_url, settings)


def _document(app: FastAPI) -> None:
    made = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = made()
            document.setdefault("components", {}).setdefault("schemas", {}).update(COMPONENTS)
            without_foreign_problems(document)
        assert app.openapi_schema is not None
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


@asynccontextmanager
async def _life(app: FastAPI) -> AsyncIterator[None]:
    service: Service = app.state.service
    _hear_of_the_end(service)
    try:
        yield
    finally:
        service.drain()
        service.tasks.close()
        if isinstance(service.storing, Dictating):
            service.storing.ending = True
        closed = [close_within(_CLOSE_SECONDS, close) for close in (service.intake.close, service.threads.close)]
        service.readiness.close()
        app.state.credentials.close()
        service.store.close()
        if not all(closed) and multiprocessing.parent_process() is not None:
            leave_threads()  # of several workers each ends itself; a server of one has more to clear away first


def _hear_of_the_end(service: Service) -> None:
    """uvicorn finishes what is under way before it says that the end has come; streams would never finish."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGTERM, signal.SIGINT):
        before = signal.getsignal(number)

        def heard(received: int, frame: Any, before: Any = before) -> None:
            service.drain()
            if callable(before):
                before(received, frame)

        signal.signal(number, heard)
