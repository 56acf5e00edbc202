"""Routes of the record ledger. Records have no namespace, so they require a key for all namespaces."""

from __future__ import annotations

import json
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from headwater.model.audit import Actor
from headwater.model.plain import plain
from headwater.model.record_schema import QUERIED
from headwater.model.records import SendResult
from headwater.records.ledger import Records
from headwater.server.app.document_schemas import FOUND_RECORD, ROOT_TRACE, array_of, closed_object
from headwater.server.app.openapi_schemas import Schema, json_responses, request_body, schema_of
from headwater.server.app.problems import HttpProblem
from headwater.server.app.responses import JsonResponse
from headwater.server.app.service import CurrentService, FullReader, FullWriter
from headwater.server.routes.parameters import Limit, Moment, Text

router = APIRouter(tags=["Records"])
_ID: Schema = {"type": "string"}
_NAMES = [field.name for field in QUERIED if field.kind == "text"]
_MEMBERS: dict[str, Schema] = {**dict.fromkeys(_NAMES, _ID), "parent_ids": {"type": "array", "items": _ID}}
_RECORD: Schema = {"type": "object", "properties": _MEMBERS}
_BATCH_MEMBERS: dict[str, Schema] = {"record": _RECORD, "records": {"type": "array", "items": _RECORD}}
_REQUEST: Schema = {"type": "object", "properties": {**_MEMBERS, **_BATCH_MEMBERS}}
_LIST = closed_object(items=array_of(FOUND_RECORD))


@router.post(
    "/records", status_code=202, responses=json_responses(schema_of(SendResult), 202, 400, 408, 413, 415),
    openapi_extra=request_body({"anyOf": [_REQUEST, {"type": "array", "items": _REQUEST}]}),
)  # fmt: skip
async def send(request: Request, service: CurrentService, who: FullWriter) -> Response:
    """Accept one request or a list. Valid ones are on disk, and `headwater records work` loads them."""
    async with service.body_reader.read(request) as body:
        sent = await service.threads.write(_send, service.store.records, body, who.actor)
    if sent.refused and not sent.taken:
        raise HttpProblem(400, "records_refused", "No record was accepted.", refused=plain(sent.refused))
    return JsonResponse(sent, 202)


def _send(records: Records, body: bytes, actor: Actor) -> SendResult:
    try:
        requests = json.loads(body.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise HttpProblem(400, "body_not_json", "The body is not JSON in UTF-8.") from None
    return records.send(requests if isinstance(requests, list | dict) else [requests], actor=actor)


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


@router.get("/records/trace", responses=json_responses(ROOT_TRACE, 200, 400, 404, 422))
async def trace(
    service: CurrentService, who: FullReader, root: Annotated[str, Query(max_length=10_000)], action: Text = None
) -> Response:
    """How every record of a root was made, from recent and archived records together."""
    answer = await service.call(service.store.records.trace, root)
    return JsonResponse((answer if action is None else answer.only(action)).document())


@router.get("/records/find", responses=json_responses(_LIST, 200, 400, 422))
async def find(
    service: CurrentService, who: FullReader, root: Text = None, node: Text = None, action: Text = None,
    location: Text = None, since: Moment = None, limit: Limit = 100,
) -> Response:  # fmt: skip
    """Records, recent and archived, newest first."""
    records = await service.call(
        service.store.records.find, root=root, node=node, action=action, location=location, since=since, limit=limit
    )
    return JsonResponse({"items": [record.document() for record in records]})
