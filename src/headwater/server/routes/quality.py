"""The quality of a dataset: what is known of it, and stating it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Request, Response

from headwater.formats.wia.elements import FIELDS, ElementKind, FieldSpec, FieldType
from headwater.formats.wia.quality import quality_event
from headwater.model.answers import Receipt
from headwater.model.names import Dataset
from headwater.model.quality import QualityStatement
from headwater.server.app.document_schemas import closed, listed
from headwater.server.app.openapi_schemas import Schema, accepts, answers, schema_of
from headwater.server.app.problems import Problem
from headwater.server.app.responses import Json
from headwater.server.app.service import Reader, Serving, Writer
from headwater.server.ingest.local_ingest import Sent
from headwater.server.routes.asking import Limit, Segment

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
    """What the format says of a document, in the words of JSON Schema. Null is as good as nothing."""
    properties: dict[str, Schema] = {}
    for field in fields:
        *rooms, name = field.path
        place = properties
        for room in rooms:
            place = place.setdefault(room, {"type": ["object", "null"], "properties": {}})["properties"]
        if field.items:
            place[name] = {"type": ["array", "null"], "items": _document(field.items)}
        elif field.choices:
            place[name] = {"enum": [*sorted(field.choices), None]}
        else:
            kind = _TYPES[field.type]
            place[name] = {**kind, "type": [kind["type"], "null"]}
    return {"type": "object", "properties": properties}


_QUALITY = _document(FIELDS[ElementKind.QUALITY])


@router.get(_AT, responses=answers(closed(items=listed(schema_of(QualityStatement))), 200, 400, 404, 422))
async def quality(serving: Serving, who: Reader, namespace: Segment, name: Segment, limit: Limit = 100) -> Response:
    """The quality of one dataset as it was measured, stated or imported, the newest first."""
    found = await serving.ask(serving.seen_by(who).quality, Dataset(namespace, name), limit=limit)
    return Json({"items": found})


@router.post(
    _AT, status_code=201, responses=answers(schema_of(Receipt), 201, 400, 408, 413, 415),
    openapi_extra=accepts(_QUALITY),
)  # fmt: skip
async def state_quality(request: Request, serving: Serving, who: Writer, namespace: Segment, name: Segment) -> Response:
    """State the quality of a dataset: a document of WIA-DATA-008, section 4. Its ids may be left out."""
    async with serving.gate.body(request) as body:
        event = quality_event(Dataset(namespace, name), _read(body), datetime.now(UTC))
        receipt = await serving.intake.take(Sent(json.dumps(event).encode(), who.actor, who.visibility))
    return Json(receipt, 201)


def _read(body: bytes) -> dict[str, Any]:
    try:
        document = json.loads(body.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise Problem(400, "body_not_json", "The body is not JSON in UTF-8.") from None
    if not isinstance(document, dict):
        raise Problem(400, "body_not_object", "A quality document is an object.")
    return document


def _refuse_constant(name: str) -> None:
    raise ValueError(name)
