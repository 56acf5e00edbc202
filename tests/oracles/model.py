"""The correct answers: the semantics of the store in plain Python, as simple and slow as possible.

Written from the specification of the store, not from its code: dicts, sets and loops over everything, no SQL, no
state carried from one event to the next. A :class:`Model` takes the whole set of events at once, so their order of
arrival cannot matter. An interval that has not ended ends at :data:`FOREVER`.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from tests.oracles.event_facts import (
    EventFacts,
    Json,
    Name,
    Stamp,
    Use,
    add_up,
    by_name,
    dataset_name,
    deleted,
    latest_statements,
    moment_of,
)
from tests.oracles.flows import BASES, ColumnFact, Flow, flows_of, summary, take_column_lineage, take_lineage
from tests.oracles.graph_walk import Part, Ref, WalkEdge, reach, strengths

FOREVER = 2**63 - 1
MOST_EDGES = 10_000
"""Beyond this many pairs of an input and an output of one writer, the inputs flow through a hub: see ``flows.py``."""
MOST_PAIRS = 10_000
"""Beyond this many pairs of a partition written and one read, the upstream counts as read whole."""
MOST_ROWS = 50_000
"""Beyond this many versions and rows of what they read, of datasets that one writer wrote by partitions, the largest of
these count as written whole."""
TERMINAL = ("COMPLETE", "FAIL", "ABORT")


@dataclass(frozen=True)
class Version:
    """What one writer made of one partition of a dataset; names resolved."""

    target: Name
    partition: Part
    origin: str
    job: Name | None
    run_id: str | None
    event: str | None
    written_at: int
    tiebreak: str
    upstreams: Mapping[Name, tuple[str, frozenset[str]]]
    """Upstream → basis and the partitions read; none of them: the whole."""
    columns: frozenset[ColumnFact]
    schema: tuple[str, ...] | None
    """Its fields, as JSON."""
    label: str | None
    hubs: Mapping[Name, str] = field(default_factory=dict)
    """Of the upstreams, those that are hubs, each with the part of it that was read."""
    is_hub: bool = False
    valid_to: int = FOREVER

    @cached_property
    def edges(self) -> set[tuple[Name, str, str, str | None]]:
        """Upstream, basis, type, transformation."""
        facts: dict[Name, list[ColumnFact]] = defaultdict(list)
        for fact in self.columns:
            facts[fact.upstream].append(fact)
        return {(upstream, basis, *summary(facts[upstream])) for upstream, (basis, _) in self.upstreams.items()}

    @property
    def says_nothing(self) -> bool:
        return not (self.upstreams or self.schema or self.label)

    @property
    def lineage(self) -> Iterator[tuple[Name, Part, str, str, str | None]]:
        for upstream, basis, kind, transformation in self.edges:
            for partition in self.parts_read(upstream):
                yield upstream, partition, basis, kind, transformation

    def parts_read(self, upstream: Name) -> Collection[Part]:
        if upstream in self.hubs:
            return {self.hubs[upstream]}
        return self.upstreams[upstream][1] or {None}


@dataclass(frozen=True)
class RunAccount:
    run_id: str
    job: Name
    state: str
    started_at: int | None
    ended_at: int | None
    first_event_at: int
    last_event_at: int
    nominal_start: int | None
    nominal_end: int | None
    parent: str | None
    job_facets: Json
    inputs: Mapping[Name, Use]
    outputs: Mapping[Name, Use]
    entries: list[Json]
    event_count: int
    most_edges: int

    @cached_property
    def flows(self) -> list[Flow]:
        return flows_of(self.job, self.inputs, self.outputs, self.entries, self.most_edges)


@dataclass(frozen=True)
class ImpactOn:
    depth: int
    columns: frozenset[tuple[str | None, str]]
    jobs: frozenset[Name]
    owner: str | None
    latest_runs: frozenset[tuple[str, str, int]]


class Model:
    """The answers that follow from ``events``, with hubs where a writer would make more than ``most_edges``."""

    def __init__(self, events: Iterable[Json], most_edges: int = MOST_EDGES) -> None:
        self.most_edges = most_edges
        once = {said.digest: said for said in map(EventFacts, events)}
        self.events = sorted(once.values(), key=lambda said: said.stamp)
        self._resolved: dict[Name, Name] = {}
        self._arcs: dict[tuple[str, int | None], list[WalkEdge]] = {}

    # -- datasets and jobs --------------------------------------------------------------------------------------------

    @cached_property
    def facets(self) -> dict[Name, dict[str, tuple[Stamp, Json]]]:
        """For each dataset of an event: the last statement of each facet, including deletions."""
        last: dict[Name, dict[str, tuple[Stamp, Json]]] = {}
        for said in self.events:
            for use in said.uses:
                last.setdefault(use.name, {}).update({n: (said.stamp, facet) for n, facet in use.facets.items()})
        return last

    @cached_property
    def seen(self) -> dict[Name, tuple[int, int]]:
        times: dict[Name, list[int]] = defaultdict(list)
        for said in self.events:
            for use in said.uses:
                times[use.name].append(said.time)
        return {name: (min(at), max(at)) for name, at in times.items()}

    @cached_property
    def claims(self) -> dict[Name, dict[Name, Stamp]]:
        """Alias → the datasets that currently claim it, each with the stamp of its claim."""
        claims: dict[Name, dict[Name, Stamp]] = defaultdict(dict)
        for owner, facets in self.facets.items():
            stamp, facet = facets.get("symlinks", ((0, ""), {}))
            for item in [] if deleted(facet) else facet.get("identifiers", []):
                if dataset_name(item) != owner:
                    claims[dataset_name(item)][owner] = stamp
        return claims

    def resolve(self, name: Name) -> Name:
        if name not in self._resolved:
            self._resolved[name] = self._follow(name)
        return self._resolved[name]

    def _follow(self, name: Name) -> Name:
        trail = [name]
        while claimants := self.claims.get(trail[-1]):
            last = max(claimants.values())
            owner = min((one for one, stamp in claimants.items() if stamp == last), key=by_name)
            if owner in trail:
                return min(trail[trail.index(owner) :], key=by_name)
            trail.append(owner)
        return trail[-1]

    @cached_property
    def names(self) -> set[Name]:
        """Every dataset, and every job that is the end of an edge, that anything now known speaks of."""
        spoken = set(self.facets) | set(self.claims)
        for flow in self._flows:
            spoken |= {flow.target, *flow.upstreams, *flow.shared}
        return spoken

    @cached_property
    def _aliases(self) -> dict[Name, list[Name]]:
        others: dict[Name, list[Name]] = defaultdict(list)
        for name in sorted(self.names, key=by_name):
            if self.resolve(name) != name:
                others[self.resolve(name)].append(name)
        return others

    def aliases(self, canonical: Name) -> list[Name]:
        return self._aliases.get(canonical, [])

    def merged_facets(self, canonical: Name) -> Json:
        """The facets stated under any of its names."""
        best: dict[str, tuple[Stamp, Json]] = {}
        for name in [canonical, *self.aliases(canonical)]:
            for facet_name, (stamp, facet) in self.facets.get(name, {}).items():
                if facet_name not in best or stamp > best[facet_name][0]:
                    best[facet_name] = stamp, facet
        return {name: facet for name, (_, facet) in best.items() if not deleted(facet)}

    def words(self, canonical: Name) -> tuple[str, str | None, tuple[str, ...]]:
        """Its summary: kind, owner, tags."""
        facets = self.merged_facets(canonical)
        return kind_of(canonical[1], facets), owner_in(facets), tags_in(facets)

    def live_facets(self, name: Name) -> Json:
        return {n: facet for n, (_, facet) in self.facets.get(name, {}).items() if not deleted(facet)}

    @cached_property
    def jobs(self) -> dict[Name, dict[str, tuple[Stamp, Json]]]:
        last: dict[Name, dict[str, tuple[Stamp, Json]]] = {}
        for said in self.events:
            if said.kind != "dataset":
                named = {n: (said.stamp, facet) for n, facet in said.job_facets.items()}
                last.setdefault(said.job, {}).update(named)
        return last

    @cached_property
    def job_last_seen(self) -> dict[Name, int]:
        return {said.job: said.time for said in self.events if said.kind != "dataset"}

    # -- runs ---------------------------------------------------------------------------------------------------------

    @cached_property
    def runs(self) -> dict[str, RunAccount]:
        by_run: dict[str, list[EventFacts]] = defaultdict(list)
        for said in self.events:
            if said.kind == "run":
                by_run[said.run_id].append(said)
        return {run_id: _account(events, self.most_edges) for run_id, events in by_run.items()}

    # -- versions -----------------------------------------------------------------------------------------------------

    @cached_property
    def _job_declarations(self) -> dict[Name, list[tuple[EventFacts, list[Flow], Mapping[Name, Use]]]]:
        declared: dict[Name, list[tuple[EventFacts, list[Flow], Mapping[Name, Use]]]] = defaultdict(list)
        for said in self.events:
            if said.kind == "job" and (said.inputs or said.outputs or "lineage" in said.job_facets):
                inputs, outputs = add_up(said.inputs), add_up(said.outputs)
                flows = flows_of(said.job, inputs, outputs, _entries(said.job_facets), self.most_edges)
                declared[said.job].append((said, flows, inputs))
        return declared

    @cached_property
    def _dataset_declarations(self) -> dict[Name, list[tuple[EventFacts, Flow]]]:
        """By the dataset's canonical name."""
        declared: dict[Name, list[tuple[EventFacts, Flow]]] = defaultdict(list)
        for said in self.events:
            use = said.dataset
            if use is not None and {"lineage", "columnLineage"} & use.facets.keys():
                flow, live = Flow(use.name), latest_statements([use.facets])
                if "lineage" in live:
                    take_lineage(flow, live["lineage"], None)
                else:
                    take_column_lineage(flow, live.get("columnLineage", {}))
                declared[self.resolve(use.name)].append((said, flow))
        return declared

    @property
    def _flows(self) -> Iterator[Flow]:
        for run in self.runs.values():
            if run.state == "COMPLETE":
                yield from run.flows
        for declarations in self._job_declarations.values():
            for _, flows, _ in declarations:
                yield from flows
        for own in self._dataset_declarations.values():
            yield from (flow for _, flow in own)

    @cached_property
    def versions(self) -> list[Version]:
        return [*self._run_versions(), *self._job_versions(), *self._dataset_versions()]

    def _run_versions(self) -> Iterator[Version]:
        slots: dict[Any, list[Version]] = defaultdict(list)
        for run in self.runs.values():
            if run.state == "COMPLETE":
                assert run.ended_at is not None
                key = hashlib.sha256(run.run_id.encode()).hexdigest()
                writer = {"origin": "run", "job": run.job, "run_id": run.run_id, "event": None}
                for version in self._made(run.flows, run.inputs, run.outputs, writer, run.ended_at, key):
                    slots[run.job, version.target, version.partition].append(version)
        for slot in slots.values():
            yield from _replacing_each_other(slot)

    def _job_versions(self) -> Iterator[Version]:
        for job, declarations in self._job_declarations.items():
            ends = [said.time for said, _, _ in declarations[1:]] + [FOREVER]
            for (said, flows, inputs), end in zip(declarations, ends, strict=True):
                writer = {"origin": "job", "job": job, "run_id": None, "event": said.digest}
                for version in self._made(flows, inputs, add_up(said.outputs), writer, said.time, said.digest):
                    yield _until(version, end)

    def _dataset_versions(self) -> Iterator[Version]:
        for declarations in self._dataset_declarations.values():
            made = []
            for said, flow in declarations:
                assert said.dataset is not None
                writer = {"origin": "dataset", "job": None, "run_id": None, "event": said.digest}
                outputs = add_up([said.dataset])
                made += self._made([flow], {}, outputs, writer, said.time, said.digest)
            yield from _replacing_each_other(made)

    def _made(
        self,
        flows: Iterable[Flow],
        inputs: Mapping[Name, Use],
        outputs: Mapping[Name, Use],
        writer: dict[str, Any],
        written_at: int,
        tiebreak: str,
    ) -> list[Version]:
        """The versions of one writer: one for each dataset and partition, whatever names it used for them.

        Where it used several names for one dataset, what it said under each adds up; if it named no partitions under
        one of them, the dataset was read or written as a whole.
        """
        by_target: dict[Name, list[Flow]] = defaultdict(list)
        for flow in sorted(flows, key=lambda f: (f.target[0] == "job", *by_name(f.target))):
            by_target[self.resolve(flow.target)].append(flow)
        versions = []
        made_of: dict[tuple[Name, str], dict[Name, tuple[str, frozenset[str]]]] = {}
        wholes = self._wholes(by_target, inputs, outputs)
        for target, parts in by_target.items():
            said = self._said_of_upstreams(parts, inputs)
            written = _together(_partitions_in(outputs, flow.target) for flow in parts) or {None}
            if target in wholes:
                written = {None}
            upstreams = {}
            for upstream, said_of in said.items():
                read = _together(partitions for _, partitions in said_of)
                strongest = min((basis for basis, _ in said_of), key=BASES.index)
                upstreams[upstream] = strongest, read if len(read) * len(written) <= MOST_PAIRS else frozenset()
            hubs = {}
            for shared in {flow.shared for flow in parts if flow.shared}:
                hub, part, members = self._hub(writer["job"], shared, inputs)
                hubs[hub], upstreams[hub] = part, ("inputs", frozenset({part}))
                made_of[hub, part] = members
            columns = {
                fact._replace(upstream=self.resolve(fact.upstream), downstream=target)
                for flow in parts
                for fact in flow.columns
            }
            for upstream in upstreams.keys() - {fact.upstream for fact in columns}:
                columns.add(ColumnFact(upstream, None, target, None, "UNKNOWN", None, False, None))
            uses = [outputs[flow.target] for flow in parts if flow.target in outputs]
            versions += [
                Version(
                    target,
                    partition,
                    **writer,
                    written_at=written_at,
                    tiebreak=tiebreak,
                    upstreams=upstreams,
                    columns=frozenset(columns),
                    schema=next((schema for use in uses if (schema := _schema(use.facets))), None),
                    label=next((label for use in uses if (label := _label(use.facets)) is not None), None),
                    hubs=hubs,
                )
                for partition in written
            ]
        for (hub, part), members in made_of.items():
            columns = {ColumnFact(name, None, hub, None, "UNKNOWN", None, False, None) for name in members}
            timed = {"written_at": written_at, "tiebreak": tiebreak}
            said_by = {**writer, **timed, "schema": None, "label": None, "is_hub": True}
            versions.append(Version(hub, part, **said_by, upstreams=members, columns=frozenset(columns)))
        return versions

    def _said_of_upstreams(
        self, parts: Iterable[Flow], inputs: Mapping[Name, Use]
    ) -> dict[Name, list[tuple[str, frozenset[str]]]]:
        said: dict[Name, list[tuple[str, frozenset[str]]]] = defaultdict(list)
        for flow in parts:
            for name, basis in flow.upstreams.items():
                said[self.resolve(name)].append((basis, _partitions_in(inputs, name)))
        return said

    def _wholes(
        self, by_target: Mapping[Name, Sequence[Flow]], inputs: Mapping[Name, Use], outputs: Mapping[Name, Use]
    ) -> set[Name]:
        """Targets whose partitions would make too many rows: the largest, as few of them as will do."""
        rows: list[tuple[int, Name]] = []
        for target, parts in by_target.items():
            written = len(_together(_partitions_in(outputs, flow.target) for flow in parts))
            reads = [len(_together(p for _, p in said)) for said in self._said_of_upstreams(parts, inputs).values()]
            read = sum(number if 0 < number * written <= MOST_PAIRS else 1 for number in reads)
            hubs = len({flow.shared for flow in parts if flow.shared})
            if written > 1:
                rows.append((written * (1 + hubs + read), target))
        wholes = set[Name]()
        for _, target in sorted(rows, key=lambda row: -row[0]):
            if sum(number for number, other in rows if other not in wholes) > MOST_ROWS:
                wholes.add(target)
        return wholes

    def _hub(
        self, job: Name, shared: frozenset[Name], inputs: Mapping[Name, Use]
    ) -> tuple[Name, str, dict[Name, tuple[str, frozenset[str]]]]:
        """The hub of a job and a set of inputs, the part of it that stands for the partitions read, and what flows in.

        Called after the job and the names of the inputs, so that one set of inputs is one hub, whoever runs when.
        """
        read: dict[Name, list[frozenset[str]]] = defaultdict(list)
        for name in shared:
            read[self.resolve(name)].append(inputs[name].partitions)
        members = {name: ("inputs", _together(read[name])) for name in sorted(read)}
        names = [text for name in members for text in name[1:]]
        key = hashlib.sha256("\0".join(["inputs", *job[1:], *names]).encode(errors="surrogatepass")).hexdigest()
        partitions = [[*name[1:], sorted(parts)] for name, (_, parts) in members.items()]
        part = hashlib.sha256(json.dumps(partitions, separators=(",", ":")).encode()).hexdigest()
        return ("job", job[1], f"{job[2]} (inputs {key[:16]})"), f"inputs {part}", members

    # -- edges --------------------------------------------------------------------------------------------------------

    @cached_property
    def edges(self) -> dict[tuple[Any, ...], list[tuple[int, int]]]:
        """(job, origin, upstream, downstream, basis, type, transformation) → when it held."""
        return self._held(lambda version: version.edges)

    @cached_property
    def column_edges(self) -> dict[tuple[Any, ...], list[tuple[int, int]]]:
        """(job, origin, the column fact) → when it held."""
        return self._held(lambda version: version.columns)

    def _held(self, elements: Any) -> dict[tuple[Any, ...], list[tuple[int, int]]]:
        held: dict[tuple[Any, ...], list[tuple[int, int]]] = defaultdict(list)
        for version in self.versions:
            for element in elements(version):
                held[version.job, version.origin, version.target, element].append(
                    (version.written_at, version.valid_to)
                )
        joined = {key: _joined(intervals) for key, intervals in held.items()}
        return {key: intervals for key, intervals in joined.items() if intervals}

    def arcs(self, grain: str, as_of: int | None) -> list[WalkEdge]:
        """Every edge that holds now, or held at ``as_of``."""
        if (grain, as_of) not in self._arcs:
            self._arcs[grain, as_of] = _without_hubs(self._holding(grain, as_of), self.hubs)
        return self._arcs[grain, as_of]

    @cached_property
    def hubs(self) -> set[Name]:
        """Under these names runs show them; nobody can ask for one."""
        return {version.target for version in self.versions if version.is_hub}

    def _holding(self, grain: str, as_of: int | None) -> list[WalkEdge]:
        if grain == "partition":
            return [
                WalkEdge(
                    (upstream, part),
                    (version.target, version.partition),
                    (version.job, version.origin, basis, kind, transformation),
                    frozenset({version.run_id}),
                )
                for version in self.versions
                if _holds((version.written_at, version.valid_to), as_of)
                for upstream, part, basis, kind, transformation in version.lineage
            ]
        if grain == "dataset":
            return [
                WalkEdge(
                    (element[0], None),
                    (target, None),
                    (job, origin, *element[1:]),
                    self._latest_runs(job, origin, target, as_of, element, lambda version: version.edges),
                )
                for (job, origin, target, element), intervals in self.edges.items()
                if any(_holds(interval, as_of) for interval in intervals)
            ]
        return [
            WalkEdge(
                (fact.upstream, fact.upstream_column),
                (fact.downstream, fact.downstream_column),
                (job, origin, fact.dependency, fact.subtype, fact.masking, fact.logic),
                self._latest_runs(job, origin, target, as_of, fact, lambda version: version.columns),
            )
            for (job, origin, target, fact), intervals in self.column_edges.items()
            if any(_holds(interval, as_of) for interval in intervals)
        ]

    def _latest_runs(
        self, job: Name | None, origin: str, target: Name, as_of: int | None, element: Any, elements: Any
    ) -> frozenset[str | None]:
        if origin != "run":
            return frozenset({None})
        having = [
            version
            for version in self.versions
            if (version.origin, version.job, version.target) == (origin, job, target)
            and element in elements(version)
            and (as_of is None or version.written_at <= as_of)
        ]
        latest = max(version.written_at for version in having)
        return frozenset(version.run_id for version in having if version.written_at == latest)

    # -- questions ----------------------------------------------------------------------------------------------------

    def columns_of(self, canonical: Name) -> set[str]:
        """By its schema, or in any column edge that ever held."""
        columns = {f["name"] for f in self.merged_facets(canonical).get("schema", {}).get("fields", [])}
        for *_, fact in self.column_edges:
            columns |= {fact.upstream_column} if fact.upstream == canonical else set()
            columns |= {fact.downstream_column} if fact.downstream == canonical else set()
        return columns - {None}

    def partitions_of(self, canonical: Name) -> set[str]:
        partitions = {version.partition for version in self.versions if version.target == canonical}
        for version in self.versions:
            partitions |= {part for upstream, part, *_ in version.lineage if upstream == canonical}
        return {part for part in partitions if part is not None}

    def impact(
        self, name: Name, column: str | None, max_depth: int, as_of: int | None
    ) -> tuple[dict[Name, ImpactOn], bool, frozenset[Name]]:
        """The affected datasets, whether there is more beyond ``max_depth``, and the jobs that only read."""
        column_arcs = self.arcs("column", as_of)
        by_column = reach(column_arcs, (name, column), "downstream", max_depth)
        tied = strengths(column_arcs, (name, column), "downstream", max_depth)
        found = by_column
        if column is None:
            found = reach(self.arcs("dataset", as_of), (name, None), "downstream", max_depth)
        depths: dict[Name, int] = {}
        for (affected, _), depth in found.depths.items():
            if affected != name:
                depths[affected] = min(depth, depths.get(affected, depth))
        writers: dict[Name, set[Name]] = defaultdict(set)
        carriers = {name, *depths}
        for arc in self.arcs("dataset", as_of):
            (upstream, _), (downstream, _) = arc.upstream, arc.downstream
            carries_on = upstream != downstream and upstream in carriers
            if downstream in depths and carries_on and arc.how[0] is not None:
                writers[downstream].add(arc.how[0])
        answer = {
            affected: ImpactOn(
                depth,
                frozenset((part, tied[other, part]) for other, part in by_column.depths if other == affected),
                frozenset(writers[affected]),
                owner_in(self.merged_facets(affected)),
                self._newest_runs(writers[affected]),
            )
            for affected, depth in depths.items()
        }
        return answer, found.truncated, self._readers({name, *depths})

    def _newest_runs(self, jobs: Collection[Name]) -> frozenset[tuple[str, str, int]]:
        runs = [run for run in self.runs.values() if run.job in jobs]
        newest = max((run.last_event_at for run in runs), default=None)
        return frozenset((run.run_id, run.state, run.last_event_at) for run in runs if run.last_event_at == newest)

    def _readers(self, canonical: Collection[Name]) -> frozenset[Name]:
        reading = {run.job for run in self.runs.values() if any(self.resolve(name) in canonical for name in run.inputs)}
        return frozenset(reading - {run.job for run in self.runs.values() if run.outputs})


