"""Compares the store's answers with the model's: each check raises AssertionError with the query and the difference."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest

from headwater.errors import UnknownColumn, UnknownPartition
from headwater.model.answers import Closure, DatasetDetail, DatasetSummary, Impact, Node, Via
from headwater.model.lineage import Origin
from headwater.model.names import Dataset, Endpoint, Job
from headwater.model.runs import DatasetUse
from headwater.store.store import Store
from tests.oracles.event_facts import EPOCH, Name, Use, by_name, micros
from tests.oracles.graph_walk import UNLIMITED, Ref, WalkEdge, near_and_far, reach, strengths, touches
from tests.oracles.model import FOREVER, Model

DIRECTIONS = ("upstream", "downstream")


def endpoint(name: Name) -> Endpoint:
    return (Job if name[0] == "job" else Dataset)(name[1], name[2])


def name_of(named: Endpoint) -> Name:
    return "job" if isinstance(named, Job) else "dataset", named.namespace, named.name


def moment(at: int) -> datetime:
    return EPOCH + timedelta(microseconds=at)


def _micros(at: datetime | None) -> int | None:
    return None if at is None else micros(at)


def assert_equal(asked: object, **pairs: tuple[Any, Any]) -> None:
    """Each pair is the model's expected value and the store's answer."""
    for what, (expected, actual) in pairs.items():
        assert actual == expected, f"{asked}: {what}\n  expected {expected}\n  answered {actual}"


# -- the graph --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Query:
    name: Name
    column: str | None = None
    partition: str | None = None
    depth: int | None = None
    as_of: int | None = None

    @property
    def grain(self) -> str:
        return "column" if self.column is not None else "partition" if self.partition is not None else "dataset"

    @property
    def part(self) -> str | None:
        return self.column if self.column is not None else self.partition

    @property
    def max_depth(self) -> int:
        return UNLIMITED if self.depth is None else self.depth

    @property
    def moment(self) -> datetime | None:
        return None if self.as_of is None else moment(self.as_of)

    def __str__(self) -> str:
        asked = f"{self.grain} {'/'.join(self.name[1:])}" + (f" part {self.part!r}" if self.part is not None else "")
        return f"{asked}, depth {self.depth}, as of {self.moment or 'now'}"


def nodes(model: Model, grains: Iterable[str]) -> Iterator[Query]:
    """Every node that can be queried, under each of its names."""
    for name in sorted(model.names):
        canonical = model.resolve(name)
        if "dataset" in grains:
            yield Query(name)
        if "column" in grains:
            yield from (Query(name, column=column) for column in sorted(model.columns_of(canonical)))
        if "partition" in grains:
            yield from (Query(name, partition=partition) for partition in sorted(model.partitions_of(canonical)))


def check_closure(store: Store, model: Model, question: Query, direction: str) -> None:
    ask = store.upstream if direction == "upstream" else store.downstream
    answer: Closure = ask(endpoint(question.name), question.column, question.partition, question.depth, question.moment)
    asked = f"{direction} of {question}"
    arcs, start = model.arcs(question.grain, question.as_of), (model.resolve(question.name), question.part)
    expected = reach(arcs, start, direction, question.max_depth)
    assert_equal(
        asked,
        endpoint=(endpoint(start[0]), answer.endpoint),
        part=(question.part, answer.part),
        grain=(question.grain, answer.grain),
        max_depth=(question.max_depth, answer.max_depth),
        as_of=(question.moment, answer.as_of),
        nodes=(_sorted(expected.depths.items()), _sorted((_ref(node), node.depth) for node in answer.nodes)),
        truncated=(expected.truncated, answer.truncated),
        in_cycle=(expected.in_cycle, answer.in_cycle),
        nearest_first=(sorted(node.depth for node in answer.nodes), [node.depth for node in answer.nodes]),
    )
    tied = strengths(arcs, start, direction, question.max_depth) if question.grain == "column" else {}
    last_hops: dict[Ref, list[tuple[Ref, WalkEdge]]] = defaultdict(list)
    for arc in arcs:
        near, far = near_and_far(arc, direction)
        last_hops[far].append((near, arc))
    for node in answer.nodes:
        assert_equal(f"{asked}: {node.label}", dependency=(tied.get(_ref(node)), node.dependency))
        _check_path(asked, last_hops[_ref(node)], start, node)


def _check_path(asked: str, last_hops: list[tuple[Ref, WalkEdge]], start: Ref, node: Node) -> None:
    """The path has exactly its depth, and its last hop is an existing edge.

    ``last_hops`` are all edges that lead to the node, each with its other end.
    """
    path = node.path
    assert len(path) == node.depth, f"{asked}: the path to {node.label} is {[step.label for step in path]}"
    assert [step.depth for step in path] == list(range(1, node.depth + 1)), (
        f"{asked}: depths on the way to {node.label}"
    )
    before = _ref(path[-2]) if len(path) > 1 else start
    hops = [arc for near, arc in last_hops if touches(near, before)]
    assert hops, f"{asked}: no edge leads from {before} to {node.label}"
    how = _how(node.via, node.grain)
    behind = [arc for arc in hops if arc.how == how and arc.via_job == node.via.via_job]
    assert behind, f"{asked}: {node.label} is said to come by {how}; there are only {[arc.how for arc in hops]}"
    runs = {run for arc in behind for run in arc.runs}
    assert node.via.run_id in runs, (
        f"{asked}: the run behind {node.label} ({how}) is said to be {node.via.run_id}, not {_sorted(runs)}"
    )


def _how(via: Via, grain: str) -> tuple[Any, ...]:
    job = name_of(via.job) if via.job is not None else None
    if grain == "column":
        return job, via.origin, via.dependency, via.transformation, via.masking, via.logic
    return job, via.origin, via.basis, via.type, via.transformation


def _ref(node: Node) -> Ref:
    return name_of(node.endpoint), node.part


def _sorted(things: Iterable[Any]) -> list[Any]:
    return sorted(things, key=repr)


def check_impact(store: Store, model: Model, question: Query) -> None:
    asked = f"impact of {question}"
    answer: Impact = store.impact(endpoint(question.name), question.column, question.depth, question.moment)
    start = model.resolve(question.name)
    affected, truncated, readers = model.impact(start, question.column, question.max_depth, question.as_of)
    assert_equal(
        asked,
        endpoint=(endpoint(start), answer.endpoint),
        column=(question.column, answer.column),
        max_depth=(question.max_depth, answer.max_depth),
        as_of=(question.moment, answer.as_of),
        affected=(_sorted(affected), _sorted(name_of(one.endpoint) for one in answer.affected)),
        truncated=(truncated, answer.truncated),
        readers=([endpoint(name) for name in sorted(readers)], list(answer.readers)),
    )
    ways = EdgesByLabel(model.arcs(question.grain, question.as_of))
    for one in answer.affected:
        expected = affected[name_of(one.endpoint)]
        latest = one.latest_run
        assert_equal(
            f"{asked}: {one.endpoint}",
            depth=(expected.depth, one.depth),
            columns=(_sorted(expected.columns), _sorted((c.name, c.dependency) for c in one.columns)),
            jobs=([endpoint(name) for name in sorted(expected.jobs)], list(one.jobs)),
            owner=(expected.owner, one.owner),
        )
        run = (latest.run_id, latest.state, micros(latest.last_event_at)) if latest else None
        assert (run in expected.latest_runs) if expected.latest_runs else run is None, (
            f"{asked}: the latest run for {one.endpoint} is said to be {run}, not {_sorted(expected.latest_runs)}"
        )
        assert ways.lead((start, question.column), one.path, name_of(one.endpoint)), (
            f"{asked}: {list(one.path)} is no way to {one.endpoint}"
        )


class EdgesByLabel:
    """Edges by the label of their target."""

    def __init__(self, arcs: list[WalkEdge]) -> None:
        mark = "#" if any(ref[1] is not None for arc in arcs for ref in (arc.upstream, arc.downstream)) else ""
        self._arcs: dict[str, list[WalkEdge]] = defaultdict(list)
        for arc in arcs:
            self._arcs[_label(arc.downstream, mark)].append(arc)

    def lead(self, start: Ref, labels: Sequence[str], target: Name) -> bool:
        """Whether there is a path to ``target`` through nodes with these labels."""
        at = {start}
        for label in labels:
            arcs = self._arcs.get(label, ())
            at = {arc.downstream for arc in arcs if any(touches(arc.upstream, node) for node in at)}
        return any(target == name for name, _ in at)


def _label(ref: Ref, mark: str) -> str:
    (_, namespace, name), part = ref
    return f"{namespace}/{name}" if part is None else f"{namespace}/{name}{mark}{part}"


# -- datasets and runs ------------------------------------------------------------------------------------------------


def check_catalog(store: Store, model: Model) -> None:
    """The list of datasets, and each of them in detail."""
    canonical = sorted({model.resolve(name) for name in model.names if name[0] == "dataset"}, key=by_name)
    listed = store.datasets(limit=1000)
    assert_equal("datasets", names=([endpoint(name) for name in canonical], [summary.dataset for summary in listed]))
    for name, summary in zip(canonical, listed, strict=True):
        _check_summary(model, name, summary)
        for asked in [name, *model.aliases(name)]:
            _check_detail(model, name, store.dataset(endpoint(asked)))


def _check_summary(model: Model, name: Name, summary: DatasetSummary) -> None:
    (kind, owner, tags), others = model.words(name), model.aliases(name)
    seen = [model.seen[one] for one in [name, *others] if one in model.seen]
    assert_equal(
        f"dataset {name}",
        aliases=([endpoint(other) for other in others], list(summary.aliases)),
        kind=(kind, summary.kind),
        owner=(owner, summary.owner),
        tags=(tags, summary.tags),
        first_seen=(min((first for first, _ in seen), default=None), _micros(summary.first_seen)),
        last_seen=(max((last for _, last in seen), default=None), _micros(summary.last_seen)),
    )


def _check_detail(model: Model, name: Name, detail: DatasetDetail) -> None:
    _check_summary(model, name, detail.summary)
    facets = model.merged_facets(name)
    fields = [(f["name"], f.get("type")) for f in facets.get("schema", {}).get("fields", [])]
    said = [version for version in model.versions if version.target == name]
    versions = {
        (v.written_at, v.valid_to, v.partition, v.label, v.origin, v.job, v.run_id)
        for v in said
        if not (v.origin == "job" and v.says_nothing)
    }
    answered = {
        (
            micros(v.written_at),
            FOREVER if v.valid_to is None else micros(v.valid_to),
            v.partition,
            v.label,
            str(v.origin),
            name_of(v.job) if v.job else None,
            v.run_id,
        )
        for v in detail.versions
        if not (v.origin is Origin.JOB and v.schema is None and v.label is None)
    }
    if any(v.origin == "job" and v.upstreams and not (v.schema or v.label) for v in said):
        versions = {v for v in versions if v[4] != "job"}
        answered = {v for v in answered if v[4] != "job"}
    assert_equal(
        f"dataset {name}",
        facets=(facets, detail.facets),
        schema=(fields, [(f.name, f.type) for f in detail.schema]),
        partitions=(sorted(model.partitions_of(name)), list(detail.partitions)),
        versions=(_sorted(versions), _sorted(answered)),
    )


def check_runs(store: Store, model: Model) -> None:
    """The list of runs, and each of them in detail."""
    listed = store.runs(limit=1000)
    newest_first = sorted(model.runs.values(), key=lambda run: (-run.last_event_at, run.run_id))
    assert_equal("runs", order=([run.run_id for run in newest_first], [run.run_id for run in listed]))
    for run in newest_first:
        detail = store.run(run.run_id)
        shown = detail.run
        rows = [version for version in model.versions if version.run_id == run.run_id]
        lineage = [
            (
                version.target,
                None if version.is_hub else version.partition,
                upstream,
                None if upstream in version.hubs else part,
                *how,
                version.written_at,
                version.valid_to,
                version.is_hub or upstream in version.hubs,
            )
            for version in rows
            for upstream, part, *how in version.lineage
        ]
        assert_equal(
            f"run {run.run_id}",
            job=(endpoint(run.job), shown.job),
            state=(run.state, shown.state),
            started_at=(run.started_at, _micros(shown.started_at)),
            ended_at=(run.ended_at, _micros(shown.ended_at)),
            last_event_at=(run.last_event_at, micros(shown.last_event_at)),
            nominal_start=(run.nominal_start, _micros(shown.nominal_start)),
            nominal_end=(run.nominal_end, _micros(shown.nominal_end)),
            parent=(run.parent, shown.parent_run_id),
            job_facets=(run.job_facets, detail.job_facets),
            inputs=(_uses(run.inputs.values()), _stored_uses(detail.inputs)),
            outputs=(_uses(run.outputs.values()), _stored_uses(detail.outputs)),
            event_count=(run.event_count, detail.event_count),
            children=(
                sorted(other.run_id for other in model.runs.values() if other.parent == run.run_id),
                sorted(child.run_id for child in detail.children),
            ),
            edges=(
                _sorted(lineage),
                _sorted(
                    (
                        name_of(e.downstream),
                        e.partition,
                        name_of(e.upstream),
                        e.upstream_partition,
                        str(e.basis),
                        str(e.type),
                        e.transformation,
                        micros(e.consumed_at),
                        FOREVER if e.valid_to is None else micros(e.valid_to),
                        e.via_job,
                    )
                    for e in detail.edges
                ),
            ),
            column_edges=(
                _sorted({tuple(fact) for flow in run.flows for fact in flow.columns}),
                _sorted(
                    (
                        name_of(e.upstream),
                        e.upstream_column,
                        name_of(e.downstream),
                        e.downstream_column,
                        str(e.dependency),
                        e.subtype,
                        e.masking,
                        e.logic,
                    )
                    for e in detail.column_edges
                ),
            ),
        )


def _uses(uses: Iterable[Use]) -> list[Any]:
    return _sorted((use.name, dict(use.facets), dict(use.io_facets), sorted(use.partitions)) for use in uses)


def _stored_uses(uses: Iterable[DatasetUse]) -> list[Any]:
    return _sorted((name_of(u.dataset), dict(u.facets), dict(u.io_facets), sorted(u.partitions)) for u in uses)


def check_unknown(store: Store, model: Model, columns: Iterable[str], partitions: Iterable[str]) -> None:
    """A query for an unknown column or partition is refused, never answered with an empty result."""
    for name in model.names:
        canonical = model.resolve(name)
        for column in set(columns) - model.columns_of(canonical):
            with pytest.raises(UnknownColumn):
                store.upstream(endpoint(name), column)
        for partition in set(partitions) - model.partitions_of(canonical):
            with pytest.raises(UnknownPartition):
                store.downstream(endpoint(name), partition=partition)
