"""Routes for sessions: a browser logs in with a key once and then uses a cookie."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from starlette.requests import HTTPConnection

from headwater.errors import NotAuthenticated
from headwater.model.access import Scope
from headwater.server.access.credentials import CSRF_HEADER, LIFETIME, Authenticator, csrf_token, principal_of
from headwater.server.access.origin_check import refuse_other_pages
from headwater.server.access.principal import Principal, current_principal
from headwater.server.app.openapi_schemas import Schema, json_responses, request_body
from headwater.server.app.problems import HttpProblem
from headwater.server.app.responses import JsonResponse

router = APIRouter(tags=["Access"])
AnyPrincipal = Annotated[Principal, Depends(current_principal)]

_SESSION_SCHEMA: Schema = {
    "type": "object",
    "required": ["name", "scopes", "namespaces", "key_required", "csrf_token"],
    "properties": {
        "name": {"type": "string"},
        "scopes": {"type": "array", "items": {"enum": [str(scope) for scope in Scope]}},
        "namespaces": {"type": "array", "items": {"type": "string"}},
        "key_required": {"type": "boolean"},
        "csrf_token": {
            "anyOf": [{"type": "string"}, {"type": "null"}],
            "description": f"Send as {CSRF_HEADER} with every request that changes something.",
        },
    },
}


_LOGIN_SCHEMA: Schema = {
    "type": "object",
    "required": ["key"],
    "properties": {"key": {"type": "string", "description": "`hw_…`, as `headwater access add` printed it."}},
}
_MAX_BYTES, _MAX_SECONDS = 2000, 10


@router.post(
    "/session", responses=json_responses(_SESSION_SCHEMA, 200, 408, 413, 422), openapi_extra=request_body(_LOGIN_SCHEMA)
)
async def log_in(request: Request) -> Response:
    """Open a session with a key. The response sets a cookie that scripts cannot read."""
    refuse_other_pages(request.headers)
    authenticator: Authenticator = request.app.state.authenticator
    key = await authenticator.key_of(request, _key_in(await _body(request)))
    actor = principal_of(request, key).actor
    secret = await authenticator.call(authenticator.store.sessions.open, key, LIFETIME, actor)
    answer = JsonResponse(_session_document(actor.id, key.scopes, key.namespaces, True, csrf_token(secret)))
    answer.set_cookie(
        authenticator.cookie,
        secret,
        max_age=int(LIFETIME.total_seconds()),
        path=authenticator.cookie_path,
        secure=authenticator.secures_cookie(request),
        httponly=True,
        samesite="strict",
    )
    return answer


@router.get("/session", responses=json_responses(_SESSION_SCHEMA, 200))
async def who_am_i(request: Request, who: AnyPrincipal) -> Response:
    """The principal of the request, with its scopes and namespaces."""
    session = _session(request)
    namespaces = who.visibility.patterns
    token = None if session is None else csrf_token(session)
    return JsonResponse(_session_document(who.name, sorted(who.scopes), namespaces, who.key_id is not None, token))


@router.delete(
    "/session", status_code=204, responses={**json_responses({}, 204), 204: {"description": "The session is closed."}}
)
async def log_out(request: Request, who: AnyPrincipal) -> Response:
    """Close the session of the request."""
    authenticator: Authenticator = request.app.state.authenticator
    secret = _session(request)
    key = None if secret is None else await authenticator.call(authenticator.store.sessions.check, secret)
    if secret is None or key is None:
        raise NotAuthenticated()
    await authenticator.call(authenticator.store.sessions.close, secret, key, who.actor)
    authenticator.forget(secret)
    answer = Response(status_code=204)
    answer.delete_cookie(
        authenticator.cookie,
        path=authenticator.cookie_path,
        secure=authenticator.secures_cookie(request),
        httponly=True,
    )
    return answer


async def _body(request: Request) -> bytes:
    """Read a body that is long enough for a key: the sender is not authenticated yet."""
    body = b""
    try:
        async with asyncio.timeout(_MAX_SECONDS):
            async for piece in request.stream():
                body += piece
                if len(body) > _MAX_BYTES:
                    raise HttpProblem(413, "body_too_long", f"A key is at most {_MAX_BYTES} bytes.")
    except TimeoutError:
        raise HttpProblem(408, "body_too_slow", "The body did not arrive in time.") from None
    return body


def _key_in(body: bytes) -> str:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        document = None
    key = document.get("key") if isinstance(document, dict) else None
    if not isinstance(key, str):
        raise HttpProblem(422, "request_invalid", 'The request cannot be read: send {"key": "hw_…"}.')
    return key


def _session(request: HTTPConnection) -> str | None:
    authenticator: Authenticator = request.app.state.authenticator
    return authenticator.credential_of(request).session


def _session_document(
    name: str, scopes: Iterable[Scope], namespaces: Iterable[str], key_required: bool, token: str | None
) -> dict[str, object]:
    return {
        "name": name,
        "scopes": [str(scope) for scope in scopes],
        "namespaces": list(namespaces),
        "key_required": key_required,
        "csrf_token": token,
    }
