"""Who flows into whom, as the events state it.

For each target the strongest statement counts, in the order the specification gives consumers: an explicit
`lineage` facet, then `columnLineage`, then every input into every output. An input that no explicit statement
mentions still flows into the outputs that have no `lineage` entry of their own: it was read, and saying nothing
about it would lose it. Every source carries the basis it rests on.

Parts of a facet that break its schema were flagged when the event was read; here they are passed over.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from headwater.formats.openlineage.accumulate import RunAccount, is_deleted, lineage_entries, merge_uses
from headwater.formats.openlineage.event import Event
from headwater.formats.openlineage.text import storable
from headwater.model.lineage import Basis, ColumnEdge, Dependency, EdgeType
from headwater.model.names import Dataset, Endpoint, Job
from headwater.model.runs import DatasetUse


@dataclass(frozen=True)
class Source:
    upstream: Endpoint
    partitions: tuple[str, ...]
    basis: Basis


@dataclass(frozen=True)
class Flow:
    """Everything one writer put into one target."""

    target: Endpoint
    partitions: tuple[str, ...]
    sources: tuple[Source, ...]
    columns: frozenset[ColumnEdge]
    use: DatasetUse | None
    """The target as the writer described it, where it was among its outputs."""


def endpoints_of(flows: Collection[Flow]) -> set[Endpoint]:
    """Everything that flows from or into something."""
    return (
        {flow.target for flow in flows}
        | {source.upstream for flow in flows for source in flow.sources}
        | {edge.upstream for flow in flows for edge in flow.columns}
    )


def flows_of_run(account: RunAccount) -> list[Flow]:
    return _flows(account.job, account.inputs, account.outputs, account.lineage_entries)


def flows_of_job(event: Event) -> list[Flow]:
    """The lineage a job declares. An event without datasets or a `lineage` facet declares nothing: see
    :func:`declares_lineage`."""
    assert event.job is not None
    inputs, outputs = merge_uses(event.inputs), merge_uses(event.outputs)
    return _flows(event.job, inputs, outputs, lineage_entries(event.job_facets or {}))


def flows_of_dataset(event: Event) -> list[Flow]:
    """The lineage a dataset declares of itself: always one flow, maybe without sources."""
    use = event.dataset
    assert use is not None
    claims = _Claims(use.dataset)
    lineage = _live_facet(use, "lineage")
    if lineage is not None:
        claims.take_lineage({**lineage, "inputs": lineage.get("inputs") or []}, own_job=None)
    else:
        claims.take_column_lineage(_live_facet(use, "columnLineage") or {})
    return [claims.flow(use.partitions, {}, use)]


def declares_lineage(event: Event) -> bool:
    """Whether a job or dataset event replaces what was declared before."""
    if event.dataset is not None:
        return bool({"lineage", "columnLineage"} & event.dataset.facets.keys())
    return bool(event.inputs or event.outputs or "lineage" in (event.job_facets or {}))


def _flows(job: Job, inputs: Iterable[DatasetUse], outputs: Iterable[DatasetUse], entries: Iterable[Any]) -> list[Flow]:
    output_uses = {use.dataset: use for use in outputs}
    claims: dict[Endpoint, _Claims] = {dataset: _Claims(dataset) for dataset in output_uses}
    for entry in entries:
        target = _endpoint(entry, job)
        if target is not None:
            claims.setdefault(target, _Claims(target)).take_lineage(entry, job)
    for dataset, use in output_uses.items():
        if not claims[dataset].explicit:
            claims[dataset].take_column_lineage(_live_facet(use, "columnLineage") or {})
    mentioned = {upstream for claim in claims.values() for upstream in claim.upstreams}
    partitions = {use.dataset: use.partitions for use in inputs}
    for claim in claims.values():
        if not claim.explicit:
            unmentioned = partitions.keys() - mentioned
            claim.take_inputs(unmentioned if claim.upstreams else partitions.keys())
    return [
        claim.flow(
            output_uses[target].partitions if isinstance(target, Dataset) and target in output_uses else (),
            partitions,
            output_uses.get(target) if isinstance(target, Dataset) else None,
        )
        for target, claim in sorted(claims.items(), key=lambda item: _sort_key(item[0]))
    ]


@dataclass
class _Claims:
    """What is said about one target so far."""

    target: Endpoint
    explicit: bool = False
    upstreams: dict[Endpoint, Basis] = field(default_factory=dict)
    columns: set[ColumnEdge] = field(default_factory=set)

    def take_lineage(self, entry: Mapping[str, Any], own_job: Job | None) -> None:
        self.explicit = True
        for item in _objects(entry.get("inputs")):
            upstream = self._upstream(item, own_job)
            if upstream is not None and isinstance(item.get("field"), str):
                self._column(upstream, _text(item, "field"), None, item, Dependency.INDIRECT)
        fields = entry.get("fields")
        for name, target_field in fields.items() if isinstance(fields, Mapping) else ():
            if not isinstance(target_field, Mapping) or not storable(name):
                continue
            for item in _objects(target_field.get("inputs")):
                upstream = self._upstream(item, own_job)
                if upstream is not None:
                    self._column(upstream, _text(item, "field"), name, item, Dependency.DIRECT)

    def _upstream(self, item: Mapping[str, Any], own_job: Job | None) -> Endpoint | None:
        upstream = _endpoint(item, own_job)
        # A job as the source of its own target only says that the job made it up, which the edge's job says already.
        if upstream is None or upstream == own_job:
            return None
        self.upstreams[upstream] = Basis.LINEAGE
        return upstream

    def take_column_lineage(self, facet: Mapping[str, Any]) -> None:
        fields = facet.get("fields")
        for name, target_field in fields.items() if isinstance(fields, Mapping) else ():
            if not isinstance(target_field, Mapping) or not storable(name):
                continue
            for item in _objects(target_field.get("inputFields")):
                self._input_field(item, name, Dependency.DIRECT, target_field)
        for item in _objects(facet.get("dataset")):
            self._input_field(item, None, Dependency.INDIRECT, {})

    def _input_field(
        self, item: Mapping[str, Any], column: str | None, default: Dependency, target_field: Mapping[str, Any]
    ) -> None:
        namespace, name, source = _text(item, "namespace"), _text(item, "name"), _text(item, "field")
        if namespace is None or name is None or source is None:
            return
        upstream = Dataset(namespace, name)
        self.upstreams.setdefault(upstream, Basis.COLUMN_LINEAGE)
        self._column(upstream, source, column, item, default, target_field)

    def take_inputs(self, datasets: Iterable[Dataset]) -> None:
        for dataset in datasets:
            self.upstreams.setdefault(dataset, Basis.INPUTS)

    def _column(
        self,
        upstream: Endpoint,
        upstream_column: str | None,
        column: str | None,
        item: Mapping[str, Any],
        default: Dependency,
        target_field: Mapping[str, Any] | None = None,
    ) -> None:
        for how in _transformations(item, default, target_field or {}):
            self.columns.add(ColumnEdge(upstream, upstream_column, self.target, column, *how))

    def flow(
        self,
        partitions: tuple[str, ...],
        input_partitions: Mapping[Dataset, tuple[str, ...]],
        use: DatasetUse | None,
    ) -> Flow:
        sources = tuple(
            Source(upstream, input_partitions.get(upstream, ()) if isinstance(upstream, Dataset) else (), basis)
            for upstream, basis in sorted(self.upstreams.items(), key=lambda item: _sort_key(item[0]))
        )
        return Flow(self.target, partitions, sources, frozenset(self.columns), use)


How = tuple[Dependency, str | None, bool, str | None]


def _transformations(item: Mapping[str, Any], default: Dependency, target_field: Mapping[str, Any]) -> Iterator[How]:
    stated = list(_objects(item.get("transformations")))
    for transformation in stated:
        kind = _text(transformation, "type")
        dependency = Dependency(kind) if kind in ("DIRECT", "INDIRECT") else default
        masking = transformation.get("masking") is True
        yield dependency, _text(transformation, "subtype"), masking, _logic(transformation, "description")
    if not stated:
        # The first form of the facet said this once per target field, and said nothing of direct or indirect.
        kind = _text(target_field, "transformationType")
        subtype = None if kind in (None, "MASKED") else kind
        yield default, subtype, kind == "MASKED", _logic(target_field, "transformationDescription")


def summary(edges: Collection[ColumnEdge]) -> tuple[EdgeType, str | None]:
    """What the column edges between two datasets come to: the edge type that fits best, the kinds of transformation."""
    subtypes = {edge.subtype for edge in edges}
    return edge_type(subtypes), ", ".join(sorted(subtype for subtype in subtypes if subtype)) or None


def edge_type(subtypes: Collection[str | None]) -> EdgeType:
    """The type that fits best where columns flow in these ways; None stands for one that nobody named."""
    for marks, fitting in (
        ({"AGGREGATION", "GROUP_BY"}, EdgeType.AGGREGATED_FROM),
        ({"JOIN"}, EdgeType.JOINED_WITH),
        ({"FILTER"}, EdgeType.FILTERED_FROM),
    ):
        if marks.intersection(subtypes):
            return fitting
    plain = bool(subtypes) and all(subtype == "IDENTITY" for subtype in subtypes)
    return EdgeType.PROJECTED_FROM if plain else EdgeType.DERIVED_FROM


def _endpoint(item: Any, own_job: Job | None) -> Endpoint | None:
    if not isinstance(item, Mapping):
        return None
    namespace, name, kind = _text(item, "namespace"), _text(item, "name"), item.get("type")
    if kind == "JOB" and namespace is None and name is None:
        return own_job
    if kind == "JOB" and namespace is not None and name is not None:
        return Job(namespace, name)
    if kind == "DATASET" and namespace is not None and name is not None:
        return Dataset(namespace, name)
    return None


def _live_facet(use: DatasetUse, name: str) -> Mapping[str, Any] | None:
    facet = use.facets.get(name)
    return facet if isinstance(facet, Mapping) and not is_deleted(facet) else None


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, Mapping))


def _text(item: Mapping[str, Any], key: str) -> str | None:
    value = item.get(key)
    return value if isinstance(value, str) and storable(value) else None


def _logic(item: Mapping[str, Any], key: str) -> str | None:
    return _text(item, key) or None


def _sort_key(endpoint: Endpoint) -> tuple[bool, str, str]:
    return isinstance(endpoint, Job), endpoint.namespace, endpoint.name
