"""The application: assembles its parts, and starts and stops it."""

from __future__ import annotations

import multiprocessing
import signal
import tempfile
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import FrameType

from fastapi import FastAPI

import headwater
from headwater.server import access
from headwater.server.access.proxies import ForwardedClient, TrustedProxies
from headwater.server.app import logs, problems
from headwater.server.app.live_feed import LiveFeed
from headwater.server.app.openapi_schemas import COMPONENTS, OpenApiDocument, remove_default_validation_errors
from headwater.server.app.readiness import ReadinessProbe
from headwater.server.app.request_bodies import BodyReader
from headwater.server.app.request_middleware import RequestMiddleware
from headwater.server.app.service import Service
from headwater.server.app.settings import ServerSettings, settings_from_environment
from headwater.server.app.shutdown import close_within, exit_despite_threads
from headwater.server.app.threads import StoreThreads
from headwater.server.ingest.fast_ingest_route import FastIngestRoute
from headwater.server.ingest.group_commit import GroupCommit
from headwater.server.ingest.local_ingest import LocalIngest
from headwater.server.ingest.writer_client import WriterClient
from headwater.server.routes import install as install_routes
from headwater.server.routes import page
from headwater.server.tasks.tasks import Tasks

PREFIX = "/api/v1"
_SignalHandler = Callable[[int, FrameType | None], object] | int | None
"""What the signal module returns: a function, or a constant such as ``SIG_DFL``."""
_CLOSE_SECONDS = 1.0
"""How long to wait at shutdown for each of: events being stored, and queries being answered."""


def create_app(store_url: str, settings: ServerSettings | None = None) -> FastAPI:
    settings = settings or ServerSettings()
    service = _service(store_url, settings)
    app = FastAPI(
        title="Headwater",
        version=headwater.__version__,
        summary="Data lineage for PySpark: where tables, columns and rows come from, and what depends on them.",
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,  # its pages load scripts from other hosts
        redoc_url=None,
        redirect_slashes=False,
        servers=[{"url": settings.root_path}] if settings.root_path else None,
        lifespan=_lifespan,
    )
    app.state.service = service
    problems.install(app)
    install_routes(app, PREFIX)
    _extend_openapi(app)
    app.add_middleware(FastIngestRoute, service=service, path=f"{PREFIX}/lineage")
    access.install(app, service.store, settings)
    page.install(app, settings.root_path)
    app.add_middleware(RequestMiddleware, root_path=settings.root_path)
    if settings.trusted_proxies:
        app.add_middleware(ForwardedClient, proxies=TrustedProxies(settings.trusted_proxies))
    return app


def _service(store_url: str, settings: ServerSettings) -> Service:
    store = headwater.connect(store_url, max_direct_edges=settings.max_direct_edges)
    threads = StoreThreads(settings.writers, settings.readers)
    ingest = (
        LocalIngest(store)
        if settings.writer_socket is None
        else WriterClient(settings.writer_socket, LocalIngest(store))
    )
    workspace = Path(settings.workspace or tempfile.mkdtemp(prefix="headwater-"))
    return Service(
        store_url=store_url,
        store=store,
        settings=settings,
        threads=threads,
        body_reader=BodyReader(settings),
        ingest=ingest,
        group_commit=GroupCommit(ingest, settings.writers),
        tasks=Tasks(workspace),
        feed=LiveFeed(store, threads),
        readiness=ReadinessProbe(store, store_url, threads),
    )


def worker() -> FastAPI:
    """Create the application in a process of `headwater serve`."""
    store_url, settings = settings_from_environment()
    logs.configure_logging(settings.log_level)
    return create_app(store_url, settings)


def _extend_openapi(app: FastAPI) -> None:
    generate = app.openapi

    def openapi() -> OpenApiDocument:
        if app.openapi_schema is None:
            document = generate()
            document.setdefault("components", {}).setdefault("schemas", {}).update(COMPONENTS)
            remove_default_validation_errors(document)
        assert app.openapi_schema is not None
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    service: Service = app.state.service
    _drain_on_signal(service)
    try:
        yield
    finally:
        service.drain()
        service.tasks.close()
        if isinstance(service.ingest, WriterClient):
            service.ingest.closing = True
        closed = [close_within(_CLOSE_SECONDS, close) for close in (service.group_commit.close, service.threads.close)]
        service.readiness.close()
        app.state.authenticator.close()
        service.store.close()
        if not all(closed) and multiprocessing.parent_process() is not None:
            exit_despite_threads()  # a single process has more to clean up first


def _drain_on_signal(service: Service) -> None:
    """Drain at the signal: uvicorn reports shutdown only when open requests have finished, and streams would not."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGTERM, signal.SIGINT):
        previous = signal.getsignal(number)

        def handle(received: int, frame: FrameType | None, previous: _SignalHandler = previous) -> None:
            service.drain()
            if callable(previous):
                previous(received, frame)

        signal.signal(number, handle)
