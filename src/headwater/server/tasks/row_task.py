"""A question about rows put to Spark, as a process of its own: `python -m headwater.server.tasks.row_task FOLDER`.

A server cannot have Spark in itself: it starts in seconds, holds gigabytes, and a question has to be stopped at any
moment. The query that it runs came in an event, so the task is confined (confinement.py): it does not know the store,
and its server answers what it asks about it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from headwater.errors import HeadwaterError
from headwater.model.names import Dataset
from headwater.server.tasks.confinement import SCRATCH, TaskLimits, limit_this_process, open_channel
from headwater.server.tasks.tasks import read_json, write_json, write_problem, write_progress

if TYPE_CHECKING:
    from headwater.rows.stored_writes import Writes

TaskInput = Mapping[str, Any]
_POLL_SECONDS = 0.5  # seconds between two looks
TRACE, FORWARD, WHY_NOT = "rows.trace", "rows.forward", "rows.why_not"


def main(folder: Path) -> int:
    task = read_json(folder / "asked.json")
    write_progress(folder, "Starting Spark")
    try:
        answer = _run(folder, _HANDLERS[task["kind"]], task["asked"])
    except HeadwaterError as error:
        write_problem(folder, error)
        return 1
    write_json(folder / "result.json", answer)
    return 0


def _run(folder: Path, question: Callable[[Writes, TaskInput], dict[str, Any]], asked: TaskInput) -> dict[str, Any]:
    from headwater.rows.kept_queries.roots import PlanRoots
    from headwater.rows.session import quiet_session
    from headwater.rows.stored_writes import Writes

    limits = TaskLimits(**asked["limits"])
    limit_this_process(limits)
    history = open_channel()
    os.chdir(folder / SCRATCH)
    spark = quiet_session(asked["master"], {"spark.driver.memory": f"{limits.megabytes}m"})
    # Names of columns are others' text, and `${env:…}` in one would be replaced by what is in our environment.
    spark.conf.set("spark.sql.variable.substitute", "false")
    over = Event()
    watching = Thread(target=_report_progress, args=(folder, spark, over), daemon=True)
    watching.start()
    try:
        roots = PlanRoots(tuple(asked["roots"]), local_only=True)
        return question(Writes(spark, history, allow_python=False, trust_unsigned=False, roots=roots), asked)
    finally:
        over.set()
        watching.join()
        spark.stop()


# -- the questions ----------------------------------------------------------------------------------------------------


def _trace(writes: Writes, asked: TaskInput) -> dict[str, Any]:
    from headwater.rows.backward_chain import Tracer

    return Tracer(writes, asked["depth"]).trace(_run_or_dataset(asked["what"]), asked["where"]).to_dict(asked["rows"])


def _forward(writes: Writes, asked: TaskInput) -> dict[str, Any]:
    from headwater.rows.forward_chain import onward

    return onward(writes, Dataset(*asked["source"]), asked["where"], asked["depth"]).to_dict(asked["rows"])


def _why_not(writes: Writes, asked: TaskInput) -> dict[str, Any]:
    """As the command tells it, with the rows that were asked about."""
    from headwater.rows.marked import marked
    from headwater.rows.render import told_rows
    from headwater.rows.why_not import WhyNot

    write = writes.behind(_run_or_dataset(asked["what"]))[0]
    found = WhyNot(writes.spark, marked(writes.frame(write), asked["source"], asked["where"]))
    told: dict[str, Any] = json.loads(found.to_json())
    about = {"dataset": str(write.dataset), "run": write.run_id}
    return {**about, **told, **told_rows(found.source_rows, asked["rows"])}


_HANDLERS: dict[str, Callable[[Writes, TaskInput], dict[str, Any]]] = {
    TRACE: _trace,
    FORWARD: _forward,
    WHY_NOT: _why_not,
}


def _run_or_dataset(what: str | list[str]) -> str | Dataset:
    """A run's id, or the namespace and the name of a dataset."""
    return what if isinstance(what, str) else Dataset(*what)


def _report_progress(folder: Path, spark: Any, over: Event) -> None:
    tracker = spark.sparkContext.statusTracker()
    while not over.wait(_POLL_SECONDS):
        stages = [stage for number in tracker.getActiveStageIds() if (stage := tracker.getStageInfo(number))]
        total = sum(stage.numTasks for stage in stages)
        done = sum(stage.numCompletedTasks for stage in stages)
        write_progress(folder, f"Spark: {done} of {total} tasks" if total else "Reading the plan", done, total)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
