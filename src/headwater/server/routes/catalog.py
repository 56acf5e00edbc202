"""What there is: datasets, jobs, and finding them, their columns and their runs by name."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response

from headwater.model.answers import DatasetDetail, DatasetSummary
from headwater.model.names import Dataset, Job
from headwater.model.pages import Coverage, Hit, JobDetail, JobSummary
from headwater.server.app.openapi_schemas import answers, page_of, schema_of
from headwater.server.app.service import Reader, Serving
from headwater.server.routes.asking import (
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


@router.get("/datasets", responses=answers(page_of(DatasetSummary), 200, 400, 422))
async def datasets(
    serving: Serving, who: Reader, search: Text = None, namespace: Text = None, kind: Text = None, owner: Text = None,
    tag: Text = None, cursor: Cursor = None, limit: Limit = 100,
) -> Response:  # fmt: skip
    """Datasets by name. `search` is a piece of a name or of an alias, upper or lower case."""
    pages = serving.seen_by(who).pages
    filters = {"namespace": namespace, "kind": kind, "owner": owner, "tag": tag}
    return await serving.answer(pages.datasets, search, cursor=cursor, limit=limit, **filters)


@router.get("/datasets/named", responses=answers(schema_of(DatasetDetail), 200, 400, 404, 409, 422))
async def dataset_named(
    serving: Serving,
    who: Reader,
    dataset: DatasetParameter,
    namespace: NamespaceParameter = None,
    job: JobParameter = False,
) -> Response:
    """One dataset by its name alone, where only one namespace has it, or by any of its names."""
    return await serving.answer(serving.seen_by(who).dataset, endpoint_named(dataset, namespace, job))


@router.get("/datasets/{namespace:name}/{name:name}", responses=answers(schema_of(DatasetDetail), 200, 400, 404))
async def dataset(serving: Serving, who: Reader, namespace: Segment, name: Segment) -> Response:
    """One dataset: its schema, facets, versions and partitions."""
    return await serving.answer(serving.seen_by(who).dataset, Dataset(namespace, name))


@router.get("/jobs", responses=answers(page_of(JobSummary), 200, 400, 422))
async def jobs(
    serving: Serving, who: Reader, namespace: Text = None, cursor: Cursor = None, limit: Limit = 100
) -> Response:
    """Jobs by name, each with its latest run."""
    return await serving.answer(serving.seen_by(who).pages.jobs, namespace, cursor=cursor, limit=limit)


@router.get("/jobs/named/{namespace:name}/{name:name}", responses=answers(schema_of(JobDetail), 200, 400, 404))
async def job(serving: Serving, who: Reader, namespace: Segment, name: Segment) -> Response:
    """One job: its facets, its latest runs, and what the last of them read and wrote."""
    return await serving.answer(serving.seen_by(who).pages.job, Job(namespace, name))


@router.get("/find", responses=answers(page_of(Hit), 200, 400, 422))
async def find(
    serving: Serving,
    who: Reader,
    q: Annotated[str, Query(max_length=1000, description="A name, a beginning or a piece of one, or nearly so.")],
    type: Annotated[
        Literal["dataset", "job", "column", "run", "any"] | None,
        Query(
            description="Datasets and jobs, unless told. A run is found by the beginning of its id, from 4 characters."
        ),
    ] = None,
    cursor: Cursor = None,
    limit: Limit = 20,
) -> Response:
    """Datasets, jobs, columns and runs by what is remembered of their names, the best match first."""
    return await serving.answer(serving.seen_by(who).pages.find, q, kind=type, cursor=cursor, limit=limit)


@router.get("/coverage", responses=answers(page_of(Coverage), 200, 400, 422))
async def coverage(
    serving: Serving, who: Reader, namespace: Text = None, cursor: Cursor = None, limit: Limit = 100
) -> Response:
    """Of each dataset that something flows into: what is known of how it comes about, and what is not."""
    return await serving.answer(serving.seen_by(who).pages.coverage, namespace, cursor=cursor, limit=limit)