def _account(events: Sequence[EventFacts], most_edges: int) -> RunAccount:
    """``events`` of one run, by stamp."""
    ends = [said for said in events if said.type in TERMINAL]
    types = {said.type for said in events}
    state = ends[-1].type if ends else next((t for t in ("RUNNING", "START") if t in types), "UNKNOWN")
    assert state is not None
    parents = [said.run_facets["parent"]["run"]["runId"] for said in events if "parent" in said.run_facets]
    nominal = [said.run_facets["nominalTime"] for said in events if "nominalTime" in said.run_facets]
    start, end = (nominal[-1].get(key) if nominal else None for key in ("nominalStartTime", "nominalEndTime"))
    return RunAccount(
        run_id=events[0].run_id,
        job=events[-1].job,
        state=state,
        started_at=min((said.time for said in events if said.type == "START"), default=None),
        ended_at=ends[-1].time if ends else None,
        first_event_at=events[0].time,
        last_event_at=events[-1].time,
        nominal_start=moment_of(start) if start else None,
        nominal_end=moment_of(end) if end else None,
        parent=parents[-1] if parents else None,
        job_facets=latest_statements(said.job_facets for said in events),
        inputs=add_up(use for said in events for use in said.inputs),
        outputs=add_up(use for said in events for use in said.outputs),
        entries=[entry for said in events for entry in _entries(said.job_facets)],
        event_count=len(events),
        most_edges=most_edges,
    )


