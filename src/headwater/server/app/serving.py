"""Runs the application: in one process, or in several that share a PostgreSQL database."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from contextlib import nullcontext
from dataclasses import replace

from headwater.errors import StoreError
from headwater.server.app import logs
from headwater.server.app.settings import ServerSettings
from headwater.server.app.shutdown import exit_despite_threads
from headwater.server.ingest.writer_supervisor import WriterSupervisor, is_possible
from headwater.store.engine.database import is_embedded

_DRAIN_SECONDS = 5
"""For open requests; those not answered by then are never acknowledged. Together with what is closed afterwards
(``app.py``, ``writer_supervisor.py``) a server ends within 10 seconds of the signal."""
_BACKLOG = 1024


def serve(store_url: str, settings: ServerSettings) -> None:
    """Serve until a signal; accepted requests are answered first, as far as time allows."""
    try:
        _serve(store_url, settings)
    except SystemExit as end:
        if not end.code:
            exit_despite_threads()
        raise


def _serve(store_url: str, settings: ServerSettings) -> None:
    with tempfile.TemporaryDirectory(prefix="headwater-serve-") as workspace:
        settings = replace(settings, workspace=settings.workspace or workspace)
        _refuse_workers_on_sqlite(store_url, settings)
        socket = os.path.join(workspace, "writer")
        if is_possible(store_url, socket):
            settings = replace(settings, writer_socket=socket)
        if settings.workers > 1:
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = os.path.join(workspace, "measures")
            os.mkdir(os.environ["PROMETHEUS_MULTIPROC_DIR"])
        os.environ.update(settings.as_environment(store_url))
        logs.configure_logging(settings.log_level)
        _check(store_url, settings)
        # uvicorn drains and then raises the signal again; a requested shutdown is not a failure.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        with WriterSupervisor(settings.writer_socket) if settings.writer_socket is not None else nullcontext():
            _run(settings)


def _refuse_workers_on_sqlite(store_url: str, settings: ServerSettings) -> None:
    if settings.workers > 1 and is_embedded(store_url):
        raise StoreError("Several workers need PostgreSQL: with SQLite one process is faster. Omit --workers.")


def _check(store_url: str, settings: ServerSettings) -> None:
    """Check before listening: the store is usable, and an address that others reach requires keys."""
    import headwater
    from headwater.server.access import check_bind

    with headwater.connect(store_url) as store:
        check_bind(store, settings)


def _run(settings: ServerSettings) -> None:
    import uvicorn

    from headwater.server.app.http_protocol import LimitedHttpProtocol

    uvicorn.run(
        "headwater.server.app.app:worker",
        factory=True,
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        http=LimitedHttpProtocol,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=True,
        proxy_headers=False,
        backlog=_BACKLOG,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=_DRAIN_SECONDS,
    )
