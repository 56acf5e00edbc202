"""The jobs there are, and all that is known of one."""

from __future__ import annotations

from collections.abc import Collection

from rapidfuzz import fuzz, process
from sqlalchemy import func, select

from headwater.errors import UnknownJob
from headwater.formats.openlineage.visibility import visible_job_facets
from headwater.model.answers import LatestRun
from headwater.model.names import Dataset, Job
from headwater.model.pages import JobDetail, JobSummary
from headwater.model.runs import RunState
from headwater.store.access.view import View
from headwater.store.fold.descriptions import merged_facets
from headwater.store.query.cursors import Position, beyond
from headwater.store.query.runs import list_runs
from headwater.store.schema.name_keys import key_of
from headwater.store.schema.stored_rows import StoredJob, StoredRun
from headwater.store.schema.tables import from_micros

_RUNS_SHOWN = 10
_SUGGESTIONS = 5


def list_jobs(
    view: View,
    *,
    namespace: str | None = None,
    after: Position | None = None,
    limit: int = 100,
    offset: int = 0,
) -> list[JobSummary]:
    """By name."""
    job = view.tables.job
    query = select(job).order_by(job.c.namespace, job.c.name).limit(limit).offset(offset)
    if namespace is not None:
        query = query.where(job.c.namespace == namespace)
    if after is not None:
        query = query.where(beyond(after, job.c.namespace, job.c.name))
    rows = view.execute(query).all()
    latest = _latest_runs(view, [row.id for row in rows])
    return [_summary(row, latest.get(row.id)) for row in rows]


def list_jobs_by_id(view: View, ids: Collection[int]) -> list[JobSummary]:
    """By name."""
    job = view.tables.job
    rows = view.execute(select(job).where(job.c.id.in_(list(ids))).order_by(job.c.namespace, job.c.name)).all()
    latest = _latest_runs(view, [row.id for row in rows])
    return [_summary(row, latest.get(row.id)) for row in rows]


def describe_job(view: View, named: Job) -> JobDetail:
    job = view.tables.job
    row = view.execute(select(job).where(job.c.key == key_of(named.namespace, named.name))).first()
    if row is None or (not view.is_everything and not view.sees(row.namespace)):
        raise UnknownJob(str(named), _closest(view, named))
    newest = list_runs(view, job_name=row.name, namespace=row.namespace, limit=_RUNS_SHOWN)
    latest = _latest_runs(view, [row.id]).get(row.id)
    inputs, outputs = _uses(view, latest.id) if latest is not None else ((), ())
    facets = merged_facets([row.facets])
    if not view.is_everything:
        facets = visible_job_facets(facets, view.sees)
    return JobDetail(_summary(row, latest), facets, inputs, outputs, tuple(newest))


def latest_uses(view: View, named: Collection[Job]) -> dict[Job, tuple[tuple[Dataset, ...], tuple[Dataset, ...]]]:
    """What the latest run of each job read and wrote. One that never ran is not among them."""
    job = view.tables.job
    keys = [key_of(one.namespace, one.name) for one in named]
    rows = {row.id: Job(row.namespace, row.name) for row in view.execute(select(job).where(job.c.key.in_(keys)))}
    latest = _latest_runs(view, rows)
    return {rows[number]: _uses(view, behind.id) for number, behind in latest.items()}


def _closest(view: View, named: Job) -> list[str]:
    job = view.tables.job
    query = select(job.c.namespace, job.c.name)
    names = view.execute(query)
    matches = process.extract(
        str(named), (str(Job(row.namespace, row.name)) for row in names), scorer=fuzz.WRatio, limit=_SUGGESTIONS
    )
    return [name for name, _, _ in matches]


def _summary(row: StoredJob, latest: StoredRun | None) -> JobSummary:
    behind = None
    if latest is not None:
        behind = LatestRun(latest.run_id, RunState(latest.state), from_micros(latest.last_event_at))
    return JobSummary(Job(row.namespace, row.name), row.owner, from_micros(row.last_seen), behind)


def _latest_runs(view: View, ids: Collection[int]) -> dict[int, StoredRun]:
    run = view.tables.run
    newest = (
        select(run.c.job_id, func.max(run.c.last_event_at).label("at"))
        .where(run.c.job_id.in_(list(ids)))
        .group_by(run.c.job_id)
        .subquery()
    )
    query = (
        select(run.c.id, run.c.job_id, run.c.run_id, run.c.state, run.c.last_event_at)
        .join(newest, (newest.c.job_id == run.c.job_id) & (newest.c.at == run.c.last_event_at))
        .order_by(run.c.run_id.desc())
    )
    return {row.job_id: row for row in view.execute(query)}


def _uses(view: View, run_id: int) -> tuple[tuple[Dataset, ...], tuple[Dataset, ...]]:
    dataset, run_dataset = view.tables.dataset, view.tables.run_dataset
    query = (
        select(dataset.c.namespace, dataset.c.name, run_dataset.c.direction)
        .join(run_dataset, run_dataset.c.dataset_id == dataset.c.id)
        .where(run_dataset.c.run_id == run_id)
        .order_by(dataset.c.namespace, dataset.c.name)
    )
    rows = view.execute(query).all()
    inputs, outputs = (
        tuple(Dataset(row.namespace, row.name) for row in rows if row.direction == direction)
        for direction in ("input", "output")
    )
    return inputs, outputs
