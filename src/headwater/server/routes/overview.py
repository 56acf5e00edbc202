"""The overview of the store: counts, and what needs attention."""

from __future__ import annotations

from fastapi import APIRouter, Response

from headwater.model.overview import Overview
from headwater.server.app.openapi_schemas import json_responses, schema_of
from headwater.server.app.service import CurrentService, Reader

router = APIRouter(tags=["Catalog"])


@router.get("/overview", responses=json_responses(schema_of(Overview), 200))
async def overview(service: CurrentService, who: Reader) -> Response:
    """Counts, latest failures, unbalanced ledgers, datasets that are not fully covered, and latest runs.

    Ledgers and coverage are those of the newest 300 runs.
    """
    return await service.respond(service.store_for(who).pages.overview)
