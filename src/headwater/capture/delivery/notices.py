"""Warnings, each logged once, and again only after its cause was resolved."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from threading import Lock

Warn = Callable[[str], None]


def log_warning(message: str) -> None:
    logging.getLogger("headwater").warning("%s", message)


class Notices:
    """Warnings by their cause."""

    def __init__(self, warn: Warn) -> None:
        self._warn = warn
        self._active: set[str] = set()
        self._mutex = Lock()

    def warn_once(self, cause: str, message: str) -> None:
        with self._mutex:
            is_active = cause in self._active
            self._active.add(cause)
        if not is_active:
            self._warn_safely(message)

    def resolved(self, cause: str, message: str) -> None:
        with self._mutex:
            was_active = cause in self._active
            self._active.discard(cause)
        if was_active:
            self._warn_safely(message)

    def in_trouble(self, cause: str) -> bool:
        return cause in self._active

    def _warn_safely(self, message: str) -> None:
        with suppress(Exception):  # if the job's own log handler fails, there is no other place for the warning
            self._warn(message)
