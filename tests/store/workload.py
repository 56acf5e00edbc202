"""A busy day: events of several jobs whose runs interleave, repeat, fail and arrive late."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from tests.support.events import (
    Json,
    column_lineage,
    dataset_event,
    facet,
    from_dataset,
    job_event,
    ownership,
    parent,
    read_in_part,
    run_event,
    schema,
    symlinks,
    used,
    written_in_part,
)


def busy_day(runs: int, seed: int = 7) -> list[Json]:
    """Three events for each run, with declarations in between; all different, in random order."""
    chance = random.Random(seed)
    events: list[Json] = []
    for number in range(runs):
        events += _run(number, chance)
        if number % 5 == 0:
            lineage = facet(inputs=[from_dataset(f"t{chance.randrange(8)}")])
            events.append(job_event(job=f"job {number % 3}", inputs=["t0"], outputs=[f"t{number % 4}"], minute=number))
            events.append(dataset_event(used(f"t{number % 7}", facets={"lineage": lineage}), minute=number))
    chance.shuffle(events)
    return events


def _run(number: int, chance: random.Random) -> list[Json]:
    names = [f"t{chance.randrange(12)}" for _ in range(4)]
    said: dict[str, Any] = {"schema": schema("a:int", "b:text")}
    if chance.random() < 0.5:
        said["columnLineage"] = column_lineage({"a": [(names[0], "a")], "b": [(names[1], "b", "INDIRECT", "FILTER")]})
    if chance.random() < 0.3:
        said["symlinks"] = symlinks(f"alias {chance.randrange(4)}")
    if chance.random() < 0.3:
        said["ownership"] = ownership(f"team {chance.randrange(3)}")
    output = written_in_part(names[3], f"p{chance.randrange(3)}", **said)
    if chance.random() < 0.5:
        output = used(names[3], facets=said)
    source: Json = used(f"alias {chance.randrange(4)}", namespace="catalog")
    end = chance.choice(["COMPLETE", "COMPLETE", "COMPLETE", "FAIL", "ABORT"])
    minute = chance.randrange(60)
    about: dict[str, Any] = {"run": f"run {number}", "job": f"job {number % 4}"}
    return [
        run_event("START", inputs=[names[0]], minute=minute, run_facets={"parent": parent("the day")}, **about),
        run_event("RUNNING", inputs=[read_in_part(names[1], "p1"), source], minute=minute + 1, **about),
        run_event(end, inputs=[names[2]], outputs=[output], minute=minute + chance.randrange(2, 9), **about),
    ]


def share(events: Sequence[Json], worker: int, workers: int) -> list[Json]:
    """The events that one worker sends: some of them are sent by others too, in another order, and some twice."""
    chance = random.Random(worker)
    mine = [event for i, event in enumerate(events) if (i - worker) % workers in (0, 1, workers // 2)]
    mine += chance.sample(mine, len(mine) // 5)
    chance.shuffle(mine)
    return mine
