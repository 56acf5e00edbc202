"""The writer process: one per server, however many processes handle requests.

    python -m headwater.server.ingest.writer_process SOCKET

The server starts it and passes its settings in the environment.

Its cache of the store stays valid between transactions, because it is the only writer (decision 17), and parsing and
folding events does not take the interpreter from queries.

It runs as long as its standard input is open, which is as long as the server runs; it ignores signals.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
from multiprocessing.connection import Connection, Listener
from pathlib import Path
from threading import Thread

import headwater
from headwater.server.app import logs
from headwater.server.app.settings import settings_from_environment
from headwater.server.ingest.local_ingest import LocalIngest, ReceivedBody, is_expected

_log = logging.getLogger("headwater.server")
_GC_THRESHOLDS = (100_000, 50, 100)


def serve_connection(ingest: LocalIngest, connection: Connection) -> None:
    """Store batch after batch until the other end closes the connection."""
    with connection:
        while True:
            try:
                request = connection.recv()
            except (EOFError, OSError):
                return
            answer = _ingest(ingest, request)
            try:
                connection.send(answer)
            except OSError:  # the server process is gone; clients send their events again
                return


def _ingest(ingest: LocalIngest, request: object) -> object:
    try:
        if isinstance(request, ReceivedBody):
            return ingest.batch(request)
        assert isinstance(request, list)
        results = ingest.events(request)
        return [
            _reportable(result, body) if isinstance(result, Exception) else result
            for result, body in zip(results, request, strict=True)
        ]
    except Exception as error:
        return _reportable(error, request)


def _reportable(error: Exception, about: object) -> Exception:
    """Return an error for the client; an unexpected one is logged here, and the client gets no details."""
    if is_expected(error):
        return error
    request_id = about.actor.correlation_id if isinstance(about, ReceivedBody) else None
    _log.error("an event could not be stored", exc_info=error, extra={"request_id": request_id})
    return RuntimeError("The writer process failed. See the server's log.")


def main(path: str) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    store_url, settings = settings_from_environment()
    logs.configure_logging(settings.log_level)
    # The objects of a fold are all freed when it ends. Searching them for cycles while their number grows took two
    # fifths of the time for which requests wait.
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)
    store = headwater.connect(store_url, max_direct_edges=settings.max_direct_edges)
    Path(path).unlink(missing_ok=True)  # left by an earlier process that was killed
    listener = Listener(path, family="AF_UNIX", backlog=64)
    Thread(target=_accept_connections, args=(listener, LocalIngest(store)), daemon=True).start()
    sys.stdin.buffer.read()
    store.close()
    # Batches in progress were not acknowledged, so the process does not wait for them.
    os._exit(0)


def _accept_connections(listener: Listener, ingest: LocalIngest) -> None:
    while True:
        connection = listener.accept()
        Thread(target=serve_connection, args=(ingest, connection), daemon=True).start()


if __name__ == "__main__":
    main(sys.argv[1])
