"""Routes of the OpenLineage endpoint: one event, or a list. A response means that they are on disk."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from headwater.errors import EventRefused
from headwater.formats.openlineage.event import Event
from headwater.formats.openlineage.many import read_events
from headwater.model.answers import Receipt
from headwater.model.audit import Actor
from headwater.server.app.metrics import IN_FLIGHT, PROCESSING
from headwater.server.app.openapi_schemas import Schema, json_responses, request_body, schema_of
from headwater.server.app.responses import JsonResponse
from headwater.server.app.service import CurrentService, Writer
from headwater.server.ingest.group_commit import count_events
from headwater.server.ingest.local_ingest import ReceivedBody
from headwater.store.store import Store

router = APIRouter(tags=["Events in"])

EVENT: Schema = {
    "type": "object",
    "description": "An OpenLineage RunEvent, JobEvent or DatasetEvent.",
    "required": ["eventTime", "producer"],
    "properties": {
        "eventTime": {"type": "string", "format": "date-time"},
        "producer": {"type": "string"},
        "schemaURL": {
            "description": "A string. An event where it is not one is accepted as well, and its receipt says so."
        },
        "eventType": {"enum": ["START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"]},
        "run": {"type": "object", "required": ["runId"], "properties": {"runId": {"type": "string"}}},
        "job": {
            "type": "object",
            "required": ["namespace", "name"],
            "properties": {"namespace": {"type": "string"}, "name": {"type": "string"}},
        },
    },
}
_COUNT: Schema = {"type": "integer", "minimum": 0}
BATCH: Schema = {
    "type": "object",
    "required": ["status", "summary", "failed_events"],
    "properties": {
        "status": {"const": "partial_success"},
        "summary": {
            "type": "object",
            "properties": dict.fromkeys(("received", "successful", "failed", "retriable", "non_retriable"), _COUNT),
        },
        "failed_events": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["index", "reason", "retriable"],
                "properties": {"index": _COUNT, "reason": {"type": "string"}, "retriable": {"type": "boolean"}},
            },
        },
    },
}


@router.post(
    "/lineage", status_code=201, responses=json_responses(schema_of(Receipt), 201, 400, 408, 413, 415),
    openapi_extra=request_body(EVENT),
)  # fmt: skip
async def take_event(request: Request, service: CurrentService, who: Writer) -> Response:
    """Ingest one OpenLineage event. An event that is already stored has no further effect."""
    async with service.body_reader.read(request) as body:
        with _record_duration():
            receipt = await service.group_commit.submit(ReceivedBody(body, who.actor, who.visibility))
    return JsonResponse(receipt, 201)


@router.post(
    "/lineage/batch", status_code=204, responses={
        **json_responses(schema_of(list[Receipt]), 201), **json_responses(BATCH, 200, 400, 408, 413, 415),
        204: {"description": "All events were accepted."},
    },
    openapi_extra=request_body({"type": "array", "items": EVENT}),
)  # fmt: skip
async def take_events(
    request: Request,
    service: CurrentService,
    who: Writer,
    atomic: Annotated[
        bool, Query(description="All of them or, if one is refused, none; 201 with a receipt for each.")
    ] = False,
) -> Response:
    """Ingest a list of OpenLineage events. Valid ones are stored; others are reported by index."""
    async with service.body_reader.read(request) as body:
        with _record_duration():
            if atomic:
                store = service.store_for(who)
                receipts = await service.threads.write(_take_all, store, body, who.actor)
                count_events(receipts, 0)
                return JsonResponse(receipts, 201)
            result = await service.threads.write(service.ingest.batch, ReceivedBody(body, who.actor, who.visibility))
    count_events(result.receipts, len(result.refused))
    if not result.refused:
        return Response(status_code=204)
    failed = [{"index": index, "reason": reason, "retriable": False} for index, reason in result.refused]
    summary = {
        "received": result.received,
        "successful": result.received - len(failed),
        "failed": len(failed),
        "retriable": 0,
        "non_retriable": len(failed),
    }
    return JsonResponse({"status": "partial_success", "summary": summary, "failed_events": failed})


def _take_all(store: Store, body: bytes, actor: Actor) -> list[Receipt]:
    events = read_events(body)
    for event in events:
        if isinstance(event, EventRefused):
            raise event
    return store.take([event for event in events if isinstance(event, Event)], actor=actor)


@contextmanager
def _record_duration() -> Iterator[None]:
    started = time.perf_counter()
    IN_FLIGHT.inc()
    try:
        yield
    finally:
        IN_FLIGHT.dec()
        PROCESSING.observe(time.perf_counter() - started)
