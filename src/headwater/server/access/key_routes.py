"""Routes to manage access keys, for an admin of all namespaces: what `headwater access` does on the command line."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema, model_validator

from headwater.model.access import AccessKey, NewAccessKey, Scope
from headwater.server.access.credentials import Authenticator
from headwater.server.access.principal import Principal
from headwater.server.app.openapi_schemas import json_responses, page_of, request_body, schema_of
from headwater.server.app.problems import HttpProblem
from headwater.server.app.responses import JsonResponse
from headwater.server.app.service import CurrentService, FullAdmin
from headwater.server.routes.parameters import Segment, parse_moment

router = APIRouter(tags=["Access"])
_MAX_DAYS = 36_500


class AccessKeyRequest(BaseModel):
    """A key to create. Without an expiry it is valid until it is revoked."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    name: Annotated[str, Field(min_length=1, max_length=200)]
    """Name of the holder; the audit log records it."""
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=3)] = [Scope.READ]
    namespaces: Annotated[list[Annotated[str, Field(max_length=2000)]], Field(min_length=1, max_length=100)] = ["*"]
    """Exact names, or `prefix*`; `*` means all."""
    expires_in_days: Annotated[int | None, Field(ge=1, le=_MAX_DAYS)] = None
    expires_at: Annotated[
        datetime | None,
        BeforeValidator(parse_moment),
        WithJsonSchema({"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}),
    ] = None

    @model_validator(mode="after")
    def _check_expiry(self) -> AccessKeyRequest:
        if self.expires_in_days is not None and self.expires_at is not None:
            raise ValueError("give either expires_in_days or expires_at")
        return self

    @property
    def expiry(self) -> datetime | None:
        if self.expires_in_days is None:
            return self.expires_at
        return datetime.now(UTC) + timedelta(days=self.expires_in_days)


@router.get("/access/keys", responses=json_responses(page_of(AccessKey), 200))
async def keys(service: CurrentService, who: FullAdmin) -> Response:
    """All keys, oldest first, including expired and revoked ones. Their secrets are not stored."""
    return JsonResponse({"items": await service.call(service.store.access.keys), "next": None})


@router.post(
    "/access/keys", status_code=201, responses=json_responses(schema_of(NewAccessKey), 201, 400, 408, 413, 415, 422),
    openapi_extra=request_body(AccessKeyRequest),
)  # fmt: skip
async def add(request: Request, service: CurrentService, who: FullAdmin) -> Response:
    """Create a key. Only this response shows its secret."""
    async with service.body_reader.read(request) as body:
        key = _parse_key(body)
    _refuse_escalation(key, who)
    created = await service.threads.write(
        service.store.access.add,
        key.name,
        scopes=key.scopes,
        namespaces=key.namespaces,
        expires_at=key.expiry,
        actor=who.actor,
    )
    _clear_cache(request)
    return JsonResponse(created, 201)


@router.delete("/access/keys/{key_id:name}", responses=json_responses(schema_of(AccessKey), 200, 400, 404, 409))
async def revoke(request: Request, service: CurrentService, who: FullAdmin, key_id: Segment) -> Response:
    """Revoke a key and its sessions. This cannot be undone; revoking a revoked key changes nothing.

    The last key with `admin` for all namespaces is not revoked: 409, `last_admin_key`."""
    revoked = await service.threads.write(service.store.access.revoke, key_id, actor=who.actor, keep_an_admin=True)
    _clear_cache(request)
    return JsonResponse(revoked)


def _parse_key(body: bytes) -> AccessKeyRequest:
    try:
        return AccessKeyRequest.model_validate_json(body)
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_url=False, include_context=False)) from None


def _refuse_escalation(key: AccessKeyRequest, who: Principal) -> None:
    """Refuse scopes that the caller lacks: no scope implies another, and otherwise `admin` would imply them all."""
    lacking = [str(scope) for scope in key.scopes if scope not in who.scopes]
    if lacking:
        detail = f"A key cannot grant more than its own rights: {', '.join(lacking)}."
        raise HttpProblem(403, "not_permitted", detail)


def _clear_cache(request: Request) -> None:
    authenticator: Authenticator = request.app.state.authenticator
    authenticator.clear_cache()
