"""For whoever looks after the server: is it alive, is it ready, what does it measure."""

from __future__ import annotations

import time
from typing import Any

from fastapi import APIRouter, Request, Response

from headwater.server.app.metrics import CONTENT_TYPE, EDGES, NODES, exposition
from headwater.server.app.openapi_schemas import answers, answers_text
from headwater.server.app.problems import Problem, answer_to
from headwater.server.app.responses import Json
from headwater.server.app.service import FullReader, Service, Serving

router = APIRouter(tags=["Operation"])
_COUNT_SECONDS = 15.0
_HEALTH = {"type": "object", "required": ["status"], "properties": {"status": {"type": "string"}}}
_TOLD: dict[str, Any] = {
    "description": "The state of the server.",
    "content": {"application/json": {"schema": _HEALTH}},
}


@router.get("/health/live", responses={200: _TOLD})
async def live() -> Response:
    """The process runs."""
    return Json({"status": "live"})


@router.get("/health/ready", responses={200: _TOLD, 503: answers(_HEALTH, 200, 503)[503]})
async def ready(request: Request, serving: Serving) -> Response:
    """It takes requests: the store answers and can be written, and nobody has asked the server to stop."""
    if serving.draining:
        return answer_to(request, Problem(503, "draining", "The server has been asked to stop."))
    problem = await serving.readiness.problem()
    return Json({"status": "ready"}) if problem is None else answer_to(request, problem)


@router.get(
    "/metrics", response_class=Response,
    responses=answers_text(["text/plain"]),
)  # fmt: skip
async def metrics(serving: Serving, who: FullReader) -> Response:
    """What is measured, as Prometheus reads it."""
    await _count(serving)
    return Response(exposition(), media_type=CONTENT_TYPE)


async def _count(serving: Service) -> None:
    """The graph is counted now and then: to count a million edges takes longer than to ask about one."""
    if time.monotonic() < serving.count_again_at:
        return
    serving.count_again_at = time.monotonic() + _COUNT_SECONDS
    counted = await serving.ask(serving.store.pages.counts)
    NODES.set(counted.datasets + counted.jobs)
    EDGES.set(counted.edges)
