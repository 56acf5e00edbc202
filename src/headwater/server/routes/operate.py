"""For whoever looks after the server: is it alive, is it ready, what does it measure."""

from __future__ import annotations

import time
from typing import Any

from fastapi import APIRouter, Response

from headwater.errors import HeadwaterError
from headwater.server.answers import Json
from headwater.server.measures import CONTENT_TYPE, EDGES, NODES, exposition
from headwater.server.schemas import answers_text
from headwater.server.service import FullReader, Service, Serving

router = APIRouter(tags=["Operation"])
_COUNT_SECONDS = 15.0
_HEALTH = {"type": "object", "required": ["status"], "properties": {"status": {"type": "string"}}}
_TOLD: dict[str, Any] = {"description": "How it is.", "content": {"application/json": {"schema": _HEALTH}}}
"""No problem, whatever it is: whoever asks acts upon the status alone."""


@router.get("/health/live", responses={200: _TOLD})
async def live() -> Response:
    """The process runs."""
    return Json({"status": "live"})


@router.get("/health/ready", responses={200: _TOLD, 503: _TOLD})
async def ready(serving: Serving) -> Response:
    """It takes requests: the store answers, and nobody has asked it to stop."""
    if serving.draining:
        return Json({"status": "draining"}, 503)
    try:
        await serving.ask(serving.store.audit, limit=1)
    except HeadwaterError:
        return Json({"status": "store unavailable"}, 503)
    return Json({"status": "ready"})


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
