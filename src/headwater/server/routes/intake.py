"""Events in: one, or a list of them. An answer means that they are on disk."""

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
from headwater.server.app.metrics import PROCESSING, WAITING
from headwater.server.app.openapi_schemas import accepts, answers, schema_of
from headwater.server.app.responses import Json
from headwater.server.app.service import Serving, Writer
from headwater.server.ingest.group_commit import count
from headwater.server.ingest.local_ingest import Sent
from headwater.store.store import Store

router = APIRouter(tags=["Events in"])

EVENT = {
    "type": "object",
    "description": "An OpenLineage RunEvent, JobEvent or DatasetEvent.",
    "required": ["eventTime", "producer"],
    "properties": {
        "eventTime": {"type": "string", "format": "date-time"},
        "producer": {"type": "string"},
        "schemaURL": {"description": "A text. Where it is none the event is taken too, and its receipt says so."},
        "eventType": {"enum": ["START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"]},
        "run": {"type": "object", "required": ["runId"], "properties": {"runId": {"type": "string"}}},
        "job": {
            "type": "object",
            "required": ["namespace", "name"],
            "properties": {"namespace": {"type": "string"}, "name": {"type": "string"}},
        },
    },
}
_COUNT = {"type": "integer", "minimum": 0}
BATCH = {
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
    "/lineage", status_code=201, responses=answers(schema_of(Receipt), 201, 400, 408, 413, 415),
    openapi_extra=accepts(EVENT),
)  # fmt: skip
async def take_event(request: Request, serving: Serving, who: Writer) -> Response:
    """Take one OpenLineage event. The same event twice counts once."""
    async with serving.gate.body(request) as body:
        with _measured():
            receipt = await serving.intake.take(Sent(body, who.actor, who.visibility))
    return Json(receipt, 201)


@router.post(
    "/lineage/batch", status_code=204, responses={
        **answers(schema_of(list[Receipt]), 201), **answers(BATCH, 200, 400, 408, 413, 415),
        204: {"description": "All of them were taken."},
    },
    openapi_extra=accepts({"type": "array", "items": EVENT}),
)  # fmt: skip
async def take_events(
    request: Request,
    serving: Serving,
    who: Writer,
    atomic: Annotated[
        bool, Query(description="All of them or, if one is refused, none; 201 with a receipt for each.")
    ] = False,
) -> Response:
    """Take a list of OpenLineage events: each that can be taken, together; the others are named by their index."""
    async with serving.gate.body(request) as body:
        with _measured():
            if atomic:
                store = serving.seen_by(who)
                receipts = await serving.threads.write(_take_all, store, body, who.actor)
                count(receipts, 0)
                return Json(receipts, 201)
            told = await serving.threads.write(serving.storing.many, Sent(body, who.actor, who.visibility))
    count(told.receipts, len(told.refused))
    if not told.refused:
        return Response(status_code=204)
    failed = [{"index": index, "reason": reason, "retriable": False} for index, reason in told.refused]
    summary = {
        "received": told.received,
        "successful": told.received - len(failed),
        "failed": len(failed),
        "retriable": 0,
        "non_retriable": len(failed),
    }
    return Json({"status": "partial_success", "summary": summary, "failed_events": failed})


def _take_all(store: Store, body: bytes, actor: Actor) -> list[Receipt]:
    events = read_events(body)
    for event in events:
        if isinstance(event, EventRefused):
            raise event
    return store.take([event for event in events if isinstance(event, Event)], actor=actor)


@contextmanager
def _measured() -> Iterator[None]:
    began = time.perf_counter()
    WAITING.inc()
    try:
        yield
    finally:
        WAITING.dec()
        PROCESSING.observe(time.perf_counter() - began)
