"""Which datasets flow into which, as events state it.

For each target the strongest statement counts, in the order of the specification: an explicit `lineage` facet, then
`columnLineage`, then every input into every output. An input that no explicit statement mentions still flows into the
outputs that have no `lineage` entry of their own: otherwise the graph would lose that it was read. Every source has the
basis of its statement.

Every input into every output is a product, which a small event can make very large. Above a limit the inputs are one
:class:`SharedInputs`, which each of the outputs refers to: the graph has a hub there (decision 20).

Parts of a facet that violate its schema were reported when the event was read; here they are skipped.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from headwater.formats.openlineage.accumulate import RunAccount, is_deleted, lineage_entries, merge_uses
from headwater.formats.openlineage.event import Event
from headwater.formats.openlineage.stated_columns import (
    ParsedColumnLineage,
    objects,
    parsed_column_lineage,
    prepare_columns,
    text_of,
    transformations,
)
from headwater.formats.openlineage.text import is_storable
from headwater.model.lineage import Basis, ColumnEdge, Dependency, EdgeType
from headwater.model.names import Dataset, Endpoint, Job
from headwater.model.runs import DatasetUse


@dataclass(frozen=True)
class FlowSource:
    upstream: Endpoint
    partitions: tuple[str, ...]
    basis: Basis


_LARGE_BYTES = 100_000
MAX_DIRECT_EDGES = 10_000
"""The default limit: up to this many pairs of inputs and outputs, counted by partitions, become edges."""


@dataclass(frozen=True, eq=False)
class SharedInputs:
    """Inputs of one job that flow into the same targets, for no other reason than that they are inputs."""

    job: Job
    sources: tuple[FlowSource, ...]


@dataclass(frozen=True)
class TargetFlow:
    """Everything that one writer put into one target."""

    target: Endpoint
    partitions: tuple[str, ...]
    sources: tuple[FlowSource, ...]
    columns: frozenset[ColumnEdge]
    use: DatasetUse | None
    """The target as the writer described it, if it was among its outputs."""
    stated: ParsedColumnLineage | None = None
    """If ``columns`` come from one facet: these, by upstream."""
    shared: SharedInputs | None = None
    """The inputs that flow into it through a hub, in addition to ``sources``."""

    def columns_by_upstream(self) -> Mapping[Endpoint, Collection[ColumnEdge]]:
        if self.stated is not None:
            return self.stated.by_upstream
        edges: dict[Endpoint, list[ColumnEdge]] = {}
        for edge in self.columns:
            edges.setdefault(edge.upstream, []).append(edge)
        return edges


def endpoints_of(flows: Collection[TargetFlow]) -> set[Endpoint]:
    """All endpoints in the flows."""
    shared = {flow.shared for flow in flows if flow.shared is not None}
    return (
        {flow.target for flow in flows}
        | {source.upstream for flow in flows for source in flow.sources}
        | {upstream for flow in flows for upstream in flow.columns_by_upstream()}
        | {source.upstream for inputs in shared for source in inputs.sources}
    )


def flows_of_run(account: RunAccount, max_direct_edges: int = MAX_DIRECT_EDGES) -> list[TargetFlow]:
    return _flows(account.job, account.inputs, account.outputs, account.lineage_entries, max_direct_edges)


def flows_of_job(event: Event, max_direct_edges: int = MAX_DIRECT_EDGES) -> list[TargetFlow]:
    """The lineage a job declares. An event without datasets or a `lineage` facet declares nothing: see
    :func:`declares_lineage`."""
    assert event.job is not None
    inputs, outputs = merge_uses(event.inputs), merge_uses(event.outputs)
    return _flows(event.job, inputs, outputs, lineage_entries(event.job_facets or {}), max_direct_edges)


def flows_of_dataset(event: Event) -> list[TargetFlow]:
    """The lineage that a dataset declares of itself: always one flow, maybe without sources."""
    use = event.dataset
    assert use is not None
    claims = _Claims(use.dataset)
    lineage = _live_facet(use, "lineage")
    if lineage is not None:
        claims.add_lineage({**lineage, "inputs": lineage.get("inputs") or []}, own_job=None)
    else:
        claims.add_column_lineage(_live_facet(use, "columnLineage") or {})
    return [claims.flow(use.partitions, {}, use)]


def prepare_flows(events: Iterable[Event]) -> None:
    """Parse the column lineage of large events before the fold, which blocks other writers. For small events that would
    not pay: most repeat the one before."""
    prepare_columns(
        (facet, use.dataset)
        for event in events
        if len(event.body) > _LARGE_BYTES
        for use in (*event.outputs, *((event.dataset,) if event.dataset is not None else ()))
        if (facet := _live_facet(use, "columnLineage")) is not None
    )


def declares_lineage(event: Event) -> bool:
    """Whether a job or dataset event replaces what was declared before."""
    if event.dataset is not None:
        return bool({"lineage", "columnLineage"} & event.dataset.facets.keys())
    return bool(event.inputs or event.outputs or "lineage" in (event.job_facets or {}))


def _flows(
    job: Job,
    inputs: Iterable[DatasetUse],
    outputs: Iterable[DatasetUse],
    entries: Iterable[object],
    max_direct_edges: int,
) -> list[TargetFlow]:
    output_uses: dict[Endpoint, DatasetUse] = {use.dataset: use for use in outputs}
    claims = {dataset: _Claims(dataset) for dataset in output_uses}
    for entry in entries:
        if not isinstance(entry, Mapping):
            continue
        target = _endpoint(entry, job)
        if target is not None:
            claims.setdefault(target, _Claims(target)).add_lineage(entry, job)
    for dataset, use in output_uses.items():
        if not claims[dataset].explicit:
            claims[dataset].add_column_lineage(_live_facet(use, "columnLineage") or {})
    mentioned = {upstream for claim in claims.values() for upstream in claim.upstreams}
    partitions = {use.dataset: use.partitions for use in inputs}
    implied = [claim for claim in claims.values() if not claim.explicit]
    for same, read in (
        ([claim for claim in implied if not claim.upstreams], partitions.keys()),
        ([claim for claim in implied if claim.upstreams], partitions.keys() - mentioned),
    ):
        written = sum(len(output_uses[claim.target].partitions) or 1 for claim in same)
        if written * sum(len(partitions[dataset]) or 1 for dataset in read) > max_direct_edges:
            shared = SharedInputs(job, tuple(FlowSource(name, partitions[name], Basis.INPUTS) for name in sorted(read)))
            for claim in same:
                claim.shared = shared
        else:
            for claim in same:
                claim.add_inputs(read)
    return [
        claim.flow(output_uses[target].partitions if target in output_uses else (), partitions, output_uses.get(target))
        for target, claim in sorted(claims.items(), key=lambda item: _sort_key(item[0]))
    ]


@dataclass
class _Claims:
    """What is stated about one target so far."""

    target: Endpoint
    explicit: bool = False
    upstreams: dict[Endpoint, Basis] = field(default_factory=dict)
    columns: set[ColumnEdge] = field(default_factory=set)
    stated: ParsedColumnLineage | None = None
    shared: SharedInputs | None = None

    def add_lineage(self, entry: Mapping[str, object], own_job: Job | None) -> None:
        self.explicit = True
        for item in objects(entry.get("inputs")):
            upstream = self._upstream(item, own_job)
            if upstream is not None and isinstance(item.get("field"), str):
                self._column(upstream, text_of(item, "field"), None, item, Dependency.INDIRECT)
        fields = entry.get("fields")
        for name, target_field in fields.items() if isinstance(fields, Mapping) else ():
            if not isinstance(target_field, Mapping) or not is_storable(name):
                continue
            for item in objects(target_field.get("inputs")):
                upstream = self._upstream(item, own_job)
                if upstream is not None:
                    self._column(upstream, text_of(item, "field"), name, item, Dependency.DIRECT)

    def _upstream(self, item: Mapping[str, object], own_job: Job | None) -> Endpoint | None:
        upstream = _endpoint(item, own_job)
        # A job as the source of its own target only means that it created the data: the edge states its job already.
        if upstream is None or upstream == own_job:
            return None
        self.upstreams[upstream] = Basis.LINEAGE
        return upstream

    def add_column_lineage(self, facet: Mapping[str, object]) -> None:
        self.stated = stated = parsed_column_lineage(facet, self.target)
        for upstream in stated.by_upstream:
            self.upstreams.setdefault(upstream, Basis.COLUMN_LINEAGE)

    def add_inputs(self, datasets: Iterable[Dataset]) -> None:
        for dataset in datasets:
            self.upstreams.setdefault(dataset, Basis.INPUTS)

    def _column(
        self,
        upstream: Endpoint,
        upstream_column: str | None,
        column: str | None,
        item: Mapping[str, object],
        default: Dependency,
    ) -> None:
        for how in transformations(item.get("transformations"), (default, None, False, None)):
            self.columns.add(ColumnEdge(upstream, upstream_column, self.target, column, *how))

    def flow(
        self,
        partitions: tuple[str, ...],
        input_partitions: Mapping[Dataset, tuple[str, ...]],
        use: DatasetUse | None,
    ) -> TargetFlow:
        sources = tuple(
            FlowSource(upstream, input_partitions.get(upstream, ()) if isinstance(upstream, Dataset) else (), basis)
            for upstream, basis in sorted(self.upstreams.items(), key=lambda item: _sort_key(item[0]))
        )
        columns = self.stated.edges if self.stated is not None else frozenset(self.columns)
        return TargetFlow(
            target=self.target,
            partitions=partitions,
            sources=sources,
            columns=columns,
            use=use,
            stated=self.stated,
            shared=self.shared,
        )


def edge_summary(edges: Collection[ColumnEdge]) -> tuple[EdgeType, str | None]:
    """A summary of the column edges between two datasets: the best fitting edge type, and the kinds of
    transformation."""
    subtypes = {edge.subtype for edge in edges}
    return edge_type(subtypes), ", ".join(sorted(subtype for subtype in subtypes if subtype)) or None


def edge_type(subtypes: Collection[str | None]) -> EdgeType:
    """The best fitting type for the given kinds of transformation; None stands for an unknown one."""
    for marks, fitting in (
        ({"AGGREGATION", "GROUP_BY"}, EdgeType.AGGREGATED_FROM),
        ({"JOIN"}, EdgeType.JOINED_WITH),
        ({"FILTER"}, EdgeType.FILTERED_FROM),
    ):
        if marks.intersection(subtypes):
            return fitting
    plain = bool(subtypes) and all(subtype == "IDENTITY" for subtype in subtypes)
    return EdgeType.PROJECTED_FROM if plain else EdgeType.DERIVED_FROM


def _endpoint(item: Mapping[str, object], own_job: Job | None) -> Endpoint | None:
    namespace, name, kind = text_of(item, "namespace"), text_of(item, "name"), item.get("type")
    if kind == "JOB" and namespace is None and name is None:
        return own_job
    if kind == "JOB" and namespace is not None and name is not None:
        return Job(namespace, name)
    if kind == "DATASET" and namespace is not None and name is not None:
        return Dataset(namespace, name)
    return None


def _live_facet(use: DatasetUse, name: str) -> Mapping[str, object] | None:
    facet = use.facets.get(name)
    return facet if isinstance(facet, Mapping) and not is_deleted(facet) else None


def _sort_key(endpoint: Endpoint) -> tuple[bool, str, str]:
    return isinstance(endpoint, Job), endpoint.namespace, endpoint.name
