"""Routes of the audit log and its proofs."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from headwater.model.audit import AuditEntry
from headwater.model.log import ConsistencyProof, InclusionProof, LogKey, SignedCheckpoint, Verified
from headwater.server.app.openapi_schemas import COMPONENTS, json_responses, page_of, schema_of, with_members
from headwater.server.app.problems import HttpProblem
from headwater.server.app.responses import JsonResponse
from headwater.server.app.service import CurrentService, FullReader, Reader
from headwater.server.routes.parameters import Cursor, Limit, Text
from headwater.server.tasks import verify_task
from headwater.server.tasks.task_responses import TASK_RESPONSE, start
from headwater.store.query.cursors import decode, page

router = APIRouter(tags=["Proof"])
Entries = Annotated[int, Query(ge=0, le=2**62)]
COMPONENTS["VerifiedStore"] = with_members(Verified, holds={"const": True})  # the result of a verify task
Before = Annotated[int | None, Query(ge=0, le=2**62, description="Only what comes before it in the log.")]
Size = Annotated[int | None, Query(ge=0, le=2**62, description="Size of the log; the whole log by default.")]


@router.get("/audit", responses=json_responses(page_of(AuditEntry), 200, 400, 422))
async def audit(
    service: CurrentService, who: Reader, event_type: Text = None, actor: Text = None, resource: Text = None,
    correlation_id: Text = None, before: Before = None, cursor: Cursor = None, limit: Limit = 100,
) -> Response:  # fmt: skip
    """The audit log, newest entries first."""
    after = decode(cursor, int)
    result = await service.call(
        service.store_for(who).audit,
        event_type=event_type,
        actor=actor,
        resource=resource,
        correlation_id=correlation_id,
        before=before if after is None else max(after[0], 0),
        limit=limit + 1,
    )
    return JsonResponse(page(result, limit, lambda entry: (entry.seq,)))


@router.get("/log/checkpoint", responses=json_responses(schema_of(SignedCheckpoint), 200, 404))
async def checkpoint(service: CurrentService, who: FullReader) -> Response:
    """The newest checkpoint: size and root of the log, signed."""
    result = await service.call(service.store.checkpoints, limit=1)
    if not result:
        raise HttpProblem(404, "no_checkpoint", "The log was never signed: run `headwater checkpoint`.")
    return JsonResponse(result[0])


@router.get("/log/checkpoints", responses=json_responses(page_of(SignedCheckpoint), 200, 400, 422))
async def checkpoints(
    service: CurrentService, who: FullReader, before: Before = None, cursor: Cursor = None, limit: Limit = 100
) -> Response:
    """All signed checkpoints, newest first."""
    after = decode(cursor, int)
    before = before if after is None else max(after[0], 0)
    result = await service.call(service.store.checkpoints, before=before, limit=limit + 1)
    return JsonResponse(page(result, limit, lambda checkpoint: (checkpoint.size,)))


@router.get("/log/keys", responses=json_responses(page_of(LogKey), 200))
async def keys(service: CurrentService, who: FullReader) -> Response:
    """The public keys that signed the log, oldest first, each with the first entry that it covers."""
    periods = await service.call(service.store.signing_keys)
    return JsonResponse({"items": [LogKey(period.seq, str(period.key)) for period in periods], "next": None})


@router.post("/log/verify", status_code=202, responses={**json_responses({}, 202, 422), 202: TASK_RESPONSE})
async def verify(
    service: CurrentService,
    who: FullReader,
    events: Annotated[bool, Query(description="Verify the events too, not only the log.")] = True,
    graph: Annotated[bool, Query(description="Compare the graph with a rebuild from all events.")] = True,
    records: Annotated[bool, Query(description="Compare the records, recent and archived, with the log.")] = True,
) -> Response:
    """Verify the whole store in a task. Its result is a `VerifiedStore`, or a problem that names the first failure.

    Only one such task runs at a time."""
    return await start(
        service, who, verify_task.KIND, verify_task, {"events": events, "graph": graph, "records": records}, alone=True
    )


@router.get("/log/proof", responses=json_responses(schema_of(InclusionProof), 200, 400, 422))
async def proof(service: CurrentService, who: Reader, seq: Entries, size: Size = None) -> Response:
    """Inclusion proof: the log of `size` entries contains the entry."""
    return await service.respond(service.store_for(who).inclusion, seq, size)


@router.get("/log/consistency", responses=json_responses(schema_of(ConsistencyProof), 200, 400, 422))
async def consistency(service: CurrentService, who: Reader, old: Entries, new: Size = None) -> Response:
    """Consistency proof: the log of `new` entries starts with the log of `old` entries."""
    return await service.respond(service.store_for(who).consistency, old, new)
