"""Ending in time, whatever a thread is at: a fold or a query cannot be interrupted, but need not be waited for."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable

from headwater.server.app.threads import POOL_NAMES

_log = logging.getLogger("headwater.server")


def close_within(seconds: float, close: Callable[[], object]) -> bool:
    """Whether ``close`` returned by then; else it is left behind."""
    thread = threading.Thread(target=close, name="closing", daemon=True)
    thread.start()
    thread.join(seconds)
    return not thread.is_alive()


def exit_despite_threads() -> None:
    """End the process here if threads of :mod:`~headwater.server.app.threads` are left, which its regular end would
    wait for. What they write is not committed then, and was acknowledged to nobody."""
    left = [thread.name for thread in threading.enumerate() if thread.name.startswith(POOL_NAMES)]
    if left:
        _log.warning("shut down without waiting for %s", ", ".join(sorted(left)))
        os._exit(0)
