"""Progress bars of a run, one for each node, in a terminal and in a notebook."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from threading import Event, Thread
from types import TracebackType
from typing import TYPE_CHECKING

from headwater.pipeline.declare.nodes import PipelineNode

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_INTERVAL = 0.2  # seconds between two updates
_ITEMS_LINE = "item records"


class ProgressBars:
    """``shown``: None shows the bars in a terminal and in a notebook."""

    def __init__(self, nodes: Sequence[PipelineNode], spark: SparkSession, shown: bool | None) -> None:
        self._nodes = nodes
        self._spark = spark
        self._shown = _has_viewer() if shown is None else shown
        self._stopped = Event()
        self._current: str | None = None

    def __enter__(self) -> ProgressBars:
        if not self._shown:
            return self
        from rich.console import Console
        from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bars

        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        self._bars = Bars(*columns, console=Console(stderr=not _in_notebook()), transient=not _in_notebook())
        self._tasks = {
            name: self._bars.add_task(_description(name, kind), total=1, start=False) for name, kind in self._lines()
        }
        self._bars.start()
        self._watching = Thread(target=self._watch, daemon=True)
        self._watching.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            self._stopped.set()
            self._watching.join()
            self._bars.stop()

    def update(self, node: PipelineNode | None, state: str) -> None:
        """Updates the bar of a node that begins or is done; None stands for the account of items."""
        if not self._shown:
            return
        name = _ITEMS_LINE if node is None else node.name
        task = self._tasks[name]
        if state == "done":
            self._bars.update(task, total=1, completed=1)
            self._current = None
        else:
            self._bars.start_task(task)
            self._current = name

    def _lines(self) -> list[tuple[str, str]]:
        return [*((node.name, node.kind) for node in self._nodes), (_ITEMS_LINE, "")]

    def _watch(self) -> None:
        tracker = self._spark.sparkContext.statusTracker()
        while not self._stopped.wait(_INTERVAL):
            name = self._current
            if name is None:
                continue
            with suppress(Exception):  # a stage may end in between
                infos = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
                stages = [info for info in infos if info is not None]
                total = sum(stage.numTasks for stage in stages)
                done = sum(stage.numCompletedTasks for stage in stages)
                if total and name == self._current:
                    self._bars.update(self._tasks[name], total=total, completed=done)


def _description(name: str, kind: str) -> str:
    from rich.markup import escape

    return f"{escape(name)} [dim]{kind}[/dim]" if kind else f"[dim]{name}[/dim]"


def _has_viewer() -> bool:
    return sys.stderr.isatty() or _in_notebook()


def _in_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"
