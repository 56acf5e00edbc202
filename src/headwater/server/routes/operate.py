"""Routes for operating the server: liveness, readiness and metrics."""

from __future__ import annotations

import time

from fastapi import APIRouter, Request, Response

from headwater.server.app.metrics import CONTENT_TYPE, EDGES, NODES, exposition
from headwater.server.app.openapi_schemas import Schema, file_responses, json_responses
from headwater.server.app.problems import HttpProblem, error_response
from headwater.server.app.responses import JsonResponse
from headwater.server.app.service import CurrentService, FullReader, Service

router = APIRouter(tags=["Operation"])
_COUNT_SECONDS = 15.0
_HEALTH: Schema = {"type": "object", "required": ["status"], "properties": {"status": {"type": "string"}}}
_STATUS_SCHEMA: dict[str, object] = {
    "description": "The state of the server.",
    "content": {"application/json": {"schema": _HEALTH}},
}


@router.get("/health/live", responses={200: _STATUS_SCHEMA})
async def live() -> Response:
    """Liveness: the process is running."""
    return JsonResponse({"status": "live"})


@router.get("/health/ready", responses={200: _STATUS_SCHEMA, 503: json_responses(_HEALTH, 200, 503)[503]})
async def ready(request: Request, service: CurrentService) -> Response:
    """Readiness: the store can be read and written, and the server is not shutting down."""
    if service.draining:
        return error_response(request, HttpProblem(503, "draining", "The server is shutting down."))
    problem = await service.readiness.problem()
    return JsonResponse({"status": "ready"}) if problem is None else error_response(request, problem)


@router.get(
    "/metrics", response_class=Response,
    responses=file_responses(["text/plain"]),
)  # fmt: skip
async def metrics(service: CurrentService, who: FullReader) -> Response:
    """Metrics in the format of Prometheus."""
    await _count(service)
    return Response(exposition(), media_type=CONTENT_TYPE)


async def _count(service: Service) -> None:
    """Count the graph, but not on every scrape: counting a million edges takes long."""
    if time.monotonic() < service.count_again_at:
        return
    service.count_again_at = time.monotonic() + _COUNT_SECONDS
    counts = await service.call(service.store.pages.counts)
    NODES.set(counts.datasets + counts.jobs)
    EDGES.set(counts.edges)
