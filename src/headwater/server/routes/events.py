"""Routes of received events."""

from __future__ import annotations

from fastapi import APIRouter, Response

from headwater.model.pages import ReceivedEvent
from headwater.server.app.document_schemas import EVENT
from headwater.server.app.openapi_schemas import json_responses, page_of
from headwater.server.app.service import CurrentService, Reader
from headwater.server.routes.parameters import Cursor, Limit, Segment, Text

router = APIRouter(tags=["Events"])


@router.get("/events", responses=json_responses(page_of(ReceivedEvent), 200, 400, 404, 422))
async def events(
    service: CurrentService, who: Reader, run: Text = None, cursor: Cursor = None, limit: Limit = 100
) -> Response:
    """Received events, newest first, without their bodies."""
    return await service.respond(service.store_for(who).pages.events, run, cursor=cursor, limit=limit)


@router.get("/events/by-digest/{digest:name}", responses=json_responses(EVENT, 200, 400, 404))
async def event(service: CurrentService, who: Reader, digest: Segment) -> Response:
    """One event, byte for byte as received."""
    body = await service.call(service.store_for(who).pages.event_body, digest)
    return Response(body, media_type="application/json")
