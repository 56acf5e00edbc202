"""Routes of row queries: trace, forward trace and why-not.

Pair tables answer at once, where the run wrote them; otherwise a task replays the query on Spark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from fastapi import APIRouter, Request, Response

from headwater.engines.conditions import refuse_unknown_columns
from headwater.errors import QueryError
from headwater.model.access import Scope
from headwater.model.answers import Field
from headwater.model.askable import AskableRows
from headwater.model.names import Dataset
from headwater.rows.pairs.opening import LookupRoots
from headwater.server.access.principal import Principal
from headwater.server.app.openapi_schemas import json_responses, request_body, schema_of
from headwater.server.app.problems import HttpProblem
from headwater.server.app.responses import JsonResponse
from headwater.server.app.service import CurrentService, FullReader, Service
from headwater.server.routes.parameters import DatasetParameter, NamespaceParameter, dataset_reference
from headwater.server.rows import run_rows
from headwater.server.rows.audit import record_read
from headwater.server.rows.lookup import look_up
from headwater.server.rows.request_models import (
    ForwardRequest,
    RowSelection,
    TraceRequest,
    WhyNotRequest,
    parse_request,
)
from headwater.server.rows.run_rows import RunRows
from headwater.server.rows.schemas import TRACED_ROWS
from headwater.server.tasks import row_task
from headwater.server.tasks.confinement import StoreChannelServer, TaskLimits
from headwater.server.tasks.task_responses import TASK_RESPONSE, start
from headwater.server.tasks.tasks import Confinement
from headwater.store.store import Store

router = APIRouter(tags=["Rows"])
LOOKUP = "rows.lookup"
"""The kind, in audit entries, of a query that pair tables answered."""


@router.get("/rows/askable", responses=json_responses(schema_of(AskableRows), 200, 400, 404, 409, 422))
async def askable(
    service: CurrentService, who: FullReader, dataset: DatasetParameter, namespace: NamespaceParameter = None
) -> Response:
    """Which row queries a dataset supports: by which columns, at once or on Spark, or why not."""
    detail = await service.call(service.store.dataset, dataset_reference(dataset, namespace))
    return await service.respond(run_rows.askable, service.store, detail, _roots(service))


@router.post(
    "/rows/trace",
    responses={**json_responses(TRACED_ROWS, 200, 400, 404, 408, 409, 413, 415, 422), 202: TASK_RESPONSE},
    openapi_extra=request_body(TraceRequest),
)
async def trace(request: Request, service: CurrentService, who: FullReader) -> Response:
    """Trace rows to their sources: a `TracedRows`. Without pair tables it starts a task, which requires `admin`."""
    async with service.body_reader.read(request) as body:
        selection = parse_request(TraceRequest, body)
    rows = await service.call(_run_rows, service.store, selection)
    answer = await service.call(look_up, rows, selection, _roots(service))
    if answer is not None:
        await record_read(service, who, LOOKUP, answer, selection.columns)
        return JsonResponse(answer)
    _require_admin(who)
    output = _replayable(rows)
    _check_columns(selection, rows.columns, output)
    about = {"what": selection.run or [output.namespace, output.name], "depth": selection.depth}
    return await _start_task(service, who, row_task.TRACE, selection, about)


@router.post(
    "/rows/forward",
    status_code=202,
    responses={**json_responses({}, 202, 400, 404, 408, 409, 413, 415, 422), 202: TASK_RESPONSE},
    openapi_extra=request_body(ForwardRequest),
)
async def forward(request: Request, service: CurrentService, who: FullReader) -> Response:
    """Trace rows forward, in a task whose result is a `ForwardRows`. Requires `admin`."""
    async with service.body_reader.read(request) as body:
        selection = parse_request(ForwardRequest, body)
    detail = await service.call(service.store.dataset, dataset_reference(selection.dataset, selection.namespace))
    _require_admin(who)
    source = detail.summary.dataset
    _check_columns(selection, detail.schema, source)
    about = {"source": [source.namespace, source.name], "depth": selection.depth}
    return await _start_task(service, who, row_task.FORWARD, selection, about)


@router.post(
    "/rows/why-not",
    status_code=202,
    responses={**json_responses({}, 202, 400, 404, 408, 409, 413, 415, 422), 202: TASK_RESPONSE},
    openapi_extra=request_body(WhyNotRequest),
)
async def why_not(request: Request, service: CurrentService, who: FullReader) -> Response:
    """Find the operator that dropped rows of a source, in a task whose result is a `WhyNotRows`. Requires `admin`."""
    async with service.body_reader.read(request) as body:
        selection = parse_request(WhyNotRequest, body)
    detail = await service.call(service.store.dataset, dataset_reference(selection.dataset, selection.namespace))
    _require_admin(who)
    output = _replayable(await service.call(run_rows.of_dataset, service.store, detail))
    source = dataset_reference(selection.source, selection.source_namespace)
    _check_columns(selection, await service.call(_columns, service.store, source), source)
    about = {"what": [output.namespace, output.name], "source": str(source)}
    return await _start_task(service, who, row_task.WHY_NOT, selection, about)


def _roots(service: Service) -> LookupRoots:
    return LookupRoots.of_server(service.settings.rows_location, service.settings.rows_roots)


def _run_rows(store: Store, selection: TraceRequest) -> RunRows:
    if selection.run is not None:
        return run_rows.of_run(store, selection.run, selection.output or 0)
    assert selection.dataset is not None
    return run_rows.of_dataset(
        store, store.dataset(dataset_reference(selection.dataset, selection.namespace)), selection.output
    )


def _require_admin(who: Principal) -> None:
    """Only an admin may start Spark, which uses the whole machine for a while."""
    if Scope.ADMIN not in who.scopes:
        raise HttpProblem(403, "not_permitted", "No pair tables; replaying the query requires `admin`.")


def _replayable(rows: RunRows) -> Dataset:
    """Return the output if its query can be replayed. This is checked before Spark is started."""
    way = rows.on_spark()
    if rows.output is None or not way.possible:
        raise HttpProblem(409, "rows_not_kept", way.reason or "")
    return rows.output.dataset


def _columns(store: Store, source: str | Dataset) -> tuple[Field, ...]:
    """Return the columns of a source; none if it is named by the end of its name."""
    try:
        return store.dataset(source).schema
    except QueryError:
        return ()


def _check_columns(selection: RowSelection, columns: Sequence[Field], dataset: str | Dataset) -> None:
    refuse_unknown_columns(selection.columns, [column.name for column in columns], str(dataset))


async def _start_task(
    service: Service, who: Principal, kind: str, selection: RowSelection, about: Mapping[str, object]
) -> Response:
    settings = service.settings
    limits = TaskLimits(settings.row_task_seconds, settings.row_task_megabytes, settings.row_task_disk_megabytes)
    options = {
        "where": selection.spark_condition,
        "columns": selection.columns,  # for the audit entry when the result is read
        "rows": selection.rows,
        "master": settings.spark_master,
        "roots": [settings.rows_location, *settings.rows_roots] if settings.rows_roots else [],
        "limits": asdict(limits),
    }
    confined = Confinement(StoreChannelServer(service.store), limits)
    return await start(service, who, kind, row_task, {**about, **options}, confined=confined)
