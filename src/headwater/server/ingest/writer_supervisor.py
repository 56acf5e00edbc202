"""Keeping the process that writes: started before the first request, and again whenever it goes."""

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
"""For the process to see that its input is closed; it waits for nothing then."""
_MAX_PATH_BYTES = 100
"""Of a socket, on any system that has them."""


def is_possible(store_url: str, path: str) -> bool:
    """A store in memory is in one process alone."""
    fits = hasattr(socket, "AF_UNIX") and len(os.fsencode(path)) <= _MAX_PATH_BYTES
    return fits and shown_address(store_url) != "memory://"


class WriterSupervisor:
    """While the block lasts. It is to be left when everything that was handed to the process has been answered."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._ending = Event()
        self._starting = Lock()
        self._process = self._start()
        self._thread = Thread(target=self._keep, name="keeper", daemon=True)
        self._thread.start()

    def _start(self) -> subprocess.Popen[bytes]:
        # By its standard input it knows that we are there, also when we are killed.
        command = [sys.executable, "-m", "headwater.server.ingest.writer_process", self._path]
        return subprocess.Popen(command, stdin=subprocess.PIPE)

    def _keep(self) -> None:
        while True:
            with self._process:  # which closes its input, too
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
