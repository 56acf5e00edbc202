"""Routes of Marquez's read API, at the paths that its clients use."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Annotated, Literal, TypedDict

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse

from headwater.model.answers import DatasetDetail, Version
from headwater.model.names import Dataset, Job
from headwater.model.pages import Match, NamespaceSummary
from headwater.model.plain import plain
from headwater.server.app.openapi_schemas import Responses, Schema, json_responses
from headwater.server.app.problems import HttpProblem
from headwater.server.app.responses import JsonResponse
from headwater.server.app.service import CurrentService, Reader, Service
from headwater.server.marquez import schemas, shapes
from headwater.server.marquez.shapes import Graph, Shape
from headwater.server.routes.parameters import MAX_RESULTS, Moment, Segment
from headwater.store.query.pages import Pages
from headwater.store.store import Store

router = APIRouter(tags=["Marquez-compatible"])

Amount = Annotated[int, Query(ge=0, le=MAX_RESULTS, description="Maximum number of results.")]
Offset = Annotated[int, Query(ge=0, le=1_000_000, description="Number of results to skip.")]
Depth = Annotated[int, Query(ge=1, le=100, description="Number of hops, from dataset to dataset.")]
NodeId = Annotated[str, Query(alias="nodeId", max_length=100_000)]


def _one(schema: Schema) -> Responses:
    return json_responses(schema, 200, 400, 404)


def _listed(name: str, item: Schema, *problems: int, counted: bool = False) -> Responses:
    return json_responses(schemas.page(name, item, counted=counted), 200, 422, *problems)


# -- namespaces ----------------------------------------------------------------------------------


@router.get("/namespaces", responses=_listed("namespaces", schemas.NAMESPACE))
async def namespaces(service: CurrentService, who: Reader, limit: Amount = 100, offset: Offset = 0) -> Response:
    """Namespaces, by name."""
    result = await service.call(service.store_for(who).pages.namespaces)
    return JsonResponse({"namespaces": [shapes.namespace(summary) for summary in result[offset : offset + limit]]})


@router.get("/namespaces/{namespace:name}", responses=_one(schemas.NAMESPACE))
async def namespace(service: CurrentService, who: Reader, namespace: Segment) -> Response:
    """One namespace."""
    return JsonResponse(shapes.namespace(await service.call(_namespace, service.store_for(who), namespace)))


def _namespace(store: Store, name: str) -> NamespaceSummary:
    for summary in store.pages.namespaces():
        if summary.name == name:
            return summary
    raise HttpProblem(404, "unknown_namespace", "No such namespace.")


# -- datasets and jobs ---------------------------------------------------------------------------


@router.get(
    "/namespaces/{namespace:name}/datasets", responses=_listed("datasets", schemas.DATASET, 400, 404, counted=True)
)
async def datasets(
    service: CurrentService, who: Reader, namespace: Segment, limit: Amount = 100, offset: Offset = 0
) -> Response:
    """The datasets of a namespace."""

    def query() -> Shape:
        store = service.store_for(who)
        total = _namespace(store, namespace).datasets
        result = store.datasets(namespace=namespace, limit=offset + limit)[offset:]
        details = [shapes.dataset_detail(store.dataset(summary.dataset)) for summary in result]
        return {"datasets": details, "totalCount": total}

    return await service.respond(query)


@router.get("/namespaces/{namespace:name}/datasets/{name:name}", responses=_one(schemas.DATASET))
async def dataset(service: CurrentService, who: Reader, namespace: Segment, name: Segment) -> Response:
    """One dataset."""
    return JsonResponse(
        shapes.dataset_detail(await service.call(service.store_for(who).dataset, Dataset(namespace, name)))
    )


@router.get(
    "/namespaces/{namespace:name}/datasets/{name:name}/versions",
    responses=_listed("versions", schemas.VERSION, 400, 404, counted=True),
)
async def versions(
    service: CurrentService, who: Reader, namespace: Segment, name: Segment, limit: Amount = 100, offset: Offset = 0
) -> Response:
    """The latest hundred versions of a dataset, newest first."""

    def query() -> Shape:
        store = service.store_for(who)
        detail = store.dataset(Dataset(namespace, name))
        result = _versions(store, detail, detail.versions[offset : offset + limit])
        return {"versions": result, "totalCount": len(detail.versions)}

    return await service.respond(query)


def _versions(store: Store, detail: DatasetDetail, listed: Sequence[Version]) -> list[Shape]:
    facets_of_versions = store.pages.version_facets(detail.summary.dataset, listed)
    return [shapes.version(detail, version, facets) for version, facets in zip(listed, facets_of_versions, strict=True)]


@router.get(
    "/namespaces/{namespace:name}/datasets/{name:name}/versions/{version:name}", responses=_one(schemas.VERSION)
)
async def version(
    service: CurrentService, who: Reader, namespace: Segment, name: Segment, version: Segment
) -> Response:
    """One version of a dataset."""

    def query() -> Shape:
        store = service.store_for(who)
        detail = store.dataset(Dataset(namespace, name))
        for candidate in detail.versions:
            if shapes.version_id(detail.summary.dataset, candidate) == version:
                return _versions(store, detail, [candidate])[0]
        raise HttpProblem(404, "unknown_version", "The dataset has no such version.")

    return await service.respond(query)


@router.get("/namespaces/{namespace:name}/jobs", responses=_listed("jobs", schemas.JOB, 400, 404, counted=True))
async def jobs(
    service: CurrentService, who: Reader, namespace: Segment, limit: Amount = 100, offset: Offset = 0
) -> Response:
    """The jobs of a namespace."""

    def query() -> Shape:
        pages = service.store_for(who).pages
        total = _namespace(service.store_for(who), namespace).jobs
        result = pages.jobs(namespace, limit=limit, offset=offset).items
        details = [pages.job(summary.job) for summary in result]
        versions = pages.run_versions([run.run_id for detail in details for run in detail.runs])
        return {"jobs": [shapes.job(detail, versions) for detail in details], "totalCount": total}

    return await service.respond(query)


@router.get("/namespaces/{namespace:name}/jobs/{name:name}", responses=_one(schemas.JOB))
async def job(service: CurrentService, who: Reader, namespace: Segment, name: Segment) -> Response:
    """One job."""

    def query() -> Shape:
        pages = service.store_for(who).pages
        detail = pages.job(Job(namespace, name))
        return shapes.job(detail, pages.run_versions([run.run_id for run in detail.runs]))

    return await service.respond(query)


# -- runs ----------------------------------------------------------------------------------------


@router.get("/namespaces/{namespace:name}/jobs/{name:name}/runs", responses=_listed("runs", schemas.RUN, 400, 404))
async def job_runs(
    service: CurrentService, who: Reader, namespace: Segment, name: Segment, limit: Amount = 100, offset: Offset = 0
) -> Response:
    """The runs of a job, newest first."""

    def query() -> Shape:
        store = service.store_for(who)
        store.pages.job(Job(namespace, name))
        result = store.runs(job=name, namespace=namespace, limit=offset + limit)[offset:]
        versions = store.pages.run_versions([run.run_id for run in result])
        return {"runs": [shapes.run(run, versions=versions.get(run.run_id)) for run in result]}

    return await service.respond(query)


@router.get("/jobs/runs/{run_id:name}", responses=_one(schemas.RUN))
async def run(service: CurrentService, who: Reader, run_id: Segment) -> Response:
    """One run."""

    def query() -> Shape:
        store = service.store_for(who)
        detail = store.run(run_id)
        return shapes.run_detail(detail, store.pages.run_versions([run_id]).get(run_id))

    return await service.respond(query)


@router.get("/jobs/runs/{run_id:name}/facets", responses=json_responses(schemas.RUN_FACETS, 200, 400, 404, 422))
async def run_facets(
    service: CurrentService, who: Reader, run_id: Segment, type: Annotated[Literal["run", "job"], Query()]
) -> Response:
    """The facets of a run, or those of its job in that run."""
    detail = await service.call(service.store_for(who).run, run_id)
    return JsonResponse({"runId": run_id, "facets": detail.run_facets if type == "run" else detail.job_facets})


# -- graphs, search, events ----------------------------------------------------------------------


def _node(text: str, *kinds: str) -> tuple[str, str]:
    kind, mark, named = text.partition(":")
    if kind not in kinds or not mark or ":" not in named:
        forms = ", ".join(f"{kind}:namespace:name{':field' if kind == 'datasetField' else ''}" for kind in kinds)
        raise HttpProblem(400, "node_id_invalid", f"Invalid node id. Forms: {forms}.")
    return kind, named


@router.get("/lineage", responses=_listed("graph", schemas.NODE, 400, 404))
async def lineage(service: CurrentService, who: Reader, node_id: NodeId, depth: Depth = 20) -> Response:
    """The graph around a dataset or a job."""
    kind, named = _node(node_id, "dataset", "job")

    def query() -> Graph:
        pages = service.store_for(who).pages
        result = pages.around(kind, named, depth)
        return shapes.graph(result, pages.job_uses([summary.job for summary in result.jobs]))

    return await service.respond(query)


@router.get("/column-lineage", responses=_listed("graph", schemas.COLUMN_NODE, 400, 404))
async def column_lineage(
    service: CurrentService,
    who: Reader,
    node_id: NodeId,
    depth: Depth = 20,
    with_downstream: Annotated[bool, Query(alias="withDownstream")] = False,
) -> Response:
    """The source columns of a column, or of each column of a dataset or of the outputs of a job."""
    kind, named = _node(node_id, "dataset", "datasetField", "job")
    around_columns = service.store_for(who).pages.around_columns
    result = await service.call(around_columns, kind, named, depth, downstream=with_downstream)
    return await service.respond(shapes.column_graph, result)


@router.get("/search", responses=_listed("results", schemas.RESULT, 400, counted=True))
async def search(
    service: CurrentService,
    who: Reader,
    q: Annotated[str, Query(min_length=1, max_length=1000)],
    filter: Annotated[Literal["DATASET", "JOB", "dataset", "job"] | None, Query()] = None,
    sort: Annotated[Literal["NAME", "UPDATE_AT", "name", "updated_at"], Query()] = "name",
    limit: Amount = 10,
    namespace: Annotated[str | None, Query(max_length=10_000)] = None,
) -> Response:
    """Datasets and jobs whose names contain the text. `/find` also tolerates typos."""

    def query() -> list[_SearchResult]:
        store = service.store_for(who)
        hits = store.pages.find(q, kind=filter.lower() if filter else None, limit=MAX_RESULTS).items
        near = [hit for hit in hits if hit.match is not Match.FUZZY and namespace in (None, hit.endpoint.namespace)]
        return sorted((_result(store, hit.endpoint) for hit in near[:limit]), key=_by(sort))

    results = await service.call(query)
    return JsonResponse({"totalCount": len(results), "results": results})


class _SearchResult(TypedDict):
    type: str
    name: str
    updatedAt: str | None
    namespace: str
    nodeId: str


def _result(store: Store, endpoint: Dataset | Job) -> _SearchResult:
    summary = store.pages.job(endpoint).summary if isinstance(endpoint, Job) else store.dataset(endpoint).summary
    return {
        "type": "JOB" if isinstance(endpoint, Job) else "DATASET",
        "name": endpoint.name,
        "updatedAt": plain(summary.last_seen),
        "namespace": endpoint.namespace,
        "nodeId": shapes.node_id(endpoint),
    }


def _by(sort: str) -> Callable[[_SearchResult], tuple[str, str]]:
    if sort.lower() == "name":
        return lambda result: (result["name"], result["namespace"])
    return lambda result: (result["updatedAt"] or "", result["name"])


@router.get("/events/lineage", responses=json_responses(schemas.EVENTS, 200, 422))
async def events(
    service: CurrentService,
    who: Reader,
    before: Moment = None,
    after: Moment = None,
    sort_direction: Annotated[Literal["asc", "desc", "ASC", "DESC"], Query(alias="sortDirection")] = "desc",
    limit: Annotated[int, Query(ge=0, le=100)] = 100,
    offset: Offset = 0,
) -> Response:
    """Whole events, ordered by event time."""
    pages = service.store_for(who).pages
    total, portions = await service.call(
        pages.events_between,
        after,
        before,
        newest_first=sort_direction.lower() == "desc",
        limit=limit,
        offset=offset,
    )
    return StreamingResponse(_events(service, pages, total, portions), media_type="application/json")


async def _events(service: Service, pages: Pages, total: int, portions: list[list[int]]) -> AsyncIterator[bytes]:
    """Stream the bodies unchanged, a few at a time: a hundred events of 20 MB are never in memory together."""
    before = b'{"events":['
    for numbers in portions:
        bodies = [body.removeprefix(BOM_UTF8) for body in await service.call(pages.event_bodies, numbers)]
        if bodies:
            yield before + b",".join(bodies)
            before = b","
    yield (b"" if before == b"," else before) + b'],"totalCount":%d}' % total
