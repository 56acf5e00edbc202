"""Answers in Marquez's shapes.

Members that Headwater does not know have the nearest equivalent: the id of a version is derived from its place in the
dataset's history, and `createdAt` of a job is when it was last seen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from uuid import NAMESPACE_URL, uuid5

from headwater.formats.openlineage.describe import tag_names
from headwater.model.answers import DatasetDetail, RunDetail, Version
from headwater.model.names import Dataset, Endpoint, Job
from headwater.model.pages import Flow, JobDetail, JobSummary, NamespaceSummary, Sketch, Surroundings
from headwater.model.plain import plain
from headwater.model.runs import DatasetUse, Facets, Run, RunState
from headwater.model.versions import RunVersions, VersionOf

Shape = dict[str, object]
Graph = dict[str, list[Shape]]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_STATES = {
    RunState.UNKNOWN: "NEW",
    RunState.START: "RUNNING",
    RunState.RUNNING: "RUNNING",
    RunState.COMPLETE: "COMPLETED",
    RunState.FAIL: "FAILED",
    RunState.ABORT: "ABORTED",
}


def namespace(summary: NamespaceSummary) -> Shape:
    """Return a namespace. Marquez has its owner and creation time; here a namespace exists because events name it."""
    when = plain(_EPOCH)
    return {
        "name": summary.name,
        "createdAt": when,
        "updatedAt": when,
        "ownerName": "anonymous",
        "description": None,
        "isHidden": False,
    }


def _facet(facets: Facets, name: str) -> Mapping[str, object]:
    result = facets.get(name)
    return result if isinstance(result, Mapping) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _identity(named: Endpoint) -> Shape:
    return {"namespace": named.namespace, "name": named.name}


def dataset(sketch: Sketch, versions: Iterable[Version] = ()) -> Shape:
    facets = sketch.facets
    newest = next(iter(versions), None)
    seen = sketch.first_seen or _EPOCH
    return {
        "id": _identity(sketch.dataset),
        "type": "STREAM" if sketch.dataset.namespace.startswith(("kafka://", "pubsub")) else "DB_TABLE",
        "name": sketch.dataset.name,
        "physicalName": sketch.dataset.name,
        "createdAt": plain(seen),
        "updatedAt": plain(sketch.last_seen or seen),
        "namespace": sketch.dataset.namespace,
        "sourceName": _text(_facet(facets, "dataSource").get("name")) or "default",
        "fields": _fields(_facet(facets, "schema").get("fields")),
        "tags": list(sketch.tags),
        "lastModifiedAt": plain(newest.written_at) if newest is not None else None,
        "lastLifecycleState": _text(_facet(facets, "lifecycleStateChange").get("lifecycleStateChange")),
        "description": _text(_facet(facets, "documentation").get("description")),
        "currentVersion": version_id(sketch.dataset, newest) if newest is not None else None,
        "columnLineage": None,
        "facets": plain(facets),
        "deleted": False,
    }


def dataset_detail(detail: DatasetDetail) -> Shape:
    summary = detail.summary
    sketch = Sketch(summary.dataset, summary.tags, summary.first_seen, summary.last_seen, detail.facets)
    return dataset(sketch, detail.versions)


def _fields(fields: object) -> list[Shape]:
    listed = fields if isinstance(fields, list) else []
    return [
        {"name": field["name"], "type": field.get("type"), "tags": [], "description": field.get("description")}
        for field in listed
        if isinstance(field, Mapping) and isinstance(field.get("name"), str)
    ]


def version_id(of: Dataset, version: Version | VersionOf) -> str:
    return _made_id(of.namespace, of.name, plain(version.written_at), version.partition, version.run_id)


def _made_id(*parts: str | None) -> str:
    return str(uuid5(NAMESPACE_URL, repr(parts)))


def version(detail: DatasetDetail, version: Version, facets: Facets) -> Shape:
    """``facets`` are those of this version."""
    whole = dataset_detail(detail)
    number = version_id(detail.summary.dataset, version)
    fields: list[Shape] = [
        {"name": f.name, "type": f.type, "tags": [], "description": f.description} for f in version.schema or ()
    ]
    return {
        **{name: whole[name] for name in ("type", "name", "physicalName", "namespace")},
        "sourceName": _text(_facet(facets, "dataSource").get("name")) or whole["sourceName"],
        "tags": tag_names(facets),
        "id": {**_identity(detail.summary.dataset), "version": number},
        "createdAt": plain(version.written_at),
        "version": number,
        "fields": fields,
        "description": _text(_facet(facets, "documentation").get("description")),
        "lifecycleState": _text(_facet(facets, "lifecycleStateChange").get("lifecycleStateChange")),
        "createdByRun": {"id": version.run_id} if version.run_id is not None else None,
        "facets": plain(facets),
    }


def job(detail: JobDetail, versions: Mapping[str, RunVersions]) -> Shape:
    """``versions`` are those of its runs, by run id."""
    runs = [run(job_run, versions=versions.get(job_run.run_id)) for job_run in detail.runs]
    return _job(detail.summary, detail.facets, detail.inputs, detail.outputs, runs)


def _job(
    summary: JobSummary, facets: Facets, inputs: Iterable[Endpoint], outputs: Iterable[Endpoint], runs: list[Shape]
) -> Shape:
    processing = _text(_facet(facets, "jobType").get("processingType"))
    return {
        "id": _identity(summary.job),
        "type": "STREAM" if processing == "STREAMING" else "BATCH",
        "name": summary.job.name,
        "simpleName": summary.job.name.rpartition(".")[2],
        "parentJobName": None,
        "parentJobUuid": None,
        "createdAt": plain(summary.last_seen),
        "updatedAt": plain(summary.last_seen),
        "namespace": summary.job.namespace,
        "inputs": [_identity(input) for input in inputs],
        "outputs": [_identity(output) for output in outputs],
        "location": _text(_facet(facets, "sourceCodeLocation").get("url")),
        "description": _text(_facet(facets, "documentation").get("description")),
        "latestRun": runs[0] if runs else None,
        "latestRuns": runs,
        "tags": [],
        "labels": [],
        "currentVersion": None,
        "facets": plain(facets),
    }


def run_detail(detail: RunDetail, versions: RunVersions | None) -> Shape:
    return run(detail.run, detail.run_facets, versions, (detail.inputs, detail.outputs))


def run(
    run: Run,
    facets: Facets | None = None,
    versions: RunVersions | None = None,
    uses: tuple[Iterable[DatasetUse], Iterable[DatasetUse]] = ((), ()),
) -> Shape:
    """``uses`` are the inputs and outputs with the run's facets about them, if they were looked up."""
    used_versions = versions or RunVersions()
    duration = run.ended_at - run.started_at if run.started_at is not None and run.ended_at is not None else None
    created = run.started_at or run.last_event_at
    return {
        "id": run.run_id,
        "createdAt": plain(created),
        "updatedAt": plain(run.last_event_at),
        "nominalStartTime": plain(run.nominal_start),
        "nominalEndTime": plain(run.nominal_end),
        "state": _STATES[run.state],
        "startedAt": plain(run.started_at),
        "endedAt": plain(run.ended_at),
        "durationMs": None if duration is None else round(duration.total_seconds() * 1000),
        "args": {},
        "jobVersion": {**_identity(run.job), "version": _made_id(run.job.namespace, run.job.name)},
        "inputDatasetVersions": _versions_used(used_versions.inputs, uses[0]),
        "outputDatasetVersions": _versions_used(used_versions.outputs, uses[1]),
        "facets": plain(facets or {}),
    }


