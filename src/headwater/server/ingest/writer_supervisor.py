"""Supervises the writer process: starts it before the first request, and again whenever it dies."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Self

from headwater.store.engine.database import shown_address

_log = logging.getLogger("headwater.server")
_RESTART_SECONDS = 1.0
_EXIT_SECONDS = 2.0
"""How long to wait for the process to exit after its input is closed, before killing it."""
_MAX_PATH_BYTES = 100
"""Maximum length of a socket's path on all systems that have Unix sockets."""


def is_possible(store_url: str, path: str) -> bool:
    """Whether a writer process can serve the store: one in memory exists in a single process only."""
    fits = hasattr(socket, "AF_UNIX") and len(os.fsencode(path)) <= _MAX_PATH_BYTES
    return fits and shown_address(store_url) != "memory://"


class WriterSupervisor:
    """Runs the writer process while its `with` block lasts. Leave the block when all batches have been answered."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._ending = Event()
        self._starting = Lock()
        self._process = self._start()
        self._thread = Thread(target=self._supervise, name="writer-supervisor", daemon=True)
        self._thread.start()

    def _start(self) -> subprocess.Popen[bytes]:
        # The process exits when its standard input is closed, which also happens if the server is killed.
        command = [sys.executable, "-m", "headwater.server.ingest.writer_process", self._path]
        return subprocess.Popen(command, stdin=subprocess.PIPE)

    def _supervise(self) -> None:
        while True:
            with self._process:  # leaving the block closes its input as well
                self._process.wait()
            if self._ending.wait(_RESTART_SECONDS):
                return
            _log.warning("the writer process died (%s); starting another", self._process.returncode)
            with self._starting:
                if self._ending.is_set():
                    return
                self._process = self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending.set()
        with self._starting:
            assert self._process.stdin is not None
            self._process.stdin.close()
        self._thread.join(_EXIT_SECONDS)
        if self._thread.is_alive():
            self._process.kill()
            self._thread.join()