def _without_hubs(arcs: Iterable[WalkEdge], hubs: set[Name]) -> list[WalkEdge]:
    """An edge from each thing that flows into a hub to each that flows out of the same part of it: one hop, said of the
    job by whoever wrote what flows out."""
    into: dict[Ref, set[Ref]] = defaultdict(set)
    arcs = list(arcs)
    for arc in arcs:
        if arc.downstream[0] in hubs:
            into[arc.downstream].add(arc.upstream)
    plain = [arc for arc in arcs if not hubs & {arc.upstream[0], arc.downstream[0]}]
    through = [
        replace(arc, upstream=upstream, via_job=True)
        for arc in arcs
        if arc.upstream[0] in hubs
        for upstream in into[arc.upstream]
    ]
    return plain + through


def _partitions_in(uses: Mapping[Name, Use], name: Name) -> frozenset[str]:
    return uses[name].partitions if name in uses else frozenset()


def _together(partitions: Iterable[frozenset[str]]) -> frozenset[str]:
    """Several names of one dataset: all partitions named, or none, which is the whole, if one names none."""
    named = list(partitions)
    return frozenset().union(*named) if all(named) else frozenset()


def _entries(job_facets: Json) -> list[Json]:
    facet = job_facets.get("lineage", {})
    return [] if deleted(facet) else list(facet.get("entries", []))


