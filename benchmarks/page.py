"""How soon the page shows large pictures, and how smoothly they move.

    ./dev bench page [explorer map wide] [--rounds N]

Chromium, as the tests start it and without a graphics card, before `headwater serve` on loopback; each round in a
fresh context, so nothing is in the browser's cache. Beside the clock stands the processor time of browser and server,
which does not depend on who else is at work.

*Explorer*: 301 cards, three hops around one, all their columns open, 900 edges between columns. *Map*: 5,000 datasets
and some 10,000 edges. *Wide*: a table of 2,000 columns opened by the mouse, until its first rows are drawn. The
picture is then dragged about, and the map zoomed, while Chromium writes a trace.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from benchmarks.browser_use import Motion, Spent, motion, spending
from benchmarks.harness import console, show
from headwater.store.store import Store
from tests.page import large_graphs
from tests.page.browser import CheckedPage, browsing, chromium
from tests.server.running import ServerProcess
from tests.support.events import NAMESPACE, Json

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

COLUMN_EDGES = 900
STROKES = 40  # of the mouse, across the picture and back
_SEEN = """(() => {
  const marks = (window.benchmark = {});
  const holds = { %s };
  const look = () => {
    for (const [name, test] of Object.entries(holds)) {
      if (name in marks || !test()) continue;
      marks[name] = null;  // drawn once the frame after this one begins
      requestAnimationFrame(() => requestAnimationFrame(() => { marks[name] = performance.now(); }));
    }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
  addEventListener("click", () => { marks.clicked = performance.now(); }, true);
})()"""


@dataclass(frozen=True)
class Scene:
    """An estate, the view of it, and what must be there for the picture to count as drawn."""

    estate: Callable[[], Iterable[Json]]
    address: str
    seen: dict[str, str]
    act: Callable[[Page], None] | None = None
    moves: dict[str, Callable[[Page], None]] = field(default_factory=dict)


def explore(name: str, **more: str) -> str:
    return "/explore?" + urlencode({"namespace": NAMESPACE, "name": name, **more})


def drag(page: Page) -> None:
    """To and fro over empty ground, at the pace of a hand that is in a hurry."""
    at = page.evaluate(
        """() => { const box = document.querySelector(".graph, .map-picture").getBoundingClientRect();
        for (let y = box.top + 60; y < box.bottom; y += 9) {
          const on = document.elementFromPoint(box.left + box.width / 2, y);
          if (on?.closest(".react-flow__pane, .lines, .map-picture")) return [box.left + box.width / 2, y];
        } }"""
    )
    page.mouse.move(*at)
    page.mouse.down()
    for stroke in range(STROKES):
        along = stroke if stroke < STROKES / 2 else STROKES - stroke
        page.mouse.move(at[0] - along * 18, at[1] + along * 7)
    page.mouse.up()


def zoom(page: Page) -> None:
    box = page.locator(".map-picture").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    for turn in range(12):
        page.mouse.wheel(0, -200 if turn < 6 else 200)
        page.wait_for_timeout(100)


def open_columns(page: Page) -> None:
    page.get_by_role("button", name="Columns of wide").click()


SCENES = {
    "explorer": Scene(
        large_graphs.fan,
        explore("centre", hops="3", shown="all"),
        {
            "picture": "() => document.querySelector('.react-flow__node .node') !== null"
            f" && /{COLUMN_EDGES} column edges/.test(document.querySelector('.said')?.textContent ?? '')",
        },
        moves={"drag": drag},
    ),
    "map": Scene(
        large_graphs.many,
        "/map",
        {"picture": "() => document.querySelector('.map-picture canvas') !== null"},
        moves={"drag": drag, "zoom": zoom},
    ),
    "wide": Scene(
        large_graphs.wide,
        explore("narrow"),
        {"picture": "() => document.querySelectorAll('.node .columns li').length >= 10"},
        act=open_columns,
    ),
}


@contextmanager
def served(estate: Iterable[Json]) -> Iterator[ServerProcess]:
    with tempfile.TemporaryDirectory(prefix="headwater-bench-") as folder:
        url = f"sqlite:///{folder}/lineage.db"
        with Store(url) as store:
            store.ingest_many(list(estate))
        with ServerProcess(url, "--log-level", "warning", log=Path(folder) / "server.log") as server:
            yield server


def once(browser: Browser, server: ServerProcess, scene: Scene) -> tuple[dict[str, float], Spent, dict[str, Motion]]:
    """Milliseconds to each mark, what it cost, and how each motion went."""
    watched = CheckedPage(browser, server.url)
    page = watched.page
    page.add_init_script(_SEEN % ", ".join(f"{name}: {test}" for name, test in scene.seen.items()))
    try:
        if scene.act is None:
            with spending(server) as spent:
                page.goto(scene.address)
                marks = drawn(page)
        else:
            page.goto(scene.address)
            page.get_by_role("region").first.wait_for()
            page.wait_for_timeout(1000)
            with spending(server) as spent:
                scene.act(page)
                marks = drawn(page)
        page.wait_for_timeout(500)
        moved = {name: motion(browser, page, move) for name, move in scene.moves.items()}
    finally:
        watched.close()
    if watched.complaints:
        raise AssertionError(watched.complaints)
    return marks, spent, moved


def drawn(page: Page) -> dict[str, float]:
    page.wait_for_function("() => benchmark.picture && Object.values(benchmark).every(Boolean)", polling=50)
    marks: dict[str, Any] = page.evaluate("window.benchmark")
    began = marks.pop("clicked", 0.0)
    return {name: told - began for name, told in marks.items()}


def measure(browser: Browser, name: str, rounds: int) -> tuple[list[list[object]], list[list[object]]]:
    scene = SCENES[name]
    with served(scene.estate()) as server:
        once(browser, server, scene)  # the server's first answers read its modules
        taken = [once(browser, server, scene) for _ in range(rounds)]
    costs = [spent for _, spent, _ in taken]
    shown: list[list[object]] = []
    for mark in scene.seen:
        times = sorted(marks[mark] for marks, _, _ in taken)
        last = mark == "picture"
        browser_s, server_s = (
            (statistics.median(cost.browser for cost in costs), statistics.median(cost.server for cost in costs))
            if last
            else ("", "")
        )
        shown.append([name, mark, round(statistics.median(times)), round(times[-1]), browser_s, server_s, load()])
    smooth: list[list[object]] = []
    for how in scene.moves:
        seen = [moved[how] for _, _, moved in taken]
        smooth.append([name, how, *(round(statistics.median(getattr(one, part) for one in seen)) for part in PARTS)])
        smooth[-1].append(load())
    return shown, smooth


DRAWN = ("view", "until", "ms", "slowest ms", "browser's processor s", "server's processor s", "load")
MOVED = ("view", "motion", "frame p50 ms", "p95 ms", "longest ms", "longest task ms", "its processor ms", "load")
PARTS = ("p50", "p95", "longest", "task", "task_processor")


def load() -> str:
    return f"{os.getloadavg()[0]:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenes", nargs="*", default=list(SCENES), help=", ".join(SCENES))
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    executable = chromium()
    if executable is None:
        console.print("not run: no Chromium or Chrome on PATH, and HEADWATER_CHROMIUM names none")
        return
    shown: list[Sequence[object]] = []
    smooth: list[Sequence[object]] = []
    with browsing(executable) as browser:
        for name in asked.scenes:
            pictures, motions = measure(browser, name, asked.rounds)
            shown += pictures
            smooth += motions
    show(f"until it is drawn, median of {asked.rounds}", DRAWN, shown)
    if smooth:
        show(f"frames while it moves, median of {asked.rounds}", MOVED, smooth)


if __name__ == "__main__":
    main()
