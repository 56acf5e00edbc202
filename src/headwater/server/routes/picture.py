"""What the page draws: the neighbourhood of a dataset, its column edges, and the whole estate as a map."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from headwater.model.picture import ColumnLink, EstateMap, Neighbourhood
from headwater.server.app.openapi_schemas import json_responses, page_of, schema_of
from headwater.server.app.service import CurrentService, Reader
from headwater.server.routes.asking import Cursor, DatasetParameter, Moment, NamespaceParameter, Text, dataset_reference

router = APIRouter(tags=["Lineage"])
Hops = Annotated[int, Query(ge=0, le=3, description="Maximum number of hops in that direction.")]


@router.get("/graph/around", responses=json_responses(schema_of(Neighbourhood), 200, 400, 404, 409, 422))
async def around(
    service: CurrentService, who: Reader, dataset: DatasetParameter, namespace: NamespaceParameter = None,
    upstream: Hops = 1, downstream: Hops = 1, as_of: Moment = None,
    limit: Annotated[int, Query(ge=1, le=400, description="Maximum number of neighbours per node and side.")] = 8,
    columns: Annotated[bool, Query(description="Include columns and every edge between them.")] = False,
) -> Response:  # fmt: skip
    """What lies around a dataset: cards, and every edge between two of them.

    `upstreams` and `downstreams` of a card say how many neighbours it has in all, shown or not. With `columns`, cards
    have their `schema`, unless it has more than 200 columns and more than its share of 20,000, and there are all
    `column_edges`, unless these are more than 10,000; what is too much for one answer is null, and can be asked for of
    each dataset.
    """
    ask = service.store_for(who).pages.neighbourhood
    asked = dataset_reference(dataset, namespace)
    return await service.respond(
        ask, asked, upstream=upstream, downstream=downstream, as_of=as_of, limit=limit, columns=columns
    )


@router.get("/graph/columns", responses=json_responses(page_of(ColumnLink), 200, 400, 404, 409, 422))
async def columns(
    service: CurrentService, who: Reader, dataset: DatasetParameter, namespace: NamespaceParameter = None,
    as_of: Moment = None, cursor: Cursor = None,
    limit: Annotated[int, Query(ge=1, le=5000, description="Maximum number of results.")] = 1000,
) -> Response:  # fmt: skip
    """The column edges of a dataset, one hop: those into it, by its columns, then those out of it."""
    ask = service.store_for(who).pages.column_links
    return await service.respond(ask, dataset_reference(dataset, namespace), as_of=as_of, cursor=cursor, limit=limit)


@router.get("/graph/map", responses=json_responses(schema_of(EstateMap), 200, 400, 422))
async def estate_map(service: CurrentService, who: Reader, namespace: Text = None, as_of: Moment = None) -> Response:
    """All datasets and edges at once, at most 20,000 and 60,000. Numbers are places in the lists."""
    return await service.respond(service.store_for(who).pages.map, namespace, as_of=as_of)
