"""Routes for the page's drawings: the neighbourhood of a dataset, its column edges, and the map of all datasets."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from headwater.model.picture import ColumnLink, EstateMap, Neighbourhood
from headwater.server.app.openapi_schemas import json_responses, page_of, schema_of
from headwater.server.app.service import CurrentService, Reader
from headwater.server.routes.parameters import (
    Cursor,
    DatasetParameter,
    Moment,
    NamespaceParameter,
    Text,
    dataset_reference,
)

router = APIRouter(tags=["Lineage"])
Hops = Annotated[int, Query(ge=0, le=3, description="Maximum number of hops in that direction.")]


@router.get("/graph/around", responses=json_responses(schema_of(Neighbourhood), 200, 400, 404, 409, 422))
async def around(
    service: CurrentService, who: Reader, dataset: DatasetParameter, namespace: NamespaceParameter = None,
    upstream: Hops = 1, downstream: Hops = 1, as_of: Moment = None,
    limit: Annotated[int, Query(ge=1, le=400, description="Maximum number of neighbours per node and side.")] = 8,
    columns: Annotated[bool, Query(description="Include columns and every edge between them.")] = False,
) -> Response:  # fmt: skip
    """The neighbourhood of a dataset: cards, and all edges between them.

    `upstreams` and `downstreams` of a card count all its neighbours, shown or not. With `columns`, a card has its
    `schema`, unless that has more than 200 columns and more than its share of 20,000, and the answer has all
    `column_edges`, unless they are more than 10,000. What exceeds these limits is null; request it per dataset.
    """
    neighbourhood = service.store_for(who).pages.neighbourhood
    reference = dataset_reference(dataset, namespace)
    return await service.respond(
        neighbourhood, reference, upstream=upstream, downstream=downstream, as_of=as_of, limit=limit, columns=columns
    )


@router.get("/graph/columns", responses=json_responses(page_of(ColumnLink), 200, 400, 404, 409, 422))
async def columns(
    service: CurrentService, who: Reader, dataset: DatasetParameter, namespace: NamespaceParameter = None,
    as_of: Moment = None, cursor: Cursor = None,
    limit: Annotated[int, Query(ge=1, le=5000, description="Maximum number of results.")] = 1000,
) -> Response:  # fmt: skip
    """The column edges of a dataset, one hop: incoming ones by its columns, then outgoing ones."""
    column_links = service.store_for(who).pages.column_links
    return await service.respond(
        column_links, dataset_reference(dataset, namespace), as_of=as_of, cursor=cursor, limit=limit
    )


@router.get("/graph/map", responses=json_responses(schema_of(EstateMap), 200, 400, 422))
async def estate_map(service: CurrentService, who: Reader, namespace: Text = None, as_of: Moment = None) -> Response:
    """All datasets and edges, at most 20,000 and 60,000. Numbers are indexes into the lists."""
    return await service.respond(service.store_for(who).pages.map, namespace, as_of=as_of)
