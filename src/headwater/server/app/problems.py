"""Error responses as RFC 9457 problem details, each with a stable ``code`` for programs.

What a key may not see is a 404, like anything that does not exist. The text of unexpected errors never leaves the
server; it is in the log, under the request id.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import TypeVar

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from headwater import errors
from headwater.server.app.responses import encode_json

_log = logging.getLogger("headwater.server")
MEDIA_TYPE = "application/problem+json"
_MAX_FAULTS = 20
_T = TypeVar("_T")


class HttpProblem(Exception):
    """An error response, raised anywhere below a route. ``more`` are members besides the standard ones."""

    def __init__(
        self, status: int, code: str, detail: str, headers: Mapping[str, str] | None = None, **more: object
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.headers = dict(headers or {})
        self.more = more


STATUS: dict[type[errors.HeadwaterError], int] = {
    errors.EventRefused: 400,
    errors.ProvenanceInvalid: 422,
    errors.QueryError: 400,
    errors.ConditionRefused: 422,
    errors.UnknownDataset: 404,
    errors.AmbiguousDataset: 409,
    errors.UnknownColumn: 404,
    errors.UnknownPartition: 404,
    errors.UnknownRun: 404,
    errors.UnknownJob: 404,
    errors.UnknownEvent: 404,
    errors.NoEvidence: 404,
    errors.AccessError: 403,
    errors.NotAuthenticated: 401,
    errors.RateExceeded: 429,
    errors.UnknownAccessKey: 404,
    errors.LastAdminKey: 409,
    errors.AccessKeyInvalid: 422,
    errors.UnknownRoot: 404,
    errors.RowsError: 409,
    errors.EngineError: 409,
    errors.RecordsError: 503,
    errors.ExchangeError: 400,
    errors.FileRefused: 503,
    errors.AssuranceError: 409,
    errors.StoreError: 503,
    errors.AuditBroken: 409,
}
"""Status by the nearest base class; an error without one is a bug, and so a 500."""

_PUBLIC_DETAILS: dict[type[errors.HeadwaterError], str | None] = {
    errors.StoreError: "The store failed. See the server's log.",
    errors.StoreFull: "The store is full: its database has no space left.",
    errors.AuditBroken: None,  # its own text is safe: it names an entry, nothing else
    errors.EngineError: "The rows cannot be read.",
    errors.RecordsError: "The record archive cannot be used. See the server's log.",
    errors.FileRefused: "The server cannot write the file. See its log.",
    errors.KeyUnusable: "The server cannot use its signing key. See its log.",
    errors.AnchorUnusable: "An anchor cannot be used. See the server's log.",
}
"""Public texts for errors whose own text names URLs and files of the server."""


def code_of(kind: type[errors.HeadwaterError]) -> str:
    """`UnknownDataset` → `unknown_dataset`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind.__name__).lower()


def problem_of(error: errors.HeadwaterError) -> HttpProblem:
    status = _by_nearest_class(type(error), STATUS) or 500
    public = _by_nearest_class(type(error), _PUBLIC_DETAILS)
    detail = public or (str(error) if status < 500 else "Internal server error. See the server's log.")
    headers = {"Retry-After": "5"} if status == 503 else {}
    if status == 401:
        headers = {"WWW-Authenticate": 'Bearer realm="headwater"'}
    if isinstance(error, errors.RateExceeded):
        headers = {"Retry-After": str(math.ceil(error.retry_after))}
    return HttpProblem(status, code_of(type(error)), detail, headers, **_extra_members(error, status))


def _extra_members(error: errors.HeadwaterError, status: int) -> dict[str, object]:
    """Return members that a program would otherwise have to parse from the detail.

    ``about`` has the attributes of the error, where its message leaves the server too.
    """
    if members := _members(error):
        return members
    public = _by_nearest_class(type(error), _PUBLIC_DETAILS)
    about = {} if status >= 500 or public else vars(error)
    return {"about": about} if about else {}


def _members(error: errors.HeadwaterError) -> dict[str, object]:
    if isinstance(error, errors.EventRefused):
        return {"path": error.path, "reason": error.reason}
    if isinstance(error, errors.ConditionRefused):
        return {"culprit": error.culprit}
    if isinstance(error, errors.AuditBroken):
        return {"entry": error.seq, "reason": error.reason}
    if isinstance(error, errors.EvidenceBroken):
        return {"what": error.what, "reason": error.reason}
    return {}


def _by_nearest_class(kind: type[errors.HeadwaterError], table: Mapping[type[errors.HeadwaterError], _T]) -> _T | None:
    bases = (base for base in kind.__mro__ if issubclass(base, errors.HeadwaterError))
    return next((table[base] for base in bases if base in table), None)


def problem_response(problem: HttpProblem, instance: str, request_id: str) -> Response:
    body = {
        "type": f"urn:headwater:problem:{problem.code}",
        "title": HTTPStatus(problem.status).phrase,
        "status": problem.status,
        "detail": problem.detail,
        "instance": instance,
        "code": problem.code,
        "request_id": request_id,
    }
    return Response(encode_json({**body, **problem.more}), problem.status, problem.headers, MEDIA_TYPE)


def _response_for(request: Request, problem: HttpProblem) -> Response:
    return problem_response(problem, request.scope["raw_path"].decode("ascii", "replace"), request.state.request_id)


def error_response(request: Request, error: HttpProblem | errors.HeadwaterError) -> Response:
    if isinstance(error, HttpProblem):
        return _response_for(request, error)
    problem = problem_of(error)
    if problem.status >= 500:
        _log.error("%s", error, extra={"request_id": request.state.request_id, "code": problem.code})
    return _response_for(request, problem)


def install(app: FastAPI) -> None:
    @app.exception_handler(HttpProblem)
    async def handle_problem(request: Request, problem: HttpProblem) -> Response:
        return error_response(request, problem)

    @app.exception_handler(errors.HeadwaterError)
    async def handle_error(request: Request, error: errors.HeadwaterError) -> Response:
        return error_response(request, error)

    @app.exception_handler(RequestValidationError)
    async def handle_validation_error(request: Request, error: RequestValidationError) -> Response:
        faults = [
            {"where": ".".join(str(step) for step in fault["loc"]), "reason": str(fault["msg"])}
            for fault in error.errors()[:_MAX_FAULTS]
        ]
        reasons = "; ".join(f"{fault['where']}: {fault['reason']}" for fault in faults[:3])
        return _response_for(
            request, HttpProblem(422, "request_invalid", f"The request cannot be read: {reasons}.", faults=faults)
        )

    @app.exception_handler(HTTPException)
    async def handle_http_error(request: Request, error: HTTPException) -> Response:
        phrase = HTTPStatus(error.status_code).phrase
        code = re.sub(r"\W+", "_", phrase.lower())
        details = {404: "Not found.", 405: "Method not allowed."}
        problem = HttpProblem(error.status_code, code, details.get(error.status_code, f"{phrase}."), error.headers)
        return _response_for(request, problem)
