"""What breaks if this changes: every asset downstream, with what of it is touched and who has to know."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from sqlalchemy import Connection, exists, func, select

from headwater.model.answers import Affected, Grain, Impact, LatestRun, Node, TouchedColumn
from headwater.model.lineage import Dependency
from headwater.model.names import Job
from headwater.model.runs import RunState
from headwater.store.access.visibility import Veil, dataset_seen, job_seen
from headwater.store.engine.arrays import id_list, id_table, is_postgresql
from headwater.store.query.catalog import owners
from headwater.store.query.closure import Question, dress, label_texts, strengths
from headwater.store.query.traverse import Ref, Walk, holding, hubs_between, is_hub, reach
from headwater.store.schema.tables import dataset, edge, from_micros, job, run, run_dataset

_NONE: tuple[set[int], set[int]] = set(), set()


def impact(conn: Connection, question: Question) -> Impact:
    """Asked of a dataset, every dataset downstream is affected; asked of a column, those its column edges lead to."""
    columns = replace(question, walk=replace(question.walk, grain=Grain.COLUMN))
    by_column = reach(conn, columns.walk, {(question.row.id, question.part_id)}, question.max_depth)
    tied = strengths(conn, columns, by_column)
    if question.part is None:
        walk = replace(question.walk, grain=Grain.DATASET)
        found = reach(conn, walk, {(question.row.id, None)}, question.max_depth)
        nodes = dress(conn, walk, found, {})
    else:
        found = by_column
        nodes = dress(conn, columns.walk, found, tied)
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
        affected=_affected(conn, question, nearest, tied),
        readers=_readers(conn, {question.row.id, *nearest}, question.walk.veil),
    )


def _affected(
    conn: Connection, question: Question, nearest: Mapping[int, Node], tied: Mapping[Ref, Dependency]
) -> tuple[Affected, ...]:
    touched = _touched(conn, tied)
    writers = _writers(conn, question.walk, nearest.keys(), {question.row.id, *nearest})
    job_ids = {job_id for ids in writers.values() for job_id in ids}
    jobs, latest = _jobs(conn, job_ids), _latest_runs(conn, job_ids)
    owned = owners(conn, nearest.keys())
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


def _touched(conn: Connection, tied: Mapping[Ref, Dependency]) -> Mapping[int, list[TouchedColumn]]:
    texts = label_texts(conn, {column_id for _, column_id in tied if column_id is not None})
    touched: dict[int, list[TouchedColumn]] = defaultdict(list)
    for (dataset_id, column_id), dependency in tied.items():
        name = texts[column_id] if column_id is not None else None
        touched[dataset_id].append(TouchedColumn(name, dependency))
    for columns in touched.values():
        columns.sort(key=lambda column: (column.name is not None, column.name or ""))
    return touched


def _writers(conn: Connection, walk: Walk, affected: Iterable[int], sources: Collection[int]) -> Mapping[int, set[int]]:
    """For each affected dataset, the jobs that carry the change into it."""
    listed = id_table(is_postgresql(conn), "ids")
    query = (
        select(edge.c.downstream_id, edge.c.upstream_id, edge.c.job_id)
        .join(listed, listed.c.id == edge.c.downstream_id)
        .where(holding(edge, walk.as_of), edge.c.job_id.is_not(None))
        .distinct()
    )
    if walk.veil is not None:
        query = query.where(job_seen(walk.veil, edge.c.job_id))
    rows = conn.execute(query, {"ids": id_list(conn, affected)}).all()
    through = any(is_hub(row.upstream_id) for row in rows)
    hubs = hubs_between(conn, sources, walk.as_of, walk.veil) if through else {}
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


def _jobs(conn: Connection, ids: Collection[int]) -> dict[int, Job]:
    listed = id_table(is_postgresql(conn), "ids")
    rows = conn.execute(select(job).join(listed, listed.c.id == job.c.id), {"ids": id_list(conn, ids)})
    return {row.id: Job(row.namespace, row.name) for row in rows}


def _latest_runs(conn: Connection, job_ids: Collection[int]) -> dict[int, LatestRun]:
    listed = id_table(is_postgresql(conn), "ids")
    newest = (
        select(listed.c.id.label("job_id"), func.max(run.c.last_event_at).label("at"))
        .join(run, run.c.job_id == listed.c.id)
        .group_by(listed.c.id)
        .subquery()
    )
    rows = conn.execute(
        select(run)
        .join(newest, (run.c.job_id == newest.c.job_id) & (run.c.last_event_at == newest.c.at))
        .order_by(run.c.run_id),
        {"ids": id_list(conn, job_ids)},
    )
    return {row.job_id: LatestRun(row.run_id, RunState(row.state), from_micros(row.last_event_at)) for row in rows}


def _readers(conn: Connection, ids: Collection[int], veil: Veil | None) -> tuple[Job, ...]:
    """Jobs that only read: no run of theirs has an output."""
    listed = id_table(is_postgresql(conn), "ids")
    named = select(dataset.c.id).join(listed, listed.c.id == dataset.c.canonical_id).subquery()
    any_run, output = run.alias(), run_dataset.alias()
    writes = exists().where(
        any_run.c.job_id == job.c.id, output.c.run_id == any_run.c.id, output.c.direction == "output"
    )
    if veil is not None:
        writes = writes.where(dataset_seen(veil, output.c.dataset_id))
        named = select(named).where(dataset_seen(veil, named.c.id)).subquery()
    query = (
        select(job.c.namespace, job.c.name)
        .join(run, run.c.job_id == job.c.id)
        .join(run_dataset, run_dataset.c.run_id == run.c.id)
        .join(named, named.c.id == run_dataset.c.dataset_id)
        .where(run_dataset.c.direction == "input", ~writes)
        .distinct()
    )
    if veil is not None:
        query = query.where(veil.lets(job.c.namespace))
    rows = conn.execute(query, {"ids": id_list(conn, ids)})
    return tuple(sorted(Job(row.namespace, row.name) for row in rows))
