"""Random OpenLineage events from a small world with many collisions; and how to print them.

A :class:`World` defines the names, times and frequencies. The pools are small on purpose: a bug in the fold shows
when the same dataset, run, partition or microsecond occurs again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

Json = dict[str, Any]
Pair = tuple[str, str]


# One moment, spelled in several ways; a finer one now and then.
_FORMS = ("T10:00:0{}Z", "T12:00:0{}+02:00", "T10:00:0{}", "T10:00:0{}.000001Z")
_SECONDS = tuple("2026-11-15" + form.format(second) for form in _FORMS for second in range(6))


@dataclass(frozen=True)
class World:
    datasets: tuple[Pair, ...]
    jobs: tuple[Pair, ...]
    runs: tuple[str, ...]
    columns: tuple[str, ...] = ("x", "y")
    partitions: tuple[str, ...] = ("p1", "p2")
    times: tuple[str, ...] = _SECONDS
    types: tuple[str | None, ...] = ("COMPLETE",)
    kinds: tuple[str, ...] = ("run",)
    targets: tuple[Pair, ...] = ()
    """What may be written, if not every dataset."""
    least_datasets: int = 0
    most_datasets: int = 2
    """Among the inputs of an event, and among its outputs."""
    facets: Mapping[str, int] | None = None
    """Facet → in how many of ten datasets it comes."""
    symlink_types: tuple[str, ...] = ("TABLE", "LOCATION")
    symlink_counts: tuple[int, ...] = (0, 1, 2)
    parted: int = 3
    """How many of ten datasets come with partitions."""
    columned: int = 4
    """How many of ten outputs come with column lineage."""
    stated: int = 2
    """How many of ten job facets come with a `lineage` facet."""
    declared: int = 4
    """How many of ten dataset events come with a `lineage` facet."""
    deleted: int = 1
    """How many of ten facets come as deleted."""


COLLISIONS = World(
    datasets=(("db", "a"), ("db", "b"), ("s3://lake", "c"), ("kafka://k", "d")),
    jobs=(("etl", "j"), ("etl", "k")),
    runs=("run-1", "run-2", "run-3"),
    types=("COMPLETE", "COMPLETE", "COMPLETE", "START", "RUNNING", "FAIL", "ABORT", "OTHER", None),
    kinds=("run", "run", "run", "run", "job", "dataset"),
    facets={"symlinks": 1, "schema": 1, "ownership": 1, "tags": 1, "datasetType": 1, "version": 1},
)
"""For the fold: few names, every kind of event, every state."""

ALIASES = World(
    datasets=(("db", "a"), ("db", "b"), ("s3://lake", "c"), ("db", "d")),
    jobs=(("etl", "j"), ("etl", "k")),
    runs=("run-1", "run-2", "run-3", "run-4"),
    types=("COMPLETE", "COMPLETE", "COMPLETE", "COMPLETE", "FAIL"),
    kinds=("run", "run", "run", "job", "dataset", "dataset"),
    facets={"symlinks": 4, "schema": 1, "ownership": 1, "tags": 1, "datasetType": 2},
    deleted=2,
)
"""For the fold: names that move."""

HUBS = replace(COLLISIONS, least_datasets=1, most_datasets=3, columned=2, stated=1)
"""For the fold: enough datasets in an event to make hubs, where the limit is low."""

MOVING_HUBS = replace(ALIASES, least_datasets=1, most_datasets=3, columned=2, stated=1)

LIVES = World(
    datasets=(("db", "a"), ("db", "b")),
    jobs=(("etl", "j"), ("etl", "k")),
    runs=("run-1", "run-2"),
    types=("START", "COMPLETE", "START", "RUNNING", "FAIL", "ABORT", "OTHER", None),
    most_datasets=1,
    parted=0,
    columned=1,
    stated=1,
)
"""For the fold: runs that start, end and are contradicted again and again."""

REWRITES = World(
    datasets=(("db", "a"), ("db", "b")),
    targets=(("db", "t"),),
    jobs=(("etl", "j"),),
    runs=tuple(f"run-{number}" for number in range(12)),
    times=tuple(f"2026-11-15T10:00:0{second}Z" for second in range(5)),
    kinds=("run",) * 8 + ("job",),
    least_datasets=1,
    most_datasets=1,
    parted=6,
    columned=2,
    stated=0,
)
"""For the fold: one job writes one dataset over and over, now this partition, now that one, often at one moment."""

HUB_REWRITES = replace(
    REWRITES, targets=(("db", "t"), ("db", "u")), least_datasets=1, most_datasets=2, columned=1, parted=4
)
"""The same with hubs, that come and go with what each run reads."""

CLAIMS = World(
    datasets=(("db", "a"), ("db", "b"), ("db", "c")),
    jobs=(("etl", "j"),),
    runs=("run-1",),
    types=("RUNNING", "RUNNING", "COMPLETE"),
    kinds=("run", "dataset"),
    facets={"symlinks": 9},
    symlink_types=("TABLE",),
    symlink_counts=(1, 1, 1, 0, 2),
    parted=0,
    columned=0,
    stated=0,
    declared=0,
    deleted=0,
)
"""For the fold: nearly every dataset claims some name, often one that another claims too."""

WORDS = World(
    datasets=(("s3://lake", "c"), ("db", "a")),
    jobs=(("etl", "j"),),
    runs=("run-1",),
    types=("RUNNING",),
    kinds=("dataset", "dataset", "run"),
    facets={"symlinks": 6, "datasetType": 6, "ownership": 2, "tags": 2},
    symlink_counts=(1, 1, 2, 0),
    parted=0,
    columned=0,
    stated=0,
    declared=0,
    deleted=3,
)
"""For the fold: what a dataset is said to be, under two names."""

GRAPH = World(
    datasets=(*(("db", name) for name in "abcdefg"), ("s3://lake", "h")),
    jobs=tuple(("etl", f"job{number}") for number in range(4)),
    runs=tuple(f"run-{number}" for number in range(30)),
    columns=("x", "y", "z"),
    types=("COMPLETE",) * 14 + ("FAIL", "RUNNING"),
    kinds=("run",) * 10 + ("job", "dataset"),
    facets={"symlinks": 0, "schema": 1, "ownership": 2},
    columned=6,
    parted=4,
    stated=1,
    declared=3,
    deleted=0,
)
"""For the queries: a graph of some depth, with cycles, loops, diamonds and several writers of one dataset."""

MOVING_GRAPH = replace(GRAPH, facets={"symlinks": 1, "schema": 1, "ownership": 3})
"""The same, with some names that are aliases of others."""

ODD = replace(
    COLLISIONS,
    datasets=(("", ""), ("a", "b/c"), ("a/b", "c"), ("etl", "j"), ("größe", "100%_\\'\"\n")),
    jobs=(("etl", "j"), ("", "")),
    runs=("r", "R", "größe/'\""),
    columns=("", "a.b", "*"),
    partitions=("", "day=1/at=here", "%"),
    times=("2026-11-15T10:00:00Z", "1969-12-31T23:59:59.999999Z", "0001-01-01T00:00:01", "1970-01-01T00:00:00Z"),
)
"""Names and times from the edge: empty, alike, a dataset called like a job; before the epoch."""

_TRANSFORMATIONS: tuple[list[Json] | None, ...] = (
    None,
    [],
    [{"type": "DIRECT", "subtype": "IDENTITY"}],
    [{"type": "INDIRECT", "subtype": "FILTER"}],
    [{"type": "INDIRECT", "subtype": "JOIN", "description": "on x = y"}],
    [{"type": "DIRECT", "subtype": "AGGREGATION", "description": "sum(x)", "masking": True}],
    [{"type": "DIRECT", "subtype": "IDENTITY"}, {"type": "INDIRECT", "subtype": "GROUP_BY", "masking": False}],
    [{"type": "DIRECT"}, {"type": "INDIRECT"}],
)
_NOMINAL = ({"nominalStartTime": "2026-11-14T00:00:00Z"}, {"nominalStartTime": "2026-11-15T00:00:00+01:00"})


@st.composite
def histories(draw: st.DrawFn, world: World, most: int) -> list[Json]:
    """About eight of ten positions are filled: long histories, which can still shrink to short ones."""
    events = [draw(_event(world)) for _ in range(most) if draw(st.integers(0, 9)) > 1]
    return events or [draw(_event(world))]


class _DrawnEvent:
    """Choices for one event. Each shrinks towards its first, plainest value."""

    def __init__(self, draw: st.DrawFn, world: World) -> None:
        self._draw = draw
        self.world = world

    def one_of(self, options: Sequence[Any]) -> Any:
        return self._draw(st.sampled_from(options))

    def some_of(self, options: Sequence[Any], least: int, most: int) -> list[Any]:
        return self._draw(st.lists(st.sampled_from(options), min_size=least, max_size=most))

    def chance(self, in_ten: int) -> bool:
        return in_ten > 0 and bool(self._draw(st.integers(0, 9)) > 9 - in_ten)

    def number(self, least: int, most: int) -> int:
        return self._draw(st.integers(least, most))

    # -- pieces ---------------------------------------------------------------------------------------------------

    def time(self) -> str:
        return str(self.one_of(self.world.times))

    def name(self) -> Json:
        namespace, name = self.one_of(self.world.datasets)
        return {"namespace": namespace, "name": name}

    def job(self) -> Json:
        namespace, name = self.one_of(self.world.jobs)
        return {"namespace": namespace, "name": name}

    def column(self) -> str:
        return str(self.one_of(self.world.columns))

    def how(self) -> Json:
        transformations = self.one_of(_TRANSFORMATIONS)
        return {} if transformations is None else {"transformations": transformations}

    def facet(self, facet: Json) -> Json:
        return {"_deleted": True} if self.chance(self.world.deleted) else facet

    # -- facets ---------------------------------------------------------------------------------------------------

    def symlinks(self) -> Json:
        types, count = self.world.symlink_types, self.one_of(self.world.symlink_counts)
        return {"identifiers": [self.name() | {"type": self.one_of(types)} for _ in range(count)]}

    def schema(self) -> Json:
        return {"fields": [{"name": name, "type": "int"} for name in self.some_of((*self.world.columns, "only"), 0, 2)]}

    def ownership(self) -> Json:
        return {"owners": [{"name": self.one_of(("ann", "bob"))}]}

    def tags(self) -> Json:
        return {"tags": [{"key": "pii", "value": self.one_of(("true", "high"))}]}

    def dataset_type(self) -> Json:
        return {"datasetType": self.one_of(("VIEW", "TABLE", "TOPIC", "odd"))}

    def version(self) -> Json:
        return {"datasetVersion": self.one_of(("1", "2"))}

    def column_lineage(self) -> Json:
        fields = {
            column: {"inputFields": [self.name() | {"field": self.column()} | self.how() for _ in range(inputs)]}
            for column in sorted(set(self.some_of(self.world.columns, 0, 2)))
            for inputs in [self.number(1, 2)]
        }
        facet: Json = {"fields": fields}
        if self.chance(3):
            facet["dataset"] = [self.name() | {"field": self.column()} | self.how() for _ in range(self.number(0, 2))]
        return facet

    def lineage_input(self, with_jobs: bool) -> Json:
        if with_jobs and self.chance(2):
            return {"type": "JOB"} | (self.job() if self.chance(7) else {})
        item = {"type": "DATASET"} | self.name()
        return item | ({"field": self.column()} | self.how() if self.chance(5) else {})

    def lineage(self, with_jobs: bool) -> Json:
        facet: Json = {"inputs": [self.lineage_input(with_jobs) for _ in range(self.number(0, 2))]}
        if self.chance(4):
            columns = sorted(set(self.some_of(self.world.columns, 1, 2)))
            facet["fields"] = {
                c: {"inputs": [self.lineage_input(with_jobs) for _ in range(self.number(0, 2))]} for c in columns
            }
        return facet

    def lineage_entry(self) -> Json:
        if self.chance(2):
            return {"type": "JOB"} | (self.job() if self.chance(5) else {}) | self.lineage(True)
        return {"type": "DATASET"} | self.name() | self.lineage(True)

    def dataset_facets(self) -> Json:
        makers = {
            "symlinks": self.symlinks,
            "schema": self.schema,
            "ownership": self.ownership,
            "tags": self.tags,
            "datasetType": self.dataset_type,
            "version": self.version,
        }
        return {n: self.facet(makers[n]()) for n, often in (self.world.facets or {}).items() if self.chance(often)}

    def job_facets(self) -> Json:
        facets: Json = {}
        if self.chance(self.world.stated):
            facets["lineage"] = self.facet({"entries": [self.lineage_entry() for _ in range(self.number(0, 2))]})
        if self.chance(1):
            facets["ownership"] = self.facet(self.ownership())
        return facets

    # -- datasets and events ----------------------------------------------------------------------------------------

    def use(self, direction: str) -> Json:
        use, facets = self.name(), self.dataset_facets()
        if direction == "output" and self.world.targets:
            use = dict(zip(("namespace", "name"), self.one_of(self.world.targets), strict=True))
        if direction == "output" and self.chance(self.world.columned):
            facets["columnLineage"] = self.facet(self.column_lineage())
        if facets:
            use["facets"] = facets
        if self.chance(self.world.parted):
            partitions = [
                {"dimensions": {"day": name, "at": "here"}} if self.chance(1) else {"identifier": name}
                for name in self.some_of(self.world.partitions, 0, 2)
            ]
            kind = "location" if self.chance(1) else "partition"
            use[f"{direction}Facets"] = {"subset": {f"{direction}Condition": {"type": kind, "partitions": partitions}}}
        return use

    def uses(self, direction: str) -> Json:
        uses = [self.use(direction) for _ in range(self.number(self.world.least_datasets, self.world.most_datasets))]
        return {f"{direction}s": uses} if uses or self.chance(5) else {}

    def run(self) -> Json:
        run_id = str(self.one_of(self.world.runs))
        run: Json = {"runId": run_id}
        if self.chance(1):
            run["facets"] = {"parent": {"run": {"runId": self.one_of(self.world.runs)}, "job": self.job()}}
        if self.chance(1):
            run.setdefault("facets", {})["nominalTime"] = self.one_of(_NOMINAL)
        return run


@st.composite
def _event(draw: st.DrawFn, world: World) -> Json:
    drawn = _DrawnEvent(draw, world)
    kind = drawn.one_of(world.kinds)
    event: Json = {"eventTime": drawn.time(), "producer": "urn:test", "schemaURL": "urn:test"}
    if kind == "dataset":
        use = drawn.name() | {"facets": drawn.dataset_facets()}
        if drawn.chance(world.columned):
            use["facets"]["columnLineage"] = drawn.facet(drawn.column_lineage())
        if drawn.chance(world.declared):
            use["facets"]["lineage"] = drawn.facet(drawn.lineage(False))
        return event | {"dataset": use}
    job = drawn.job()
    if facets := drawn.job_facets():
        job["facets"] = facets
    event["job"] = job
    if kind == "run":
        event["run"] = drawn.run()
        if (event_type := drawn.one_of(world.types)) is not None:
            event["eventType"] = event_type
    return event | drawn.uses("input") | drawn.uses("output")


# -- printing ---------------------------------------------------------------------------------------------------------


def show(events: Sequence[Mapping[str, Any]]) -> str:
    """One line per event; repeated ones are shown by number."""
    return "\n".join(f"  {number:2}. {show_event(event)}" for number, event in enumerate(events))


def show_event(event: Mapping[str, Any]) -> str:
    time = event["eventTime"].removeprefix("2026-11-15T")
    if "dataset" in event:
        return f"{time} dataset {_show_use(event['dataset'])}"
    job = event["job"]
    who = f"{job['namespace']}/{job['name']}{_show_facets(job.get('facets', {}))}"
    if "run" in event:
        run = event["run"]
        who = f"{run['runId']}{_show_facets(run.get('facets', {}))} of {who}"
        what = f"run {event.get('eventType', '(no type)')}"
    else:
        what = "job"
    sides = [f"{key}[{', '.join(map(_show_use, event[key]))}]" for key in ("inputs", "outputs") if key in event]
    return " ".join([time, what, who, *sides])


def _show_use(use: Mapping[str, Any]) -> str:
    io_facets = {**use.get("inputFacets", {}), **use.get("outputFacets", {})}
    return f"{use['namespace']}/{use['name']}{_show_facets(use.get('facets', {}))}{_show_facets(io_facets)}"


def _show_facets(facets: Mapping[str, Any]) -> str:
    return json.dumps(facets, separators=(",", ":")) if facets else ""
