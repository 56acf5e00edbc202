"""What the benchmarks share: stores to measure on, interleaved timing, and tables that say where and when."""

from __future__ import annotations

import os
import platform
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.support.postgres import PostgresServer, PostgresUnavailable

console = Console(width=140 if not os.isatty(1) else None)


@contextmanager
def databases(kinds: Sequence[str], copies: int = 1) -> Iterator[dict[str, list[str]]]:
    """Addresses of empty databases, by kind; a kind that cannot be had is named and left out."""
    folder = Path(tempfile.mkdtemp(prefix="headwater-bench-"))
    server: PostgresServer | None = None
    urls: dict[str, list[str]] = {}
    try:
        if "sqlite" in kinds:
            urls["sqlite"] = [f"sqlite:///{folder}/bench_{copy}.db" for copy in range(copies)]
        if "postgresql" in kinds:
            try:
                server = PostgresServer()
                server.start()
                for copy in range(copies):
                    server.create_database(f"bench_{copy}")
                urls["postgresql"] = [server.url(f"bench_{copy}") for copy in range(copies)]
            except PostgresUnavailable as reason:
                console.print(f"not run: postgresql ({reason})")
        yield urls
    finally:
        if server is not None:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def interleaved(contestants: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Seconds per call, the contestants taking turns so that a slow moment of the machine hits all of them."""
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for warm_up in contestants.values():
        warm_up()
    for _ in range(rounds):
        for name, call in contestants.items():
            start = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - start)
    return times


def median_ms(times: Sequence[float]) -> float:
    return statistics.median(times) * 1000


def machine() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**30
    return (
        f"{os.cpu_count()} cores, {memory} GiB, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, {date.today().isoformat()}"
    )


def show(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    table = Table(*columns, title=title, caption=machine(), title_justify="left", caption_justify="left")
    for row in rows:
        table.add_row(*(f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in row))
    console.print(table)
