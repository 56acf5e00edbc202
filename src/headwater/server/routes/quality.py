"""Routes of data quality: statements about a dataset, and adding one."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from fastapi import APIRouter, Request, Response

from headwater.formats.wia.elements import FIELDS, ElementKind, FieldSpec, FieldType
from headwater.formats.wia.quality import quality_event
from headwater.model.answers import Receipt
from headwater.model.names import Dataset
from headwater.model.quality import QualityStatement
from headwater.server.app.document_schemas import array_of, closed_object
from headwater.server.app.openapi_schemas import Schema, json_responses, request_body, schema_of
from headwater.server.app.problems import HttpProblem
from headwater.server.app.responses import JsonResponse
from headwater.server.app.service import CurrentService, Reader, Writer
from headwater.server.ingest.local_ingest import ReceivedBody
from headwater.server.routes.parameters import Limit, Segment

router = APIRouter(tags=["Quality"])
_AT = "/datasets/{namespace:name}/{name:name}/quality"
_TYPES: dict[FieldType, Schema] = {
    FieldType.ID: {"type": "string", "format": "uuid"},
    FieldType.TEXT: {"type": "string"},
    FieldType.TIME: {"type": "string", "format": "date-time"},
    FieldType.COUNT: {"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1},
    FieldType.FRACTION: {"type": "number", "minimum": 0, "maximum": 1},
    FieldType.FLAG: {"type": "boolean"},
}


def _document(fields: tuple[FieldSpec, ...]) -> Schema:
    """Return the JSON schema of a document of the format. Null counts as absent."""
    properties: dict[str, Schema] = {}
    for field in fields:
        *parents, name = field.path
        target = properties
        for parent in parents:
            target = target.setdefault(parent, {"type": ["object", "null"], "properties": {}})["properties"]
        if field.items:
            target[name] = {"type": ["array", "null"], "items": _document(field.items)}
        elif field.choices:
            target[name] = {"enum": [*sorted(field.choices), None]}
        else:
            kind = _TYPES[field.type]
            target[name] = {**kind, "type": [str(kind["type"]), "null"]}
    return {"type": "object", "properties": properties}


_QUALITY = _document(FIELDS[ElementKind.QUALITY])


@router.get(
    _AT, responses=json_responses(closed_object(items=array_of(schema_of(QualityStatement))), 200, 400, 404, 422)
)
async def quality(
    service: CurrentService, who: Reader, namespace: Segment, name: Segment, limit: Limit = 100
) -> Response:
    """The quality of a dataset as measured, stated or imported, newest first."""
    statements = await service.call(service.store_for(who).quality, Dataset(namespace, name), limit=limit)
    return JsonResponse({"items": statements})


@router.post(
    _AT, status_code=201, responses=json_responses(schema_of(Receipt), 201, 400, 408, 413, 415),
    openapi_extra=request_body(_QUALITY),
)  # fmt: skip
async def state_quality(
    request: Request, service: CurrentService, who: Writer, namespace: Segment, name: Segment
) -> Response:
    """Record the quality of a dataset: a document of WIA-DATA-008, section 4. Its ids are optional."""
    async with service.body_reader.read(request) as body:
        event = quality_event(Dataset(namespace, name), _read(body), datetime.now(UTC))
        receipt = await service.group_commit.submit(ReceivedBody(json.dumps(event).encode(), who.actor, who.visibility))
    return JsonResponse(receipt, 201)


def _read(body: bytes) -> dict[str, object]:
    try:
        document = json.loads(body.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise HttpProblem(400, "body_not_json", "The body is not JSON in UTF-8.") from None
    if not isinstance(document, dict):
        raise HttpProblem(400, "body_not_object", "A quality document is an object.")
    return document


def _refuse_constant(name: str) -> None:
    raise ValueError(name)
