"""Routes of provenance: who created, modified, accessed or deleted a dataset, and statements of it."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema

from headwater.formats.provenance import context_document
from headwater.model.answers import Receipt
from headwater.model.names import Dataset
from headwater.model.provenance import Provenance, ProvenanceEvent
from headwater.server.app.openapi_schemas import json_responses, page_of, request_body, schema_of
from headwater.server.app.responses import JsonResponse
from headwater.server.app.service import CurrentService, Reader, Writer
from headwater.server.ingest.local_ingest import ReceivedBody
from headwater.server.routes.parameters import Cursor, Limit, Moment, Segment, parse_moment

router = APIRouter(tags=["Provenance"])
_PATH = "/datasets/{namespace:name}/{name:name}/provenance"
_Text = Annotated[str | None, Field(max_length=10_000)]


class StatedAgent(BaseModel):
    model_config = ConfigDict(extra="forbid")

    type: Literal["user", "service", "job"]
    id: Annotated[str, Field(min_length=1, max_length=10_000)]
    name: _Text = None


class StatedOperation(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    type: Literal["read", "write", "transform", "export"] | None = None
    """By default `read` for an access, and `write` for other events."""
    method: _Text = None
    parameters: dict[str, object] | None = None


class ProvenanceStatement(BaseModel):
    """An action that no run reports: who did what to the dataset, and for what purpose."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    event: ProvenanceEvent
    agent: StatedAgent | None = None
    """The caller by default."""
    operation: StatedOperation | None = None
    purpose: _Text = None
    legal_basis: _Text = None
    retention_period: _Text = None
    sensitivity: Literal["public", "internal", "confidential", "restricted"] | None = None
    at: Annotated[
        datetime | None,
        BeforeValidator(parse_moment),
        WithJsonSchema({"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}),
    ] = None
    """Now by default."""


@router.get(_PATH, responses=json_responses(page_of(Provenance), 200, 400, 404, 422))
async def provenance(
    service: CurrentService, who: Reader, namespace: Segment, name: Segment,
    event: Annotated[ProvenanceEvent | None, Query()] = None, since: Moment = None, until: Moment = None,
    cursor: Cursor = None, limit: Limit = 100,
) -> Response:  # fmt: skip
    """Who created, modified, accessed or deleted a dataset, by which operation and for what purpose, newest first."""
    pages = service.store_for(who).pages
    return await service.respond(
        pages.provenance, Dataset(namespace, name), event=event, since=since, until=until, cursor=cursor, limit=limit
    )


@router.post(
    _PATH, status_code=201, responses=json_responses(schema_of(Receipt), 201, 400, 404, 408, 413, 415, 422),
    openapi_extra=request_body(ProvenanceStatement),
)  # fmt: skip
async def state(request: Request, service: CurrentService, who: Writer, namespace: Segment, name: Segment) -> Response:
    """Record an action that no run reports. It becomes an OpenLineage event; repeating it has no further effect."""
    async with service.body_reader.read(request) as body:
        statement = _parse_statement(body)
    event = await service.call(
        service.store_for(who).provenance_event,
        Dataset(namespace, name),
        statement.event,
        statement.agent.model_dump() if statement.agent is not None else None,
        statement.operation.model_dump() if statement.operation is not None else None,
        context_document(statement.purpose, statement.legal_basis, statement.retention_period, statement.sensitivity),
        statement.at,
        who.actor,
    )
    receipt = await service.group_commit.submit(ReceivedBody(json.dumps(event).encode(), who.actor, who.visibility))
    return JsonResponse(receipt, 201)


def _parse_statement(body: bytes) -> ProvenanceStatement:
    try:
        return ProvenanceStatement.model_validate_json(body)
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_url=False, include_context=False)) from None
