"""Where rows came from, what they became, why they are missing: by pair tables at once, where the run wrote them; else
by Spark, as a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request, Response

from headwater.engines.conditions import refuse_unknown_columns
from headwater.errors import QueryError
from headwater.model.access import Scope
from headwater.model.answers import Field
from headwater.model.askable import AskableRows
from headwater.model.names import Dataset
from headwater.rows.pairs.opening import LookupRoots
from headwater.server.access.principal import Principal
from headwater.server.app.openapi_schemas import accepts, answers, schema_of
from headwater.server.app.problems import Problem
from headwater.server.app.responses import Json
from headwater.server.app.service import FullReader, Service, Serving
from headwater.server.routes.asking import DatasetParameter, NamespaceParameter, named
from headwater.server.rows import run_rows
from headwater.server.rows.audit import record_read
from headwater.server.rows.lookup import look_up
from headwater.server.rows.questions import ForwardAsked, Meant, TraceAsked, WhyNotAsked, read_question
from headwater.server.rows.run_rows import KeptRows
from headwater.server.rows.schemas import TRACED
from headwater.server.tasks import row_task
from headwater.server.tasks.confinement import Limits, StoreAnswers
from headwater.server.tasks.starting import TASK, start
from headwater.server.tasks.tasks import Confined
from headwater.store.store import Store

router = APIRouter(tags=["Rows"])
LOOKUP = "rows.lookup"
"""In the audit log, beside the kinds of row tasks: by pair tables."""


@router.get("/rows/askable", responses=answers(schema_of(AskableRows), 200, 400, 404, 409, 422))
async def askable(
    serving: Serving, who: FullReader, dataset: DatasetParameter, namespace: NamespaceParameter = None
) -> Response:
    """What can be asked of a dataset's rows: by which columns, at once or on Spark, or why it cannot be."""
    detail = await serving.ask(serving.store.dataset, named(dataset, namespace))
    return await serving.answer(run_rows.askable, serving.store, detail, _roots(serving))


@router.post(
    "/rows/trace", responses={**answers(TRACED, 200, 400, 404, 408, 409, 413, 415, 422), 202: TASK},
    openapi_extra=accepts(TraceAsked),
)  # fmt: skip
async def trace(request: Request, serving: Serving, who: FullReader) -> Response:
    """Which rows the rows came from, a `TracedRows`. Where no pair tables can tell, a task is started (by an admin)."""
    async with serving.gate.body(request) as body:
        asked = read_question(TraceAsked, body)
    kept = await serving.ask(_kept, serving.store, asked)
    told = await serving.ask(look_up, kept, asked, _roots(serving))
    if told is not None:
        await record_read(serving, who, LOOKUP, told, asked.columns)
        return Json(told)
    _refuse_others(who)
    output = _replayable(kept)
    _refuse_unknown(asked, kept.columns, output)
    about = {"what": asked.run or [output.namespace, output.name], "depth": asked.depth}
    return await _ask_spark(serving, who, row_task.TRACE, asked, about)


@router.post(
    "/rows/forward", status_code=202, responses={**answers({}, 202, 400, 404, 408, 409, 413, 415, 422), 202: TASK},
    openapi_extra=accepts(ForwardAsked),
)  # fmt: skip
async def forward(request: Request, serving: Serving, who: FullReader) -> Response:
    """Which rows were made of rows of a dataset: a task (by an admin), whose result is a `ForwardRows`."""
    async with serving.gate.body(request) as body:
        asked = read_question(ForwardAsked, body)
    detail = await serving.ask(serving.store.dataset, named(asked.dataset, asked.namespace))
    _refuse_others(who)
    source = detail.summary.dataset
    _refuse_unknown(asked, detail.schema, source)
    about = {"source": [source.namespace, source.name], "depth": asked.depth}
    return await _ask_spark(serving, who, row_task.FORWARD, asked, about)


@router.post(
    "/rows/why-not", status_code=202, responses={**answers({}, 202, 400, 404, 408, 409, 413, 415, 422), 202: TASK},
    openapi_extra=accepts(WhyNotAsked),
)  # fmt: skip
async def why_not(request: Request, serving: Serving, who: FullReader) -> Response:
    """Which operator dropped rows of a source, and why: a task (by an admin), whose result is a `WhyNotRows`."""
    async with serving.gate.body(request) as body:
        asked = read_question(WhyNotAsked, body)
    detail = await serving.ask(serving.store.dataset, named(asked.dataset, asked.namespace))
    _refuse_others(who)
    output = _replayable(await serving.ask(run_rows.of_dataset, serving.store, detail))
    source = named(asked.source, asked.source_namespace)
    _refuse_unknown(asked, await serving.ask(_columns, serving.store, source), source)
    about = {"what": [output.namespace, output.name], "source": str(source)}
    return await _ask_spark(serving, who, row_task.WHY_NOT, asked, about)


def _roots(serving: Service) -> LookupRoots:
    return LookupRoots.of_server(serving.settings.rows_location, serving.settings.rows_roots)


def _kept(store: Store, asked: TraceAsked) -> KeptRows:
    if asked.run is not None:
        return run_rows.of_run(store, asked.run, asked.output or 0)
    assert asked.dataset is not None
    return run_rows.of_dataset(store, store.dataset(named(asked.dataset, asked.namespace)), asked.output)


def _refuse_others(who: Principal) -> None:
    """Spark takes the whole machine for a while."""
    if Scope.ADMIN not in who.scopes:
        raise Problem(403, "not_permitted", "No pair tables; replaying the query requires `admin`.")


def _replayable(kept: KeptRows) -> Dataset:
    """The output, if its query can be run again: known before Spark is started for it."""
    way = kept.on_spark()
    if kept.output is None or not way.possible:
        raise Problem(409, "rows_not_kept", way.reason or "")
    return kept.output.dataset


def _columns(store: Store, source: str | Dataset) -> tuple[Field, ...]:
    """None that are known, where it is named by the end of its name."""
    try:
        return store.dataset(source).schema
    except QueryError:
        return ()


def _refuse_unknown(asked: Meant, columns: Sequence[Field], dataset: str | Dataset) -> None:
    refuse_unknown_columns(asked.columns, [column.name for column in columns], str(dataset))


async def _ask_spark(serving: Service, who: Principal, kind: str, asked: Meant, about: Mapping[str, Any]) -> Response:
    settings = serving.settings
    limits = Limits(settings.row_task_seconds, settings.row_task_megabytes, settings.row_task_disk_megabytes)
    meant = {
        "where": asked.for_spark,
        "columns": asked.columns,  # for the audit entry of those who read the result
        "rows": asked.rows,
        "master": settings.spark_master,
        "roots": [settings.rows_location, *settings.rows_roots] if settings.rows_roots else [],
        "limits": asdict(limits),
    }
    confined = Confined(StoreAnswers(serving.store), limits)
    return await start(serving, who, kind, row_task, {**about, **meant}, confined=confined)
