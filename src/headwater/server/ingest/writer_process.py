"""The process that writes: one for a server, however many processes answer requests.

    python -m headwater.server.ingest.writer_process SOCKET

The server starts it and hands its settings on in the environment.

What it knows of the store holds from one transaction to the next, because nobody else writes (decision 17), and events
are read and folded without keeping the interpreter from whoever asks a question.

It lives as long as its standard input is open, which is as long as the server: signals are the server's to hear.
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


def serve_connection(storing: LocalIngest, connection: Connection) -> None:
    """One batch after another, as long as there is somebody at the other end."""
    with connection:
        while True:
            try:
                asked = connection.recv()
            except (EOFError, OSError):
                return
            told = _ingest(storing, asked)
            try:
                connection.send(told)
            except OSError:  # gone meanwhile: who sent the events will send them again
                return


def _ingest(storing: LocalIngest, asked: object) -> object:
    try:
        if isinstance(asked, ReceivedBody):
            return storing.many(asked)
        assert isinstance(asked, list)
        outcomes = storing.events(asked)
        return [
            _reportable(one, sent) if isinstance(one, Exception) else one
            for one, sent in zip(outcomes, asked, strict=True)
        ]
    except Exception as error:
        return _reportable(error, asked)


def _reportable(error: Exception, about: object) -> Exception:
    """What was not foreseen stays in the log of the process it happened in."""
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
    # What a fold makes goes as a whole when it is over. To look through it for cycles again and again while it grows
    # took two fifths of the time for which the others wait.
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)
    store = headwater.connect(store_url, max_direct_edges=settings.max_direct_edges)
    Path(path).unlink(missing_ok=True)  # of one before us, which was killed
    listener = Listener(path, family="AF_UNIX", backlog=64)
    Thread(target=_accept_connections, args=(listener, LocalIngest(store)), daemon=True).start()
    sys.stdin.buffer.read()
    store.close()
    # What is still under way was acknowledged to nobody, and is not waited for.
    os._exit(0)


def _accept_connections(listener: Listener, storing: LocalIngest) -> None:
    while True:
        connection = listener.accept()
        Thread(target=serve_connection, args=(storing, connection), daemon=True).start()


if __name__ == "__main__":
    main(sys.argv[1])
