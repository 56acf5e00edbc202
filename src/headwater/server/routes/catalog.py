"""Routes of the catalog: datasets, jobs, and search for them, their columns and their runs."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response

from headwater.model.answers import DatasetDetail, DatasetSummary
from headwater.model.names import Dataset, Job
from headwater.model.pages import Coverage, Hit, JobDetail, JobSummary
from headwater.server.app.openapi_schemas import json_responses, page_of, schema_of
from headwater.server.app.service import CurrentService, Reader
from headwater.server.routes.parameters import (
    Cursor,
    DatasetParameter,
    JobParameter,
    Limit,
    NamespaceParameter,
    Segment,
    Text,
    endpoint_named,
)

router = APIRouter(tags=["Catalog"])


@router.get("/datasets", responses=json_responses(page_of(DatasetSummary), 200, 400, 422))
async def datasets(
    service: CurrentService,
    who: Reader,
    search: Text = None,
    namespace: Text = None,
    kind: Text = None,
    owner: Text = None,
    tag: Text = None,
    cursor: Cursor = None,
    limit: Limit = 100,
) -> Response:
    """Datasets by name. `search` is a part of a name or of an alias; case is ignored."""
    pages = service.store_for(who).pages
    filters = {"namespace": namespace, "kind": kind, "owner": owner, "tag": tag}
    return await service.respond(pages.datasets, search, cursor=cursor, limit=limit, **filters)


@router.get("/datasets/named", responses=json_responses(schema_of(DatasetDetail), 200, 400, 404, 409, 422))
async def dataset_named(
    service: CurrentService,
    who: Reader,
    dataset: DatasetParameter,
    namespace: NamespaceParameter = None,
    job: JobParameter = False,
) -> Response:
    """One dataset by its name alone, where only one namespace has it, or by any of its names."""
    return await service.respond(service.store_for(who).dataset, endpoint_named(dataset, namespace, job))


@router.get("/datasets/{namespace:name}/{name:name}", responses=json_responses(schema_of(DatasetDetail), 200, 400, 404))
async def dataset(service: CurrentService, who: Reader, namespace: Segment, name: Segment) -> Response:
    """One dataset: its schema, facets, versions and partitions."""
    return await service.respond(service.store_for(who).dataset, Dataset(namespace, name))


@router.get("/jobs", responses=json_responses(page_of(JobSummary), 200, 400, 422))
async def jobs(
    service: CurrentService, who: Reader, namespace: Text = None, cursor: Cursor = None, limit: Limit = 100
) -> Response:
    """Jobs by name, each with its latest run."""
    return await service.respond(service.store_for(who).pages.jobs, namespace, cursor=cursor, limit=limit)


@router.get("/jobs/named/{namespace:name}/{name:name}", responses=json_responses(schema_of(JobDetail), 200, 400, 404))
async def job(service: CurrentService, who: Reader, namespace: Segment, name: Segment) -> Response:
    """One job: its facets, its latest runs, and the inputs and outputs of the last one."""
    return await service.respond(service.store_for(who).pages.job, Job(namespace, name))


@router.get("/find", responses=json_responses(page_of(Hit), 200, 400, 422))
async def find(
    service: CurrentService,
    who: Reader,
    q: Annotated[
        str, Query(max_length=1000, description="A name, a prefix or part of one; small typos are tolerated.")
    ],
    type: Annotated[
        Literal["dataset", "job", "column", "run", "any"] | None,
        Query(
            description="Kind to search; datasets and jobs by default. A run matches by 4 or more characters of its id."
        ),
    ] = None,
    cursor: Cursor = None,
    limit: Limit = 20,
) -> Response:
    """Search datasets, jobs, columns and runs by name, best match first."""
    return await service.respond(service.store_for(who).pages.find, q, kind=type, cursor=cursor, limit=limit)


@router.get("/coverage", responses=json_responses(page_of(Coverage), 200, 400, 422))
async def coverage(
    service: CurrentService, who: Reader, namespace: Text = None, cursor: Cursor = None, limit: Limit = 100
) -> Response:
    """Coverage of each dataset with inputs: what is known about its lineage, and what is not."""
    return await service.respond(service.store_for(who).pages.coverage, namespace, cursor=cursor, limit=limit)