def _versions_used(versions: Iterable[VersionOf], uses: Iterable[DatasetUse]) -> list[Shape]:
    facets_by_dataset = {use.dataset: plain(use.io_facets) for use in uses}
    return [
        {
            "datasetVersionId": {**_identity(used.dataset), "version": version_id(used.dataset, used)},
            "facets": facets_by_dataset.get(used.dataset, {}),
        }
        for used in versions
    ]


# -- graphs --------------------------------------------------------------------------------------


def node_id(named: Endpoint, column: str | None = None) -> str:
    if column is not None:
        return f"datasetField:{named.namespace}:{named.name}:{column}"
    return f"{'job' if isinstance(named, Job) else 'dataset'}:{named.namespace}:{named.name}"


def graph(around: Surroundings, uses: Mapping[Job, tuple[Iterable[Endpoint], Iterable[Endpoint]]]) -> Graph:
    """Datasets and jobs. Without a known job between two datasets, the edge is direct.

    ``uses``: the inputs and outputs of the latest run of each job; of a job that never ran, the declared ones.
    """
    pairs: list[tuple[str, str]] = []
    for flow in around.flows:
        ends = (node_id(flow.upstream), node_id(flow.downstream))
        between = [ends] if flow.job is None else [(ends[0], node_id(flow.job)), (node_id(flow.job), ends[1])]
        pairs += [pair for pair in between if pair[0] != pair[1]]  # not if the job itself is an end of the flow
    nodes = [(node_id(sketch.dataset), "DATASET", dataset(sketch)) for sketch in around.datasets]
    for summary in around.jobs:
        inputs, outputs = uses.get(summary.job) or _declared(summary.job, around.flows)
        nodes.append((node_id(summary.job), "JOB", _job(summary, {}, inputs, outputs, [])))
    edges = _Edges(pairs)
    return {"graph": [edges.node(*node) for node in sorted(nodes, key=lambda node: node[0])]}


