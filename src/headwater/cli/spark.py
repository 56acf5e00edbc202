"""A Spark session for commands that query rows, with its progress."""

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

_POLL_SECONDS = 0.2  # seconds

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
    """The current phase of a command, shown before Spark's progress."""

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
    """Start a quiet Spark session that is not captured: a query is not a job. ``phase`` is shown in its progress."""
    from headwater.capture.autostart import disable_autostart
    from headwater.rows.session import quiet_session

    disable_autostart()  # before pyspark is imported, which would start the capture
    if find_spec("pyspark") is None:
        raise CliError("This command needs Spark: pip install 'headwater[spark]'")
    _say_errors_once()
    with _progress_bar("Starting Spark") as progress:
        with _quiet_stderr():
            spark = quiet_session(master)
        finished = Event()
        updater = Thread(
            target=_update_progress, args=(spark, progress, finished, phase or CommandPhase()), daemon=True
        )
        updater.start()
        try:
            yield spark
        finally:
            finished.set()
            updater.join()
            spark.stop()


def _say_errors_once() -> None:
    """Stop PySpark from also writing query errors to stderr, as newer versions do."""
    with suppress(ImportError):
        from pyspark.logger import PySparkLogger

        PySparkLogger.getLogger("SQLQueryContextLogger").disabled = True


@contextmanager
def _quiet_stderr() -> Iterator[None]:
    """Hide the start messages of Java and Spark on stderr, unless Spark does not start."""
    with tempfile.TemporaryFile() as output:
        stderr = os.dup(2)
        sys.stderr.flush()
        os.dup2(output.fileno(), 2)
        try:
            yield
        except Exception as failure:
            output.seek(0)
            last = output.read().decode(errors="replace").strip().splitlines()[-1:]
            raise CliError(f"Spark does not start: {(last or [str(failure)])[0]}") from failure
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)


@contextmanager
def _progress_bar(first: str) -> Iterator[Progress]:
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from headwater.cli.output import console

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        progress.add_task(first, total=None)
        yield progress


def _update_progress(spark: SparkSession, progress: Progress, finished: Event, phase: CommandPhase) -> None:
    tracker = spark.sparkContext.statusTracker()
    task = progress.tasks[0].id
    while not finished.wait(_POLL_SECONDS):
        stages = [stage for number in tracker.getActiveStageIds() if (stage := tracker.getStageInfo(number))]
        total = sum(stage.numTasks for stage in stages)
        done = sum(stage.numCompletedTasks for stage in stages)
        progress.update(task, description=phase.describe(done, total), total=total or None, completed=done)
