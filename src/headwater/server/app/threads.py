"""Where the store is called: it blocks, so it has threads of its own, and not more than are good for it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")

POOL_NAMES = ("write", "read")
"""How the names of the threads begin."""
_SWITCH_SECONDS = 0.001


class StoreThreads:
    """Writers and readers apart, so that a question never waits behind a queue of events."""

    def __init__(self, writers: int, readers: int) -> None:
        self._writers = ThreadPoolExecutor(writers, POOL_NAMES[0])
        self._readers = ThreadPoolExecutor(readers, POOL_NAMES[1])
        # A thread that folds events would otherwise keep the interpreter for 5 ms each time a reader wants it.
        sys.setswitchinterval(_SWITCH_SECONDS)

    async def write(
        self, call: Callable[Arguments, Answer], *args: Arguments.args, **options: Arguments.kwargs
    ) -> Answer:
        return await asyncio.get_running_loop().run_in_executor(self._writers, partial(call, *args, **options))

    async def read(
        self, call: Callable[Arguments, Answer], *args: Arguments.args, **options: Arguments.kwargs
    ) -> Answer:
        return await asyncio.get_running_loop().run_in_executor(self._readers, partial(call, *args, **options))

    def close(self) -> None:
        """What was begun is finished, and nothing else begun."""
        self._writers.shutdown(cancel_futures=True)
        self._readers.shutdown(cancel_futures=True)
