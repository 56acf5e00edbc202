"""Warnings, each once: again only after the trouble was over."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from threading import Lock

Warn = Callable[[str], None]


def log_warning(message: str) -> None:
    logging.getLogger("headwater").warning("%s", message)


class Notices:
    def __init__(self, warn: Warn) -> None:
        self._warn = warn
        self._active: set[str] = set()
        self._mutex = Lock()

    def trouble(self, cause: str, message: str) -> None:
        with self._mutex:
            known = cause in self._active
            self._active.add(cause)
        if not known:
            self._say(message)

    def over(self, cause: str, message: str) -> None:
        with self._mutex:
            known = cause in self._active
            self._active.discard(cause)
        if known:
            self._say(message)

    def in_trouble(self, cause: str) -> bool:
        return cause in self._active

    def _say(self, message: str) -> None:
        with suppress(Exception):  # where the job's own log handler fails, there is nobody left to tell
            self._warn(message)
