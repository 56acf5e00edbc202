"""A Spark of our own, for commands that look at rows, and what it is doing while one waits."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from threading import Event, Thread
from typing import TYPE_CHECKING, Annotated

import typer

from headwater.cli.failures import CliError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from rich.progress import Progress

_POLL_SECONDS = 0.2  # seconds between two looks

MasterOption = Annotated[
    str,
    typer.Option("--master", metavar="URL", envvar="HEADWATER_SPARK_MASTER", help="Spark master URL."),
]
PythonOption = Annotated[
    bool, typer.Option("--allow-python", help="Allow the Python functions of stored queries to run.")
]
UnsignedOption = Annotated[
    bool,
    typer.Option(
        "--trust-unsigned",
        help="Run stored queries without a signature. Anyone who can write events could have sent them.",
    ),
]
DEFAULT_MASTER = "local[*]"


class CommandPhase:
    """What a command is at, as it says itself; shown before what Spark does for it."""

    def __init__(self) -> None:
        self.text = ""

    def set(self, text: str) -> None:
        self.text = text

    def describe(self, done: int, total: int) -> str:
        tasks = f"{done} of {total} tasks"
        if self.text:
            return f"{self.text}: {tasks}" if total else self.text
        return f"Spark: {tasks}" if total else "Reading the plan"


@contextmanager
def spark_session(master: str, phase: CommandPhase | None = None) -> Iterator[SparkSession]:
    """Quiet, and not captured: a question is nobody's job. Who has phases says them to ``phase``."""
    from headwater.capture.autostart import stand_back
    from headwater.rows.session import quiet_session

    stand_back()  # before anybody looks for pyspark: the capture takes that for the beginning of a job
    if find_spec("pyspark") is None:
        raise CliError("This command needs Spark: pip install 'headwater[spark]'")
    _say_errors_once()
    with _progress_bar("Starting Spark") as progress:
        with _quiet_stderr():
            spark = quiet_session(master)
        over = Event()
        watching = Thread(target=_update_progress, args=(spark, progress, over, phase or CommandPhase()), daemon=True)
        watching.start()
        try:
            yield spark
        finally:
            over.set()
            watching.join()
            spark.stop()


def _say_errors_once() -> None:
    """Newer versions of PySpark write an error about a query to stderr as well as raising it."""
    with suppress(ImportError):
        from pyspark.logger import PySparkLogger

        PySparkLogger.getLogger("SQLQueryContextLogger").disabled = True


@contextmanager
def _quiet_stderr() -> Iterator[None]:
    """Java greets its user on stderr, at length, and so does Spark. It is shown only if Spark does not start."""
    with tempfile.TemporaryFile() as greeting:
        own = os.dup(2)
        sys.stderr.flush()
        os.dup2(greeting.fileno(), 2)
        try:
            yield
        except Exception as failure:
            greeting.seek(0)
            last = greeting.read().decode(errors="replace").strip().splitlines()[-1:]
            raise CliError(f"Spark does not start: {(last or [str(failure)])[0]}") from failure
        finally:
            os.dup2(own, 2)
            os.close(own)


@contextmanager
def _progress_bar(first: str) -> Iterator[Progress]:
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from headwater.cli.output import console

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        progress.add_task(first, total=None)
        yield progress


def _update_progress(spark: SparkSession, progress: Progress, over: Event, phase: CommandPhase) -> None:
    tracker = spark.sparkContext.statusTracker()
    task = progress.tasks[0].id
    while not over.wait(_POLL_SECONDS):
        stages = [stage for number in tracker.getActiveStageIds() if (stage := tracker.getStageInfo(number))]
        total = sum(stage.numTasks for stage in stages)
        done = sum(stage.numCompletedTasks for stage in stages)
        progress.update(task, description=phase.describe(done, total), total=total or None, completed=done)
