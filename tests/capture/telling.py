"""Captured events as lines of text, which is what the cases are written in.

job cases.t: START COMPLETE       a run: its job, without the application's name, and its events
writes t TABLE parquet CREATE rows=3 files=1 also=cases.t
reads orders FILE parquet rows=4 files=1 partitions=day=2026-11-15
total aggregated <- orders#amount AGGREGATION: sum(amount)
* <- orders#amount FILTER         what decides over whole rows
! MapInPandas (a, b): reason      a gap; without columns it concerns all
view cases.v                      a view's definition, told by itself, its lines below
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
TERMINAL = ("COMPLETE", "FAIL", "ABORT")


@dataclass
class Run:
    """The events of one run, in the order they came."""

    run_id: str
    events: list[Json] = field(default_factory=list)

    @property
    def job(self) -> str:
        return str(self.events[0]["job"]["name"])

    @property
    def states(self) -> list[str]:
        return [event["eventType"] for event in self.events]

    @property
    def last(self) -> Json:
        return self.events[-1]

    @property
    def outputs(self) -> list[Json]:
        """The last word on each output."""
        outputs = {(d["namespace"], d["name"]): d for event in self.events for d in event["outputs"] if d.get("facets")}
        return list(outputs.values())

    @property
    def inputs(self) -> list[Json]:
        inputs = {(d["namespace"], d["name"]): d for event in self.events for d in event["inputs"] if d.get("facets")}
        return list(inputs.values())

    @property
    def output(self) -> Json:
        (only,) = self.outputs
        return only


def runs_of(events: Iterable[Json], application: str) -> list[Run]:
    """The runs in the order they began, without that of the application itself."""
    runs: dict[str, Run] = {}
    for event in events:
        if "run" in event and event["job"]["name"] != application:
            runs.setdefault(event["run"]["runId"], Run(event["run"]["runId"])).events.append(event)
    return list(runs.values())


class EventLines:
    """``short`` shortens what differs from run to run: the beginnings of names."""

    def __init__(self, application: str, short: Mapping[str, str]) -> None:
        self._application = application
        self._short = sorted(short.items(), key=lambda item: -len(item[0]))

    def lines(self, events: list[Json]) -> list[str]:
        lines: list[str] = []
        for run in runs_of(events, self._application):
            lines += self._run(run)
        for event in events:
            if "dataset" in event:
                lines += (self._drop if "headwater_provenance" in event["dataset"]["facets"] else self._view)(
                    event["dataset"]
                )
        return lines

    def _run(self, run: Run) -> Iterator[str]:
        name = self._shortened(run.job.removeprefix(f"{self._application}."))
        yield f"job {name}: {' '.join(_without_repeats(run.states))}"
        if run.states[-1] == "FAIL":
            message = run.last["run"]["facets"]["errorMessage"]["message"]
            yield f"error {self._shortened(message).splitlines()[0].split(':')[0]}"
        yield from self._gaps(run.last["run"]["facets"])
        for output in run.outputs:
            yield f"writes {self._dataset(output, 'outputFacets', 'outputStatistics')}"
            yield from self._columns(output["facets"])
        for dataset in sorted(run.inputs, key=self._name):
            yield f"reads {self._dataset(dataset, 'inputFacets', 'inputStatistics')}"

    def _view(self, view: Json) -> Iterator[str]:
        yield f"view {self._name(view)}"
        stated = view["facets"]["lineage"]
        yield from self._columns(view["facets"])
        for name in sorted({self._name(i) for i in stated["inputs"]}):
            yield f"reads {name}"

    def _drop(self, dataset: Json) -> Iterator[str]:
        provenance = dataset["facets"]["headwater_provenance"]
        yield f"{provenance['event_type']} {self._dataset(dataset, '', '')} by {provenance['agent']['id']}"

    def _dataset(self, dataset: Json, room: str, statistics: str) -> str:
        facets, own = dataset["facets"], dataset.get(room) or {}
        words = [self._name(dataset), facets["datasetType"]["datasetType"]]
        if "storage" in facets:
            words.append(facets["storage"]["fileFormat"])
        if "lifecycleStateChange" in facets:
            words.append(facets["lifecycleStateChange"]["lifecycleStateChange"])
        if "version" in facets:  # Iceberg's are long and drawn by chance
            version = facets["version"]["datasetVersion"]
            words.append(f"version={version if len(version) < 5 else 'some'}")
        measured = own.get(statistics) or {}
        words += [
            f"{word}={measured[key]}" for word, key in (("rows", "rowCount"), ("files", "fileCount")) if key in measured
        ]
        if "symlinks" in facets:
            words += [f"also={self._name(i)}" for i in facets["symlinks"]["identifiers"]]
        if "subset" in own:
            words.append(f"partitions={_partitions(own['subset'])}")
        return " ".join(words)

    def _columns(self, facets: Json) -> Iterator[str]:
        lineage = facets.get("columnLineage") or {"fields": {}}
        types = (facets.get("headwater_columnTypes") or {"fields": {}})["fields"]
        for column in (facets.get("schema") or {"fields": []})["fields"]:
            name = column["name"]
            kind = f" {types[name]}" if name in types else ""
            sources = list(self._sources(lineage["fields"].get(name, {}).get("inputFields", ())))
            yield from (f"{name}{kind} <- {source}" for source in sources)
            if not sources:
                yield f"{name}{kind} <-"
        yield from (f"* <- {source}" for source in self._sources(lineage.get("dataset", ())))
        yield from self._gaps(facets)

    def _gaps(self, facets: Json) -> Iterator[str]:
        for gap in (facets.get("headwater_coverage") or {"gaps": ()})["gaps"]:
            yield f"! {gap['operator']} ({', '.join(gap['columns']) or 'all'}): {self._shortened(gap['reason'])}"

    def _sources(self, fields: Iterable[Json]) -> Iterator[str]:
        for source in fields:
            for way in source["transformations"]:
                kind = way["subtype"] + (" masked" if way.get("masking") else "")
                logic = f": {way['description']}" if way.get("description") else ""
                yield f"{self._name(source)}#{source['field']} {kind}{logic}"

    def _name(self, dataset: Json) -> str:
        return self._shortened(f"{dataset['namespace'].rstrip('/')}/{dataset['name'].removeprefix('/')}")

    def _shortened(self, text: str) -> str:
        for long, short in self._short:
            text = text.replace(long, short)
        return text


def _partitions(subset: Json) -> str:
    condition = subset.get("inputCondition") or subset["outputCondition"]
    named = []
    for partition in condition["partitions"]:
        dimensions = ",".join(f"{key}={value}" for key, value in partition["dimensions"].items())
        named.append(dimensions or str(partition.get("identifier")))
    return "|".join(named)


def _without_repeats(states: list[str]) -> Iterator[str]:
    """A stream may tell of several writes; how often is a matter of timing."""
    for place, state in enumerate(states):
        if place == 0 or states[place - 1] != state:
            yield state
