"""Keys over HTTP, for an admin of all namespaces: what `headwater access` does on the command line."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema, model_validator

from headwater.model.access import AccessKey, NewAccessKey, Scope
from headwater.server.access.credentials import Credentials
from headwater.server.access.principal import Principal
from headwater.server.app.openapi_schemas import accepts, answers, page_of, schema_of
from headwater.server.app.problems import Problem
from headwater.server.app.responses import Json
from headwater.server.app.service import FullAdmin, Serving
from headwater.server.routes.asking import Segment, moment

router = APIRouter(tags=["Access"])
_MOST_DAYS = 36_500


class NewKey(BaseModel):
    """A key to be made. Without an end it is good until it is revoked."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    name: Annotated[str, Field(min_length=1, max_length=200)]
    """Whom or what it is for; the audit log names it."""
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=3)] = [Scope.READ]
    namespaces: Annotated[list[Annotated[str, Field(max_length=2000)]], Field(min_length=1, max_length=100)] = ["*"]
    """Exact names, or `prefix*`; `*` is all."""
    expires_in_days: Annotated[int | None, Field(ge=1, le=_MOST_DAYS)] = None
    expires_at: Annotated[
        datetime | None,
        BeforeValidator(moment),
        WithJsonSchema({"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}),
    ] = None

    @model_validator(mode="after")
    def _ends_once(self) -> NewKey:
        if self.expires_in_days is not None and self.expires_at is not None:
            raise ValueError("give either expires_in_days or expires_at")
        return self

    @property
    def end(self) -> datetime | None:
        if self.expires_in_days is None:
            return self.expires_at
        return datetime.now(UTC) + timedelta(days=self.expires_in_days)


@router.get("/access/keys", responses=answers(page_of(AccessKey), 200))
async def keys(serving: Serving, who: FullAdmin) -> Response:
    """All keys, the oldest first, also those that are no longer good. Their secrets are not kept."""
    return Json({"items": await serving.ask(serving.store.access.keys), "next": None})


@router.post(
    "/access/keys", status_code=201, responses=answers(schema_of(NewAccessKey), 201, 400, 408, 413, 415, 422),
    openapi_extra=accepts(NewKey),
)  # fmt: skip
async def add(request: Request, serving: Serving, who: FullAdmin) -> Response:
    """Make a key. The answer shows its secret, this once."""
    async with serving.gate.body(request) as body:
        asked = _asked(body)
    _refuse_more_than_their_own(asked, who)
    made = await serving.threads.write(
        serving.store.access.add,
        asked.name,
        scopes=asked.scopes,
        namespaces=asked.namespaces,
        expires_at=asked.end,
        actor=who.actor,
    )
    _reconsider(request)
    return Json(made, 201)


@router.delete("/access/keys/{key_id:name}", responses=answers(schema_of(AccessKey), 200, 400, 404, 409))
async def revoke(request: Request, serving: Serving, who: FullAdmin, key_id: Segment) -> Response:
    """Revoke a key, and the sessions that were opened with it, for good. One that is revoked stays as it is.

    The last key with `admin` for all namespaces is refused: 409, `last_admin_key`."""
    revoked = await serving.threads.write(serving.store.access.revoke, key_id, actor=who.actor, keep_an_admin=True)
    _reconsider(request)
    return Json(revoked)


def _asked(body: bytes) -> NewKey:
    try:
        return NewKey.model_validate_json(body)
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_url=False, include_context=False)) from None


def _refuse_more_than_their_own(asked: NewKey, who: Principal) -> None:
    """No scope implies another; with a key that could make any other, `admin` would imply them all."""
    lacking: list[Any] = [scope for scope in asked.scopes if scope not in who.scopes]
    if lacking:
        detail = f"A key cannot grant more than its own rights: {', '.join(lacking)}."
        raise Problem(403, "not_permitted", detail)


def _reconsider(request: Request) -> None:
    credentials: Credentials = request.app.state.credentials
    credentials.reconsider()
