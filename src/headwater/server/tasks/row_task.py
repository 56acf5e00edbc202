"""A row query on Spark, in a process of its own: `python -m headwater.server.tasks.row_task FOLDER`.

Spark cannot run in the server's process: it takes seconds to start and gigabytes of memory, and a query must be
cancellable at any time. The stored query came in an event, so the task is confined (``confinement.py``): it has no
access to the store, and the server answers its requests.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, NotRequired, TypedDict

from headwater.errors import HeadwaterError
from headwater.model.names import Dataset
from headwater.server.tasks.confinement import SCRATCH, TaskLimits, limit_this_process, open_channel
from headwater.server.tasks.tasks import read_json, write_json, write_problem, write_progress

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headwater.rows.stored_writes import StoredWrites

DatasetPair = list[str]
"""Namespace and name of a dataset."""


class LimitsInput(TypedDict):
    """The fields of :class:`~headwater.server.tasks.confinement.TaskLimits`."""

    seconds: float
    megabytes: int
    disk_megabytes: int


class TaskInput(TypedDict):
    """The input of a row query, as ``routes/rows.py`` writes it."""

    where: str | None
    columns: list[str]
    rows: int
    master: str
    roots: list[str]
    limits: LimitsInput
    what: NotRequired[str | DatasetPair]
    """The run, or the dataset, whose rows a trace or a why-not query is about."""
    source: NotRequired[str | DatasetPair]
    """The source of a forward trace, or the name of that of a why-not query."""
    depth: NotRequired[int | None]


Answer = dict[str, object]
Handler = Callable[["StoredWrites", TaskInput], Answer]
_POLL_SECONDS = 0.5  # seconds
TRACE, FORWARD, WHY_NOT = "rows.trace", "rows.forward", "rows.why_not"


def main(folder: Path) -> int:
    task = read_json(folder / "input.json")
    write_progress(folder, "Starting Spark")
    try:
        answer = _run(folder, _HANDLERS[task["kind"]], task["input"])
    except HeadwaterError as error:
        write_problem(folder, error)
        return 1
    write_json(folder / "result.json", answer)
    return 0


def _run(folder: Path, handler: Handler, request: TaskInput) -> Answer:
    from headwater.rows.kept_queries.roots import PlanRoots
    from headwater.rows.session import quiet_session
    from headwater.rows.stored_writes import StoredWrites

    limits = TaskLimits(**request["limits"])
    limit_this_process(limits)
    history = open_channel()
    os.chdir(folder / SCRATCH)
    spark = quiet_session(request["master"], {"spark.driver.memory": f"{limits.megabytes}m"})
    # Column names are untrusted: `${env:…}` in one would be replaced by a variable of this process.
    spark.conf.set("spark.sql.variable.substitute", "false")
    finished = Event()
    reporter = Thread(target=_report_progress, args=(folder, spark, finished), daemon=True)
    reporter.start()
    try:
        roots = PlanRoots(tuple(request["roots"]), local_only=True)
        return handler(StoredWrites(spark, history, allow_python=False, trust_unsigned=False, roots=roots), request)
    finally:
        finished.set()
        reporter.join()
        spark.stop()


# -- the queries ------------------------------------------------------------------------------------------------------


def _trace(writes: StoredWrites, request: TaskInput) -> Answer:
    from headwater.rows.backward_chain import Tracer

    return (
        Tracer(writes, request["depth"])
        .trace(_run_or_dataset(request["what"]), request["where"])
        .to_dict(request["rows"])
    )


def _forward(writes: StoredWrites, request: TaskInput) -> Answer:
    from headwater.rows.forward_chain import trace_forward_chain

    source = _run_or_dataset(request["source"])
    assert isinstance(source, Dataset)
    return trace_forward_chain(writes, source, request["where"], request["depth"]).to_dict(request["rows"])


def _why_not(writes: StoredWrites, request: TaskInput) -> Answer:
    """The document of `headwater rows why-not --json`, with the selected rows of the source."""
    from headwater.rows.marked import mark_source
    from headwater.rows.render import rows_document
    from headwater.rows.why_not import WhyNot

    source = request["source"]
    assert isinstance(source, str)
    write = writes.writes_of(_run_or_dataset(request["what"]))[0]
    result = WhyNot(writes.spark, mark_source(writes.frame(write), source, request["where"]))
    document: Answer = json.loads(result.to_json())
    about = {"dataset": str(write.dataset), "run": write.run_id}
    return {**about, **document, **rows_document(result.source_rows, request["rows"])}


_HANDLERS: dict[str, Handler] = {
    TRACE: _trace,
    FORWARD: _forward,
    WHY_NOT: _why_not,
}


def _run_or_dataset(what: str | list[str]) -> str | Dataset:
    """Return a run id, or the dataset that a pair of namespace and name stands for."""
    return what if isinstance(what, str) else Dataset(*what)


def _report_progress(folder: Path, spark: SparkSession, finished: Event) -> None:
    tracker = spark.sparkContext.statusTracker()
    while not finished.wait(_POLL_SECONDS):
        stages = [stage for number in tracker.getActiveStageIds() if (stage := tracker.getStageInfo(number))]
        total = sum(stage.numTasks for stage in stages)
        done = sum(stage.numCompletedTasks for stage in stages)
        write_progress(folder, f"Spark: {done} of {total} tasks" if total else "Reading the plan", done, total)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
