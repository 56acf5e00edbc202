"""Finding runs by the beginning of their ids, as they are copied out of a log."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Row, select

from headwater.model.names import Job
from headwater.model.pages import Hit, Match
from headwater.store.access.view import View
from headwater.store.query.search.matching import escaped, like
from headwater.store.schema.name_keys import key_of

LEAST = 4
"""So many characters at least: fewer are the beginning of too many."""
_NEWEST = 50_000
_MOST = 100


def find_runs(view: View, wanted: str) -> list[Hit]:
    """A whole id is found however old the run is, the beginning of one among the newest runs."""
    job, run = view.tables.job, view.tables.run
    if len(wanted) < LEAST:
        return []
    query = select(run.c.run_id, job.c.namespace, job.c.name).join(job, job.c.id == run.c.job_id)
    whole = view.execute(query.where(run.c.key == key_of(wanted))).all()
    rows = whole or _begun(view, wanted)
    return [_hit(row.run_id, Job(row.namespace, row.name), wanted) for row in rows]


def _begun(view: View, wanted: str) -> Sequence[Row[str, str, str]]:
    job, run = view.tables.job, view.tables.run
    runs = select(run.c.id, run.c.run_id, run.c.job_id, run.c.last_event_at)
    newest = runs.order_by(run.c.last_event_at.desc(), run.c.run_id).limit(_NEWEST).subquery()
    query = (
        select(newest.c.run_id, job.c.namespace, job.c.name)
        .join(job, job.c.id == newest.c.job_id)
        .where(like(view, newest.c.run_id, f"{escaped(wanted)}%"))
        .order_by(newest.c.last_event_at.desc(), newest.c.run_id)
        .limit(_MOST)
    )
    return view.execute(query).all()


def _hit(run_id: str, of: Job, wanted: str) -> Hit:
    match = Match.EXACT if run_id.lower() == wanted.lower() else Match.PREFIX
    return Hit(of, "run", match, 100.0, run_id=run_id)
