"""What goes wrong, as RFC 9457 problems: each with a stable ``code`` that a program can act on.

What one may not see does not exist for one, so it is a 404 like anything that is not there. The text of errors that are
not ours never leaves the server; it is in the log, under the request's id.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from headwater import errors
from headwater.server.app.responses import encoded

_log = logging.getLogger("headwater.server")
MEDIA_TYPE = "application/problem+json"
_MOST_FAULTS = 20


class Problem(Exception):
    """Raised anywhere below a route; ``more`` are members of the answer beside the standard ones."""

    def __init__(
        self, status: int, code: str, detail: str, headers: Mapping[str, str] | None = None, **more: Any
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
"""By the nearest class above; an error of any other kind is ours to have foreseen, and so a 500."""

_UNSAID: dict[type[errors.HeadwaterError], str | None] = {
    errors.StoreError: "The store does not answer as it should. The server's log says why.",
    errors.StoreFull: "The store is full: there is no space left for its database.",
    errors.AuditBroken: None,  # says which entry it is, and no more
    errors.EngineError: "The rows cannot be read.",
    errors.RecordsError: "The archive of records cannot be used. The server's log says why.",
    errors.FileRefused: "The server cannot write the file. Its log says why.",
    errors.KeyUnusable: "The server cannot use its signing key. Its log says why.",
    errors.AnchorUnusable: "A second place for checkpoints cannot be used. The server's log says why.",
}
"""Errors whose own words name addresses and files of the server's."""


def code_of(kind: type[errors.HeadwaterError]) -> str:
    """`UnknownDataset` → `unknown_dataset`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind.__name__).lower()


def problem_of(error: errors.HeadwaterError) -> Problem:
    status = _nearest(type(error), STATUS) or 500
    unsaid = _nearest(type(error), _UNSAID)
    detail = unsaid or (str(error) if status < 500 else "The server failed. Its log says why.")
    headers = {"Retry-After": "5"} if status == 503 else {}
    if status == 401:
        headers = {"WWW-Authenticate": 'Bearer realm="headwater"'}
    if isinstance(error, errors.RateExceeded):
        headers = {"Retry-After": str(math.ceil(error.retry_after))}
    return Problem(status, code_of(type(error)), detail, headers, **_more(error, status))


def _more(error: errors.HeadwaterError, status: int) -> dict[str, Any]:
    """What a program would otherwise have to read out of a sentence; ``about`` are the error's own attributes, where
    its own words leave the server too."""
    if members := _members(error):
        return members
    about = {} if status >= 500 or _nearest(type(error), _UNSAID) else vars(error)
    return {"about": about} if about else {}


def _members(error: errors.HeadwaterError) -> dict[str, Any]:
    if isinstance(error, errors.EventRefused):
        return {"path": error.path, "reason": error.reason}
    if isinstance(error, errors.ConditionRefused):
        return {"culprit": error.culprit}
    if isinstance(error, errors.AuditBroken):
        return {"entry": error.seq, "reason": error.reason}
    if isinstance(error, errors.EvidenceBroken):
        return {"what": error.what, "reason": error.reason}
    return {}


def _nearest(kind: type, table: Mapping[type[errors.HeadwaterError], Any]) -> Any:
    return next((table[each] for each in kind.__mro__ if each in table), None)


def answer(problem: Problem, instance: str, request_id: str) -> Response:
    body = {
        "type": f"urn:headwater:problem:{problem.code}",
        "title": HTTPStatus(problem.status).phrase,
        "status": problem.status,
        "detail": problem.detail,
        "instance": instance,
        "code": problem.code,
        "request_id": request_id,
    }
    return Response(encoded({**body, **problem.more}), problem.status, problem.headers, MEDIA_TYPE)


def _answer(request: Request, problem: Problem) -> Response:
    return answer(problem, request.scope["raw_path"].decode("ascii", "replace"), request.state.request_id)


def answer_to(request: Request, error: Problem | errors.HeadwaterError) -> Response:
    if isinstance(error, Problem):
        return _answer(request, error)
    problem = problem_of(error)
    if problem.status >= 500:
        _log.error("%s", error, extra={"request_id": request.state.request_id, "code": problem.code})
    return _answer(request, problem)


def install(app: FastAPI) -> None:
    @app.exception_handler(Problem)
    async def told(request: Request, problem: Problem) -> Response:
        return answer_to(request, problem)

    @app.exception_handler(errors.HeadwaterError)
    async def ours(request: Request, error: errors.HeadwaterError) -> Response:
        return answer_to(request, error)

    @app.exception_handler(RequestValidationError)
    async def misasked(request: Request, error: RequestValidationError) -> Response:
        faults = [
            {"where": ".".join(str(step) for step in fault["loc"]), "reason": str(fault["msg"])}
            for fault in error.errors()[:_MOST_FAULTS]
        ]
        said = "; ".join(f"{fault['where']}: {fault['reason']}" for fault in faults[:3])
        return _answer(request, Problem(422, "request_invalid", f"The request cannot be read: {said}.", faults=faults))

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> Response:
        phrase = HTTPStatus(error.status_code).phrase
        code = re.sub(r"\W+", "_", phrase.lower())
        said = {404: "There is nothing at this address.", 405: "This address does not take this method."}
        problem = Problem(error.status_code, code, said.get(error.status_code, f"{phrase}."), error.headers)
        return _answer(request, problem)
