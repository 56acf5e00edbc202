"""Problems that need attention first: failures, unbalanced ledgers, incomplete lineage, the latest runs.

All of it covers the newest runs, so that its time does not depend on the number of older ones. These are in the
lists of runs and of coverage.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TypeVarTuple

from sqlalchemy import Select, func, select

from headwater.formats.openlineage.facet_names import LEDGER_FACET
from headwater.model.overview import FailedRun, Overview, Totals
from headwater.model.pages import Coverage
from headwater.model.runs import Run, RunState
from headwater.store.access.view import View
from headwater.store.query.counts import coverage_of, namespaces
from headwater.store.query.final_events import final_events, run_facet
from headwater.store.query.runs import ListedRun, run_of, select_runs
from headwater.store.schema.tables import to_micros

_MAX_SHOWN = 10
_LOOKED_AT = 300
"""Runs of which it is asked whether their ledgers balance, which only their events say, and what they wrote."""
_LOOKED_AT_FOR_FAILURES = 20_000
_LATELY = timedelta(days=7)
_BEGINNING = 300
_ERROR = "errorMessage"
Columns = TypeVarTuple("Columns")


def overview(view: View, now: datetime) -> Overview:
    newest: Sequence[ListedRun] = view.execute(_newest_first(view, select_runs(view.tables)).limit(_LOOKED_AT)).all()
    return Overview(
        counts=_totals(view, now),
        failures=_failures(view),
        unbalanced=_unbalanced(view, newest),
        uncovered=_uncovered(view, newest),
        recent=tuple(run_of(row) for row in newest[:_MAX_SHOWN]),
    )


def _newest_first(view: View, query: Select[*Columns]) -> Select[*Columns]:
    run = view.tables.run
    return query.order_by(run.c.last_event_at.desc(), run.c.run_id)


def _totals(view: View, now: datetime) -> Totals:
    run = view.tables.run
    named = namespaces(view)
    every = select(func.count()).select_from(run)
    failed = every.where(run.c.state == RunState.FAIL, run.c.last_event_at >= to_micros(now - _LATELY))
    return Totals(
        datasets=sum(one.datasets for one in named),
        jobs=sum(one.jobs for one in named),
        runs=view.scalar(every) or 0,
        failed=view.scalar(failed) or 0,
    )


def _failures(view: View) -> tuple[FailedRun, ...]:
    run = view.tables.run
    looked_at = _newest_first(view, select(run.c.id, run.c.state, run.c.last_event_at, run.c.run_id))
    newest = looked_at.limit(_LOOKED_AT_FOR_FAILURES).subquery()
    failed = (
        select(newest.c.id)
        .where(newest.c.state == RunState.FAIL)
        .order_by(newest.c.last_event_at.desc(), newest.c.run_id)
        .limit(_MAX_SHOWN)
    )
    numbers = list(view.scalars(failed))
    messages = {number: run_facet(said, _ERROR).get("message") for number, said in final_events(view, numbers, _ERROR)}
    rows = view.execute(_newest_first(view, select_runs(view.tables).where(run.c.id.in_(numbers))))
    return tuple(FailedRun(run_of(row), _beginning(messages.get(row.id))) for row in rows)


def _beginning(message: object) -> str | None:
    return message[:_BEGINNING] if isinstance(message, str) else None


def _unbalanced(view: View, newest: Sequence[ListedRun]) -> tuple[Run, ...]:
    said = final_events(view, [row.id for row in newest], LEDGER_FACET)
    open_ledgers = {number for number, event in said if run_facet(event, LEDGER_FACET).get("balanced") is False}
    return tuple(run_of(row) for row in newest if row.id in open_ledgers)[:_MAX_SHOWN]


def _uncovered(view: View, newest: Sequence[ListedRun]) -> tuple[Coverage, ...]:
    dataset = view.tables.dataset
    written = _written(view, newest)
    listed = view.id_table("ids")
    query = select(dataset).join(listed, listed.c.id == dataset.c.id).where(dataset.c.is_job == 0)
    rows = {row.id: row for row in view.execute(query, {"ids": view.id_list(written)})}
    covered = coverage_of(view, [rows[number] for number in written if number in rows])
    return tuple(one for one in covered if one.unknown or one.gaps or one.complete is False)[:_MAX_SHOWN]


def _written(view: View, newest: Sequence[ListedRun]) -> list[int]:
    """The datasets that these runs wrote, the last written first and then by name."""
    dataset, run_dataset = view.tables.dataset, view.tables.run_dataset
    place = {row.id: number for number, row in enumerate(newest)}
    listed = view.id_table("ids")
    query = (
        select(run_dataset.c.run_id, dataset.c.canonical_id)
        .join(listed, listed.c.id == run_dataset.c.run_id)
        .join(dataset, dataset.c.id == run_dataset.c.dataset_id)
        .where(run_dataset.c.direction == "output")
        .order_by(dataset.c.namespace, dataset.c.name)
    )
    rows = list(view.execute(query, {"ids": view.id_list(place)}))
    return list(dict.fromkeys(row.canonical_id for row in sorted(rows, key=lambda row: place[row.run_id])))
