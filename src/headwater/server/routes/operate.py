"""For whoever looks after the server: is it alive, is it ready, what does it measure."""

from __future__ import annotations

import time
from typing import Any

from fastapi import APIRouter, Request, Response

from headwater.server.app.metrics import CONTENT_TYPE, EDGES, NODES, exposition
from headwater.server.app.openapi_schemas import file_responses, json_responses
from headwater.server.app.problems import HttpProblem, error_response
from headwater.server.app.responses import JsonResponse
from headwater.server.app.service import CurrentService, FullReader, Service

router = APIRouter(tags=["Operation"])
_COUNT_SECONDS = 15.0
_HEALTH = {"type": "object", "required": ["status"], "properties": {"status": {"type": "string"}}}
_STATUS_SCHEMA: dict[str, Any] = {
    "description": "The state of the server.",
    "content": {"application/json": {"schema": _HEALTH}},
}


@router.get("/health/live", responses={200: _STATUS_SCHEMA})
async def live() -> Response:
    """The process runs."""
    return JsonResponse({"status": "live"})


@router.get("/health/ready", responses={200: _STATUS_SCHEMA, 503: json_responses(_HEALTH, 200, 503)[503]})
async def ready(request: Request, service: CurrentService) -> Response:
    """It takes requests: the store answers and can be written, and nobody has asked the server to stop."""
    if service.draining:
        return error_response(request, HttpProblem(503, "draining", "The server has been asked to stop."))
    problem = await service.readiness.problem()
    return JsonResponse({"status": "ready"}) if problem is None else error_response(request, problem)


@router.get(
    "/metrics", response_class=Response,
    responses=file_responses(["text/plain"]),
)  # fmt: skip
async def metrics(service: CurrentService, who: FullReader) -> Response:
    """What is measured, as Prometheus reads it."""
    await _count(service)
    return Response(exposition(), media_type=CONTENT_TYPE)


async def _count(service: Service) -> None:
    """The graph is counted now and then: to count a million edges takes longer than to ask about one."""
    if time.monotonic() < service.count_again_at:
        return
    service.count_again_at = time.monotonic() + _COUNT_SECONDS
    counted = await service.call(service.store.pages.counts)
    NODES.set(counted.datasets + counted.jobs)
    EDGES.set(counted.edges)
