"""Shutdown within a time limit: a thread in the store cannot be interrupted, but need not be waited for."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable

from headwater.server.app.threads import POOL_NAMES

_log = logging.getLogger("headwater.server")


def close_within(seconds: float, close: Callable[[], object]) -> bool:
    """Call ``close`` and return whether it finished in time; otherwise its thread is abandoned."""
    thread = threading.Thread(target=close, name="closing", daemon=True)
    thread.start()
    thread.join(seconds)
    return not thread.is_alive()


def exit_despite_threads() -> None:
    """Exit at once if threads of :mod:`~headwater.server.app.threads` are running, which a regular exit would wait for.

    What they write is not committed then, and was not acknowledged.
    """
    remaining = [thread.name for thread in threading.enumerate() if thread.name.startswith(POOL_NAMES)]
    if remaining:
        _log.warning("shut down without waiting for %s", ", ".join(sorted(remaining)))
        os._exit(0)
