"""Routes of tasks: progress, result and cancelling. A key sees its own tasks; an admin sees all."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter, Response

from headwater.model.access import Scope
from headwater.model.tasks import Task
from headwater.server.access.principal import Principal
from headwater.server.app.openapi_schemas import json_responses, page_of, schema_of
from headwater.server.app.problems import HttpProblem
from headwater.server.app.responses import JsonResponse
from headwater.server.app.service import CurrentService, Reader, Service
from headwater.server.routes.parameters import Segment
from headwater.server.rows.audit import ROW_TASKS, record_read
from headwater.server.tasks.task_responses import cancel_task

router = APIRouter(tags=["Tasks"])


def may_see(task: Task, who: Principal) -> bool:
    return task.owner == (who.key_id or who.name) or (Scope.ADMIN in who.scopes and who.visibility.is_everything)


async def _visible_task(service: Service, who: Principal, number: str) -> Task:
    task = await service.call(service.tasks.task, number)
    if not may_see(task, who):
        raise HttpProblem(404, "unknown_task", "No such task.")
    return task


@router.get("/tasks", responses=json_responses(page_of(Task), 200))
async def tasks(service: CurrentService, who: Reader) -> Response:
    """All tasks, newest first, without their results."""
    result = [replace(task, result=None) for task in await service.call(service.tasks.all) if may_see(task, who)]
    return JsonResponse({"items": result, "next": None})


@router.get("/tasks/{task_id:name}", responses=json_responses(schema_of(Task), 200, 400, 404))
async def task(service: CurrentService, who: Reader, task_id: Segment) -> Response:
    """One task: its progress, and when it has ended its result or its problem."""
    return await _task_response(service, who, await _visible_task(service, who, task_id))


@router.delete("/tasks/{task_id:name}", responses=json_responses(schema_of(Task), 200, 400, 404))
async def cancel(service: CurrentService, who: Reader, task_id: Segment) -> Response:
    """Cancel a task. One that has ended does not change."""
    return await _task_response(
        service, who, await cancel_task(service, who, await _visible_task(service, who, task_id))
    )


async def _task_response(service: Service, who: Principal, task: Task) -> Response:
    """Return the task with its result; each reading of row values leaves an audit entry."""
    if task.result is not None and task.kind in ROW_TASKS:
        task_input = await service.call(service.tasks.input, task.id)
        columns = task_input.get("columns")
        selected = [str(column) for column in columns] if isinstance(columns, list) else []
        await record_read(service, who, task.kind, task.result, selected, task=task.id)
    return JsonResponse(task)
