"""The threads that call the store, which blocks. Their number is limited."""

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
"""Prefixes of the thread names."""
_SWITCH_SECONDS = 0.001


class StoreThreads:
    """Separate threads for writing and reading, so that a query never waits behind a queue of events."""

    def __init__(self, writers: int, readers: int) -> None:
        self._writers = ThreadPoolExecutor(writers, POOL_NAMES[0])
        self._readers = ThreadPoolExecutor(readers, POOL_NAMES[1])
        # Otherwise a thread that folds events would hold the interpreter for 5 ms each time a reader needs it.
        sys.setswitchinterval(_SWITCH_SECONDS)

    async def write(
        self, function: Callable[Arguments, Answer], *args: Arguments.args, **options: Arguments.kwargs
    ) -> Answer:
        return await asyncio.get_running_loop().run_in_executor(self._writers, partial(function, *args, **options))

    async def read(
        self, function: Callable[Arguments, Answer], *args: Arguments.args, **options: Arguments.kwargs
    ) -> Answer:
        return await asyncio.get_running_loop().run_in_executor(self._readers, partial(function, *args, **options))

    def close(self) -> None:
        """Finish running calls and cancel waiting ones."""
        self._writers.shutdown(cancel_futures=True)
        self._readers.shutdown(cancel_futures=True)