def _declared(named: Job, flows: Iterable[Flow]) -> tuple[list[Endpoint], list[Endpoint]]:
    through = [flow for flow in flows if flow.job == named]
    inputs = dict.fromkeys(flow.upstream for flow in through if flow.upstream != named)
    outputs = dict.fromkeys(flow.downstream for flow in through if flow.downstream != named)
    return [*inputs], [*outputs]


def column_graph(around: Surroundings) -> Graph:
    types: dict[tuple[Endpoint, object], object] = {
        (sketch.dataset, field["name"]): field["type"]
        for sketch in around.datasets
        for field in _fields(_facet(sketch.facets, "schema").get("fields"))
    }
    flows = [flow for flow in around.flows if flow.upstream_column is not None and flow.downstream_column is not None]
    edges = _Edges((node_id(f.upstream, f.upstream_column), node_id(f.downstream, f.downstream_column)) for f in flows)
    inputs: dict[str, list[Shape]] = defaultdict(list)
    fields: dict[str, Shape] = {}
    for flow in flows:
        for end, column in ((flow.upstream, flow.upstream_column), (flow.downstream, flow.downstream_column)):
            number = node_id(end, column)
            fields.setdefault(number, _field(end, column, types, inputs[number]))
        inputs[node_id(flow.downstream, flow.downstream_column)].append(_input(flow))
    return {"graph": [edges.node(number, "DATASET_FIELD", data) for number, data in sorted(fields.items())]}


def _field(
    named: Endpoint, column: str | None, types: Mapping[tuple[Endpoint, object], object], inputs: list[Shape]
) -> Shape:
    return {
        "namespace": named.namespace,
        "dataset": named.name,
        "datasetVersion": None,
        "field": column,
        "fieldType": types.get((named, column)),
        "transformationDescription": None,
        "transformationType": None,
        "inputFields": inputs,
    }


def _input(flow: Flow) -> Shape:
    return {
        "namespace": flow.upstream.namespace,
        "dataset": flow.upstream.name,
        "datasetVersion": None,
        "field": flow.upstream_column,
        "transformationDescription": flow.logic,
        "transformationType": flow.type,
    }


class _Edges:
    """Edges by their nodes, in order."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._into: dict[str, list[Shape]] = defaultdict(list)
        self._from: dict[str, list[Shape]] = defaultdict(list)
        for origin, destination in sorted(set(pairs)):
            edge: Shape = {"origin": origin, "destination": destination}
            self._into[destination].append(edge)
            self._from[origin].append(edge)

    def node(self, number: str, kind: str, data: Shape) -> Shape:
        edges = {"inEdges": self._into.get(number, []), "outEdges": self._from.get(number, [])}
        return {"id": number, "type": kind, "data": data, **edges}
