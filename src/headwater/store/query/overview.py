"""What somebody should look at first: what failed, what does not add up, what is not known, what ran last.

All of it is asked of the newest runs, so that it takes as long however many there were before. What lies further back
is in the lists of runs and of coverage.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, func, select

from headwater.formats.openlineage.facet_names import LEDGER_FACET
from headwater.model.overview import FailedRun, Overview, Totals
from headwater.model.pages import Coverage
from headwater.model.runs import Run, RunState
from headwater.store.access.visibility import Veil, job_seen
from headwater.store.engine.arrays import id_list, id_table, is_postgresql
from headwater.store.query.counts import coverage_of, namespaces
from headwater.store.query.final_events import endings, run_facet
from headwater.store.query.runs import run_of, select_runs
from headwater.store.schema.tables import dataset, job, run, run_dataset, to_micros

_SHOWN = 10
_LOOKED_AT = 300
"""Runs of which it is asked whether their ledgers balance, which only their events say, and what they wrote."""
_LOOKED_AT_FOR_FAILURES = 20_000
_LATELY = timedelta(days=7)
_BEGINNING = 300
_ERROR = "errorMessage"


def overview(conn: Connection, now: datetime, veil: Veil | None = None) -> Overview:
    newest: Sequence[Row[Any]] = conn.execute(_newest_first(select_runs(veil)).limit(_LOOKED_AT)).all()
    return Overview(
        counts=_totals(conn, now, veil),
        failures=_failures(conn, veil),
        unbalanced=_unbalanced(conn, newest, veil),
        uncovered=_uncovered(conn, newest, veil),
        recent=tuple(run_of(row) for row in newest[:_SHOWN]),
    )


def _newest_first(query: Any) -> Any:
    return query.order_by(run.c.last_event_at.desc(), run.c.run_id)


def _totals(conn: Connection, now: datetime, veil: Veil | None) -> Totals:
    named = namespaces(conn, veil)
    every = select(func.count()).select_from(run)
    if veil is not None:
        every = every.join(job, job.c.id == run.c.job_id).where(veil.lets(job.c.namespace))
    failed = every.where(run.c.state == RunState.FAIL, run.c.last_event_at >= to_micros(now - _LATELY))
    return Totals(
        datasets=sum(one.datasets for one in named),
        jobs=sum(one.jobs for one in named),
        runs=conn.scalar(every) or 0,
        failed=conn.scalar(failed) or 0,
    )


def _failures(conn: Connection, veil: Veil | None) -> tuple[FailedRun, ...]:
    looked_at = _newest_first(select(run.c.id, run.c.state, run.c.last_event_at, run.c.run_id))
    if veil is not None:
        looked_at = looked_at.where(job_seen(veil, run.c.job_id))
    newest = looked_at.limit(_LOOKED_AT_FOR_FAILURES).subquery()
    failed = (
        select(newest.c.id)
        .where(newest.c.state == RunState.FAIL)
        .order_by(newest.c.last_event_at.desc(), newest.c.run_id)
        .limit(_SHOWN)
    )
    numbers = list(conn.scalars(failed))
    messages = {number: run_facet(said, _ERROR).get("message") for number, said in endings(conn, numbers, _ERROR, veil)}
    rows = conn.execute(_newest_first(select_runs(veil).where(run.c.id.in_(numbers))))
    return tuple(FailedRun(run_of(row), _beginning(messages.get(row.id))) for row in rows)


def _beginning(message: Any) -> str | None:
    return message[:_BEGINNING] if isinstance(message, str) else None


def _unbalanced(conn: Connection, newest: Sequence[Row[Any]], veil: Veil | None) -> tuple[Run, ...]:
    said = endings(conn, [row.id for row in newest], LEDGER_FACET, veil)
    open_ledgers = {number for number, event in said if run_facet(event, LEDGER_FACET).get("balanced") is False}
    return tuple(run_of(row) for row in newest if row.id in open_ledgers)[:_SHOWN]


def _uncovered(conn: Connection, newest: Sequence[Row[Any]], veil: Veil | None) -> tuple[Coverage, ...]:
    written = _written(conn, newest, veil)
    listed = id_table(is_postgresql(conn), "ids")
    query = select(dataset).join(listed, listed.c.id == dataset.c.id).where(dataset.c.is_job == 0)
    if veil is not None:
        query = query.where(veil.lets(dataset.c.namespace))
    rows = {row.id: row for row in conn.execute(query, {"ids": id_list(conn, written)})}
    covered = coverage_of(conn, [rows[number] for number in written if number in rows], veil)
    return tuple(one for one in covered if one.unknown or one.gaps or one.complete is False)[:_SHOWN]


def _written(conn: Connection, newest: Sequence[Row[Any]], veil: Veil | None) -> list[int]:
    """The datasets that these runs wrote, the last written first and then by name."""
    place = {row.id: number for number, row in enumerate(newest)}
    listed = id_table(is_postgresql(conn), "ids")
    query = (
        select(run_dataset.c.run_id, dataset.c.canonical_id)
        .join(listed, listed.c.id == run_dataset.c.run_id)
        .join(dataset, dataset.c.id == run_dataset.c.dataset_id)
        .where(run_dataset.c.direction == "output")
        .order_by(dataset.c.namespace, dataset.c.name)
    )
    if veil is not None:
        query = query.where(veil.lets(dataset.c.namespace))
    rows = list(conn.execute(query, {"ids": id_list(conn, place)}))
    return list(dict.fromkeys(row.canonical_id for row in sorted(rows, key=lambda row: place[row.run_id])))