def _schema(facets: Json) -> tuple[str, ...] | None:
    return tuple(json.dumps(f, sort_keys=True) for f in facets.get("schema", {}).get("fields", [])) or None


def _label(facets: Json) -> str | None:
    label: str | None = facets.get("version", {}).get("datasetVersion")
    return label


def owner_in(facets: Json) -> str | None:
    owners = facets.get("ownership", {}).get("owners", [])
    return owners[0]["name"] if owners else None


def tags_in(facets: Json) -> tuple[str, ...]:
    tags = facets.get("tags", {}).get("tags", [])
    return tuple(sorted({t["key"] if t["value"] == "true" else f"{t['key']}={t['value']}" for t in tags}))


def kind_of(namespace: str, facets: Json) -> str:
    stated = facets.get("datasetType", {}).get("datasetType", "").lower()
    if stated in ("table", "view", "report", "model", "file", "stream"):
        return str(stated)
    if stated == "topic" or namespace.startswith("kafka:"):
        return "stream"
    is_table = any(item["type"] == "TABLE" for item in facets.get("symlinks", {}).get("identifiers", []))
    return "file" if namespace.startswith("s3:") and not is_table else "table"


# -- intervals --------------------------------------------------------------------------------------------------------


def _replacing_each_other(versions: list[Version]) -> Iterator[Version]:
    ordered = sorted(versions, key=lambda version: (version.written_at, version.tiebreak))
    for version, later in zip(ordered, [*ordered[1:], None], strict=True):
        yield _until(version, later.written_at if later else FOREVER)


def _until(version: Version, valid_to: int) -> Version:
    return replace(version, valid_to=valid_to)


def _joined(intervals: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(interval for interval in intervals if interval[0] < interval[1]):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((start, end))
    return joined


def _holds(interval: tuple[int, int], as_of: int | None) -> bool:
    start, end = interval
    return end == FOREVER if as_of is None else start <= as_of < end
