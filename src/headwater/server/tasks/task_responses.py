"""Starts and cancels tasks: the response says where to poll, and the audit log records who did it."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType

from fastapi import Response

from headwater.errors import StoreError
from headwater.model.tasks import Task, TaskState
from headwater.server.access.principal import Principal
from headwater.server.app.openapi_schemas import schema_of
from headwater.server.app.responses import JsonResponse
from headwater.server.app.service import Service
from headwater.server.tasks.tasks import STORE_VARIABLE, Confinement
from headwater.store.log.audit import Deed
from headwater.store.log.audit_writer import deed

TASK_RESPONSE: dict[str, object] = {
    "description": "A task.",
    "content": {"application/json": {"schema": schema_of(Task)}},
}


STARTED, CANCELLED = "task.started", "task.cancelled"


async def start(
    service: Service,
    who: Principal,
    kind: str,
    module: ModuleType,
    task_input: Mapping[str, object],
    *,
    alone: bool = False,
    confined: Confinement | None = None,
) -> Response:
    """Start a task. A ``confined`` task does not get the URL of the store."""
    owner = who.key_id or who.name
    about = {} if confined is not None else {STORE_VARIABLE: service.store_url}
    started = await service.call(
        service.tasks.start, kind, module.__name__, task_input, owner, alone=alone, confined=confined, **about
    )
    try:
        await service.threads.write(service.store.deeds.record, (who.actor, _audit_entry(STARTED, started)))
    except StoreError:  # without an audit entry the task must not run
        await service.call(service.tasks.cancel, started.id)
        raise
    return JsonResponse(started, 202, headers={"Location": f"{service.settings.root_path}/api/v1/tasks/{started.id}"})


async def cancel_task(service: Service, who: Principal, task: Task) -> Task:
    """Cancel a task. One that has ended does not change and gets no audit entry."""
    ended = await service.call(service.tasks.cancel, task.id)
    if task.state is TaskState.RUNNING and ended.state is TaskState.CANCELLED:
        await service.threads.write(service.store.deeds.record, (who.actor, _audit_entry(CANCELLED, ended)))
    return ended


def _audit_entry(event_type: str, task: Task) -> Deed:
    return deed(event_type, "task", task.id, kind=task.kind, owner=task.owner)
