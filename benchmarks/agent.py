"""Beside the OpenLineage agent for Spark: what each costs, and what each has captured, on the same TPC-H jobs.

    ./dev bench agent [--scale 1] [--rounds 7] [--passes 3] [--queries q01,q05]

The agent is a listener that a session has from its start, so each contestant gets drivers of its own: bare, with the
agent, and with our capture, one after the other in every round, whoever goes first changing. A driver runs each query
once to warm up, then `passes` times. Agent and capture both write their events to a file. *All* is a driver's time from
its first counted query until the last event is written; the median is over the rounds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.captured import Captured, by_output, read_events
from benchmarks.harness import console, show
from benchmarks.overhead import geometric_mean, session
from benchmarks.tpch_data import open_tables, queries, tables
from tests.support.jars import JarsUnavailable, jars

CONTESTANTS = ("bare", "agent", "headwater")
Times = dict[str, list[float]]  # by query


def settings_for(contestant: str, events: Path) -> dict[str, str]:
    if contestant != "agent":
        return {}
    return {
        "spark.jars": ",".join(str(file) for file in jars("openlineage")),
        "spark.extraListeners": "io.openlineage.spark.agent.OpenLineageSparkListener",
        "spark.openlineage.namespace": "bench",
        "spark.openlineage.transport.type": "file",
        "spark.openlineage.transport.location": str(events),
        "spark.openlineage.columnLineage.datasetLineageEnabled": "true",
    }


def drive(contestant: str, options: argparse.Namespace, folder: Path) -> None:
    """The work of one driver; its times go to a file, since a driver prints what it likes."""
    import headwater as hw

    events = folder / "events.jsonl"
    times: Times = {name: [] for name in options.queries}
    texts = queries(options.scale)
    with session(f"bench-{contestant}", settings_for(contestant, events)) as spark:
        if contestant == "headwater":
            hw.enable(spark, sink=f"file://{events}", namespace="bench", spool=folder / "spool")
        open_tables(spark, tables(options.scale))
        started = 0.0
        for number in range(options.passes + 1):
            if number == 1:
                started = time.perf_counter()
            for name in options.queries:
                start = time.perf_counter()
                spark.sql(texts[name]).write.mode("overwrite").parquet(str(folder / name))
                if number:
                    times[name].append(time.perf_counter() - start)
        if contestant == "headwater":
            hw.disable(spark)
    times["all"] = [time.perf_counter() - started]  # the session has stopped: the agent too has written its last
    (folder / "times.json").write_text(json.dumps(times))


def run_driver(contestant: str, options: argparse.Namespace, folder: Path) -> tuple[Times, dict[str, Captured]]:
    """What the driver prints is shown only if it fails: a JVM's warnings would drown the table."""
    folder.mkdir()
    command = [sys.executable, "-m", "benchmarks.agent", *sys.argv[1:], "--drive", contestant, "--folder", str(folder)]
    done = subprocess.run(command, text=True, capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(f"The driver of {contestant} failed:\n{done.stderr[-4000:]}")
    times: Times = json.loads((folder / "times.json").read_text())
    events = folder / "events.jsonl"
    return times, by_output(read_events(events)) if events.exists() else {}


def main() -> None:
    options = arguments()
    options.queries = options.queries or list(queries(options.scale))
    if options.drive:
        drive(options.drive, options, Path(options.folder))
        return
    contestants = [name for name in CONTESTANTS if name != "agent" or agent_is_here()]
    tables(options.scale)
    times: dict[str, dict[str, list[float]]] = {name: {} for name in contestants}
    captured: dict[str, dict[str, Captured]] = {}
    with tempfile.TemporaryDirectory(prefix="headwater-agent-") as scratch:
        for number in range(options.rounds):
            for name in contestants[:: 1 if number % 2 else -1]:
                console.print(f"round {number + 1} of {options.rounds}: {name}")
                taken, captured[name] = run_driver(name, options, Path(scratch) / f"{name}{number}")
                for query, seconds in taken.items():
                    times[name].setdefault(query, []).extend(seconds)
    show_times(times, options)
    show_captured({name: captured[name] for name in contestants if name != "bare"}, options.queries)


def agent_is_here() -> bool:
    try:
        return bool(jars("openlineage"))
    except JarsUnavailable as unavailable:
        console.print(f"not run: the OpenLineage agent ({unavailable})")
        return False


def show_times(times: Mapping[str, Mapping[str, Sequence[float]]], options: argparse.Namespace) -> None:
    medians = {name: {query: statistics.median(taken) for query, taken in own.items()} for name, own in times.items()}
    others = [name for name in times if name != "bare"]
    rows: list[list[object]] = []
    for query, bare in medians["bare"].items():
        rows.append([query, f"{bare * 1000:,.0f}", *(f"{medians[name][query] / bare:.3f}" for name in others)])
    means = [
        geometric_mean([medians[name][query] / medians["bare"][query] for query in options.queries]) for name in others
    ]
    rows.append(["geometric mean", "", *(f"{mean:.3f}" for mean in means)])
    title = (
        f"TPC-H at scale {options.scale:g}: {options.rounds} drivers each, {options.passes} passes a driver, medians"
    )
    show(title, ("query", "bare ms", *(f"{name} / bare" for name in others)), rows)


def show_captured(captured: Mapping[str, Mapping[str, Captured]], names: Sequence[str]) -> None:
    rows: list[list[object]] = []
    for query in names:
        for name, found in captured.items():
            one = found.get(query, Captured())
            told = "yes" if one.completed else "NO"
            sourced = f"{one.columns_with_a_source} of {len(one.columns)}"
            rows.append([query, name, told, len(one.inputs), sourced, len(one.direct), len(one.indirect)])
    heads = ("query", "by", "told", "inputs", "columns with a source", "column edges", "indirect edges")
    show("what each captured in the last round", heads, rows)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench agent")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--queries", type=lambda names: names.split(","), default=[])
    parser.add_argument("--drive", choices=CONTESTANTS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
