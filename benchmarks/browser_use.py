"""What a browser spends on a page, and its frames while something moves there."""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.server import processor_seconds
from tests.server.running import ServerProcess

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

TICKS = os.sysconf("SC_CLK_TCK")
_CATEGORIES = ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline"]
_FRAMES = """() => {
  const at = (window.frames_at = []);
  window.frames_end = false;
  const next = (now) => { at.push(now); if (!window.frames_end) requestAnimationFrame(next); };
  requestAnimationFrame(next);
}"""


@dataclass
class Spent:
    """Processor seconds."""

    browser: float = 0.0
    server: float = 0.0


@contextmanager
def spending(server: ServerProcess) -> Iterator[Spent]:
    assert server.process is not None
    spent = Spent()
    before = _browser_seconds(), processor_seconds(server.process.pid)
    yield spent
    spent.browser = _browser_seconds() - before[0]
    spent.server = processor_seconds(server.process.pid) - before[1]


def _browser_seconds() -> float:
    """Of every process below this one that is neither Python nor Playwright's own, which only hands messages on."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            name, _, rest = file.read_text().partition("(")[2].rpartition(")")
            fields = rest.split()
            parents[int(file.parent.name)] = int(fields[1])
            if "chrom" in name:
                ticks[int(file.parent.name)] = sum(map(int, fields[11:15]))  # with those of children that have ended
    return sum(spent for process, spent in ticks.items() if _below(process, parents)) / TICKS


def _below(process: int, parents: dict[int, int]) -> bool:
    while process in parents:
        process = parents[process]
        if process == os.getpid():
            return True
    return False


@dataclass(frozen=True)
class Motion:
    """Milliseconds between frames, and the longest stretch that the page's thread was held up, with the processor
    time in it."""

    p50: float
    p95: float
    longest: float
    task: float
    task_processor: float


def motion(browser: Browser, page: Page, move: Callable[[Page], None]) -> Motion:
    browser.start_tracing(page=page, categories=_CATEGORIES)
    try:
        page.evaluate(_FRAMES)
        move(page)
        at: list[float] = page.evaluate("() => { window.frames_end = true; return window.frames_at; }")
    finally:
        trace = browser.stop_tracing()
    gaps = sorted(later - earlier for earlier, later in pairwise(at))
    tasks = _tasks(json.loads(trace)["traceEvents"])
    return Motion(
        p50=statistics.median(gaps),
        p95=statistics.quantiles(gaps, n=20)[-1],
        longest=gaps[-1],
        task=max((one["dur"] for one in tasks), default=0) / 1000,
        task_processor=max((one.get("tdur", 0) for one in tasks), default=0) / 1000,
    )


def _tasks(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What ran on the main threads of renderers."""
    main = {
        (one["pid"], one["tid"])
        for one in events
        if one["name"] == "thread_name" and one["args"]["name"] == "CrRendererMain"
    }
    return [
        one
        for one in events
        if one["ph"] == "X" and one["name"].endswith("RunTask") and (one["pid"], one["tid"]) in main
    ]
