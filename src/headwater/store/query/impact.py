"""What breaks if this changes: every asset downstream, with what of it is touched and who has to know."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from sqlalchemy import exists, func, select

from headwater.model.answers import Affected, Grain, Impact, LatestRun, Node, TouchedColumn
from headwater.model.lineage import Dependency
from headwater.model.names import Job
from headwater.model.runs import RunState
from headwater.store.access.view import View
from headwater.store.query.catalog import owners
from headwater.store.query.closure import Question, dress, label_texts, strengths
from headwater.store.query.traverse import Ref, Walk, holding, hubs_between, is_hub, reach
from headwater.store.schema.tables import from_micros

_NONE: tuple[set[int], set[int]] = set(), set()


def impact(view: View, question: Question) -> Impact:
    """Asked of a dataset, every dataset downstream is affected; asked of a column, those its column edges lead to."""
    columns = replace(question, walk=replace(question.walk, grain=Grain.COLUMN))
    by_column = reach(view, columns.walk, {(question.row.id, question.part_id)}, question.max_depth)
    tied = strengths(view, columns, by_column)
    if question.part is None:
        walk = replace(question.walk, grain=Grain.DATASET)
        found = reach(view, walk, {(question.row.id, None)}, question.max_depth)
        nodes = dress(view, walk, found, {})
    else:
        found = by_column
        nodes = dress(view, columns.walk, found, tied)
    nearest: dict[int, Node] = {}
    for (dataset_id, _), node in nodes.items():  # nearest first
        nearest.setdefault(dataset_id, node)
    nearest.pop(question.row.id, None)  # a column may reach others of its own table
    return Impact(
        endpoint=question.endpoint,
        column=question.part,
        max_depth=question.max_depth,
        as_of=from_micros(question.walk.as_of) if question.walk.as_of is not None else None,
        truncated=found.truncated,
        affected=_affected(view, question, nearest, tied),
        readers=_readers(view, {question.row.id, *nearest}),
    )


def _affected(
    view: View, question: Question, nearest: Mapping[int, Node], tied: Mapping[Ref, Dependency]
) -> tuple[Affected, ...]:
    touched = _touched(view, tied)
    writers = _writers(view, question.walk, nearest.keys(), {question.row.id, *nearest})
    job_ids = {job_id for ids in writers.values() for job_id in ids}
    jobs, latest = _jobs(view, job_ids), _latest_runs(view, job_ids)
    owned = owners(view, nearest.keys())
    return tuple(
        Affected(
            endpoint=node.endpoint,
            depth=node.depth,
            columns=tuple(touched.get(dataset_id, ())),
            jobs=tuple(sorted(jobs[job_id] for job_id in writers[dataset_id])),
            owner=owned.get(dataset_id),
            latest_run=max(
                (latest[job_id] for job_id in writers[dataset_id] if job_id in latest),
                key=lambda found: (found.last_event_at, found.run_id),
                default=None,
            ),
            path=tuple(step.label for step in node.path),
        )
        for dataset_id, node in nearest.items()
    )


def _touched(view: View, tied: Mapping[Ref, Dependency]) -> Mapping[int, list[TouchedColumn]]:
    texts = label_texts(view, {column_id for _, column_id in tied if column_id is not None})
    touched: dict[int, list[TouchedColumn]] = defaultdict(list)
    for (dataset_id, column_id), dependency in tied.items():
        name = texts[column_id] if column_id is not None else None
        touched[dataset_id].append(TouchedColumn(name, dependency))
    for columns in touched.values():
        columns.sort(key=lambda column: (column.name is not None, column.name or ""))
    return touched


def _writers(view: View, walk: Walk, affected: Iterable[int], sources: Collection[int]) -> Mapping[int, set[int]]:
    """For each affected dataset, the jobs that carry the change into it."""
    edge = view.tables.edge
    listed = view.id_table("ids")
    query = (
        select(edge.c.downstream_id, edge.c.upstream_id, edge.c.job_id)
        .join(listed, listed.c.id == edge.c.downstream_id)
        .where(holding(edge, walk.as_of), edge.c.job_id.is_not(None))
        .distinct()
    )
    rows = view.execute(query, {"ids": view.id_list(affected)}).all()
    through = any(is_hub(row.upstream_id) for row in rows)
    hubs = hubs_between(view, sources, walk.as_of) if through else {}
    writers: dict[int, set[int]] = defaultdict(set)
    for row in rows:
        if is_hub(row.upstream_id):
            read, _ = hubs.get(row.upstream_id, _NONE)
            carries = len(read) > 1 or (bool(read) and row.downstream_id not in read)
        else:
            carries = row.upstream_id in sources and row.upstream_id != row.downstream_id
        if carries:
            writers[row.downstream_id].add(row.job_id)
    return writers


def _jobs(view: View, ids: Collection[int]) -> dict[int, Job]:
    job = view.tables.job
    listed = view.id_table("ids")
    rows = view.execute(select(job).join(listed, listed.c.id == job.c.id), {"ids": view.id_list(ids)})
    return {row.id: Job(row.namespace, row.name) for row in rows}


def _latest_runs(view: View, job_ids: Collection[int]) -> dict[int, LatestRun]:
    run = view.tables.run
    listed = view.id_table("ids")
    newest = (
        select(listed.c.id.label("job_id"), func.max(run.c.last_event_at).label("at"))
        .join(run, run.c.job_id == listed.c.id)
        .group_by(listed.c.id)
        .subquery()
    )
    rows = view.execute(
        select(run)
        .join(newest, (run.c.job_id == newest.c.job_id) & (run.c.last_event_at == newest.c.at))
        .order_by(run.c.run_id),
        {"ids": view.id_list(job_ids)},
    )
    return {row.job_id: LatestRun(row.run_id, RunState(row.state), from_micros(row.last_event_at)) for row in rows}


def _readers(view: View, ids: Collection[int]) -> tuple[Job, ...]:
    """Jobs that only read: no run of theirs has an output."""
    dataset, job, run, run_dataset = view.tables.dataset, view.tables.job, view.tables.run, view.tables.run_dataset
    listed = view.id_table("ids")
    named = select(dataset.c.id).join(listed, listed.c.id == dataset.c.canonical_id).subquery()
    any_run, output = run.alias(), run_dataset.alias()
    writes = exists().where(
        any_run.c.job_id == job.c.id, output.c.run_id == any_run.c.id, output.c.direction == "output"
    )
    query = (
        select(job.c.namespace, job.c.name)
        .join(run, run.c.job_id == job.c.id)
        .join(run_dataset, run_dataset.c.run_id == run.c.id)
        .join(named, named.c.id == run_dataset.c.dataset_id)
        .where(run_dataset.c.direction == "input", ~writes)
        .distinct()
    )
    rows = view.execute(query, {"ids": view.id_list(ids)})
    return tuple(sorted(Job(row.namespace, row.name) for row in rows))
