"""The log: who did what, and the proof that nothing of it was changed."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from headwater.model.audit import AuditEntry
from headwater.model.log import ConsistencyProof, InclusionProof, LogKey, SignedCheckpoint, Verified
from headwater.server.app.openapi_schemas import COMPONENTS, answers, page_of, schema_of, with_members
from headwater.server.app.problems import Problem
from headwater.server.app.responses import Json
from headwater.server.app.service import FullReader, Reader, Serving
from headwater.server.routes.asking import Cursor, Limit, Text
from headwater.server.tasks import verify_task
from headwater.server.tasks.starting import TASK, start
from headwater.store.query.cursors import decode, page

router = APIRouter(tags=["Proof"])
Entries = Annotated[int, Query(ge=0, le=2**62)]
COMPONENTS["VerifiedStore"] = with_members(Verified, holds={"const": True})  # what a task ends with
Before = Annotated[int | None, Query(ge=0, le=2**62, description="Only what comes before it in the log.")]
Size = Annotated[int | None, Query(ge=0, le=2**62, description="Of the log; all of it unless told.")]


@router.get("/audit", responses=answers(page_of(AuditEntry), 200, 400, 422))
async def audit(
    serving: Serving, who: Reader, event_type: Text = None, actor: Text = None, resource: Text = None,
    correlation_id: Text = None, before: Before = None, cursor: Cursor = None, limit: Limit = 100,
) -> Response:  # fmt: skip
    """The audit log, the newest entries first."""
    after = decode(cursor, int)
    found = await serving.ask(
        serving.seen_by(who).audit,
        event_type=event_type,
        actor=actor,
        resource=resource,
        correlation_id=correlation_id,
        before=before if after is None else max(after[0], 0),
        limit=limit + 1,
    )
    return Json(page(found, limit, lambda entry: (entry.seq,)))


@router.get("/log/checkpoint", responses=answers(schema_of(SignedCheckpoint), 200, 404))
async def checkpoint(serving: Serving, who: FullReader) -> Response:
    """The newest checkpoint: size and root of the log, signed."""
    found = await serving.ask(serving.store.checkpoints, limit=1)
    if not found:
        raise Problem(404, "no_checkpoint", "The log was never signed: `headwater checkpoint`.")
    return Json(found[0])


@router.get("/log/checkpoints", responses=answers(page_of(SignedCheckpoint), 200, 400, 422))
async def checkpoints(
    serving: Serving, who: FullReader, before: Before = None, cursor: Cursor = None, limit: Limit = 100
) -> Response:
    """All checkpoints that were signed, the newest first."""
    after = decode(cursor, int)
    before = before if after is None else max(after[0], 0)
    found = await serving.ask(serving.store.checkpoints, before=before, limit=limit + 1)
    return Json(page(found, limit, lambda one: (one.size,)))


@router.get("/log/keys", responses=answers(page_of(LogKey), 200))
async def keys(serving: Serving, who: FullReader) -> Response:
    """The public keys that signed for the log, the first one first, each with the entry from which on it did."""
    reigns = await serving.ask(serving.store.signing_keys)
    return Json({"items": [LogKey(reign.seq, str(reign.key)) for reign in reigns], "next": None})


@router.post("/log/verify", status_code=202, responses={**answers({}, 202, 422), 202: TASK})
async def verify(
    serving: Serving,
    who: FullReader,
    events: Annotated[bool, Query(description="The events too, not only the log.")] = True,
    graph: Annotated[bool, Query(description="Compare the graph with a fresh fold of all events.")] = True,
    records: Annotated[bool, Query(description="Compare the records, hot and archived, with the log.")] = True,
) -> Response:
    """Recompute the whole store: a task, whose result is a `VerifiedStore`, or a problem with the first thing that does
    not hold. One at a time."""
    return await start(
        serving, who, verify_task.KIND, verify_task, {"events": events, "graph": graph, "records": records}, alone=True
    )


@router.get("/log/proof", responses=answers(schema_of(InclusionProof), 200, 400, 422))
async def proof(serving: Serving, who: Reader, seq: Entries, size: Size = None) -> Response:
    """That an entry is in the log of `size` entries."""
    return await serving.answer(serving.seen_by(who).inclusion, seq, size)


@router.get("/log/consistency", responses=answers(schema_of(ConsistencyProof), 200, 400, 422))
async def consistency(serving: Serving, who: Reader, old: Entries, new: Size = None) -> Response:
    """That the log of `new` entries begins with the log of `old`."""
    return await serving.answer(serving.seen_by(who).consistency, old, new)
