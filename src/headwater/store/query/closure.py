"""Answering upstream and downstream: the walk of :mod:`traverse`, dressed in names, jobs and runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from sqlalchemy import ColumnElement, Null, Select, bindparam, null, select

from headwater.model.answers import Closure, Direction, Grain, Node, Via
from headwater.model.lineage import Basis, Dependency, EdgeType, Origin
from headwater.model.names import Dataset, Endpoint, Job
from headwater.store.access.view import View, VisibleTables
from headwater.store.engine.dialect import Dialect
from headwater.store.query.edge_runs import latest_run, run_of_lineage, runs_of_columns
from headwater.store.query.traverse import Reach, Ref, Walk, ends, is_hub, reach, walk_table
from headwater.store.schema.stored_rows import PlainRow, StoredDataset
from headwater.store.schema.tables import from_micros


@dataclass(frozen=True)
class Question:
    """Where to start, and how far to go."""

    row: StoredDataset
    part_id: int | None
    part: str | None
    walk: Walk
    max_depth: int

    @property
    def endpoint(self) -> Endpoint:
        return endpoint_of(self.row.namespace, self.row.name, self.row.is_job)


def closure(view: View, question: Question) -> Closure:
    walk, start = question.walk, (question.row.id, question.part_id)
    found = reach(view, walk, {start}, question.max_depth)
    return Closure(
        endpoint=question.endpoint,
        part=question.part,
        grain=walk.grain,
        direction=walk.direction,
        max_depth=question.max_depth,
        as_of=from_micros(walk.as_of) if walk.as_of is not None else None,
        truncated=found.truncated,
        in_cycle=found.in_cycle,
        nodes=tuple(dress(view, walk, found, strengths(view, question, found)).values()),
    )


def strengths(view: View, question: Question, found: Reach) -> dict[Ref, Dependency]:
    """For columns: how strongly each is tied to the start, over all ways that lead there."""
    if question.walk.grain is not Grain.COLUMN:
        return {}
    tied: dict[Ref, Dependency] = dict.fromkeys(found.steps, Dependency.UNKNOWN)
    start = {(question.row.id, question.part_id)}
    for weakest in (Dependency.INDIRECT, Dependency.DIRECT):
        walk = replace(question.walk, weakest=weakest)
        tied |= dict.fromkeys(reach(view, walk, start, question.max_depth).steps, weakest)
    return tied


def dress(view: View, walk: Walk, found: Reach, tied: Mapping[Ref, Dependency]) -> dict[Ref, Node]:
    """The nodes found, nearest first and then by name."""
    parts = label_texts(view, {ref[1] for ref in found.steps if ref[1] is not None})
    edges = _edges(view, walk, [*(step.edge_id for step in found.steps.values()), *found.to_hubs.values()])
    order = sorted(
        (step.depth, edges[step.edge_id][2:5], ("", parts[ref[1]]) if ref[1] is not None else (), ref)
        for ref, step in found.steps.items()
    )
    via = _column_via if walk.grain is Grain.COLUMN else _dataset_via
    nodes: dict[Ref, Node] = {}
    by_dataset: dict[tuple[int, int], Node] = {}
    for depth, name, _, ref in order:
        near_id, near_part, _, _, _, *behind = edges[found.steps[ref].edge_id]
        via_job = is_hub(near_id)
        if via_job:
            # Of both edges, the one between the hub and what the job wrote says who wrote it.
            near_id, near_part, _, _, _, *before = edges[found.to_hubs[near_id, near_part]]
            behind = before if walk.direction is Direction.UPSTREAM else behind
        behind.append(via_job)
        parent = _parent(nodes, by_dataset, (near_id, near_part), depth - 1)
        part = parts[ref[1]] if ref[1] is not None else None
        node = Node(
            endpoint=endpoint_of(*name),
            part=part,
            grain=walk.grain,
            depth=depth,
            via=via(*behind),
            parent=parent,
            dependency=tied.get(ref),
        )
        nodes[ref] = node
        by_dataset.setdefault((ref[0], depth), node)
    return nodes


def _parent(
    nodes: Mapping[Ref, Node], by_dataset: Mapping[tuple[int, int], Node], near: Ref, depth: int
) -> Node | None:
    """The node the edge was followed from: its very end, its dataset as a whole, or a part where the end is whole."""
    for ref in (near, (near[0], None)):
        node = nodes.get(ref)
        if node is not None and node.depth == depth:
            return node
    return by_dataset.get((near[0], depth)) if near[1] is None else None


Name = tuple[str, str, int]
"""Namespace, name, and whether it is a job."""


def endpoints(view: View, ids: Collection[int]) -> dict[int, Name]:
    dataset = view.tables.dataset
    listed = view.id_table("ids")
    query = select(dataset.c.id, dataset.c.namespace, dataset.c.name, dataset.c.is_job).join(
        listed, listed.c.id == dataset.c.id
    )
    rows = view.execute(query, {"ids": view.id_list(ids)})
    return {dataset_id: (namespace, name, is_job) for dataset_id, namespace, name, is_job in rows}


def endpoint_of(namespace: str, name: str, is_job: int) -> Endpoint:
    return Job(namespace, name) if is_job else Dataset(namespace, name)


def label_texts(view: View, ids: Collection[int]) -> dict[int, str]:
    label = view.tables.label
    if not ids:
        return {}
    listed = view.id_table("ids")
    query = select(label.c.id, label.c.text).join(listed, listed.c.id == label.c.id)
    return {row.id: row.text for row in view.execute(query, {"ids": view.id_list(ids)})}


def _edges(view: View, walk: Walk, ids: Sequence[int]) -> dict[int, PlainRow]:
    """By edge: the id and part it was followed from, the name of the dataset it leads to, and what is behind it."""
    query = _edge_query(view.tables, walk.grain, walk.direction, walk.as_of is not None, view.dialect)
    parameters = {"ids": view.id_list(ids)} | ({} if walk.as_of is None else {"as_of": walk.as_of})
    rows = view.execute(query, parameters).all()
    if walk.grain is not Grain.COLUMN:
        return {row[0]: row[1:] for row in rows}
    runs = runs_of_columns(view, ids, walk.as_of)
    return {row[0]: (*row[1:8], runs.get(row[0]), *row[9:]) for row in rows}


@lru_cache(maxsize=500)
def _edge_query(
    tables: VisibleTables, grain: Grain, direction: Direction, as_of: bool, dialect: Dialect
) -> Select[*PlainRow]:
    dataset, job, table = tables.dataset, tables.job, walk_table(tables, grain)
    near, far = ends(tables, grain, direction)
    listed = dialect.id_table("ids")
    run_behind: ColumnElement[str] | Null = null()  # for columns it takes queries of its own
    if grain is Grain.PARTITION:
        run_behind = run_of_lineage(tables, table)
    elif grain is Grain.DATASET:
        run_behind = latest_run(tables, table, bindparam("as_of") if as_of else None)
    return select(
        table.c.id,
        near.id,
        near.part if grain is not Grain.DATASET else null(),
        dataset.c.namespace,
        dataset.c.name,
        dataset.c.is_job,
        job.c.namespace,
        job.c.name,
        run_behind,
        *(table.c[name] for name in (_COLUMN_VIA if grain is Grain.COLUMN else _DATASET_VIA)),
    ).select_from(
        listed.join(table, listed.c.id == table.c.id)
        .join(dataset, dataset.c.id == far.id)
        .outerjoin(job, job.c.id == table.c.job_id)
    )


_DATASET_VIA = ("origin", "basis", "type", "transformation")
_COLUMN_VIA = ("origin", "dependency", "subtype", "masking", "logic")
# Looking a member up in a dict is several times faster than calling the enum.
_ORIGINS = {str(member): member for member in Origin}
_BASES = {str(member): member for member in Basis}
_TYPES = {str(member): member for member in EdgeType}


def _dataset_via(
    job_namespace: str | None,
    job_name: str | None,
    run_id: str | None,
    origin: str,
    basis: str,
    kind: str,
    how: str | None,
    via_job: bool,
) -> Via:
    by = _job(job_namespace, job_name)
    return Via(by, run_id, _ORIGINS[origin], _BASES[basis], _TYPES[kind], how, via_job=via_job)


def _column_via(
    job_namespace: str | None,
    job_name: str | None,
    run_id: str | None,
    origin: str,
    dependency: str,
    subtype: str | None,
    masking: int,
    logic: str | None,
    via_job: bool,
) -> Via:
    by = _job(job_namespace, job_name)
    return Via(
        job=by,
        run_id=run_id,
        origin=_ORIGINS[origin],
        basis=None,
        type=None,
        transformation=subtype,
        dependency=Dependency(dependency),
        masking=bool(masking),
        logic=logic,
        via_job=via_job,
    )


def _job(namespace: str | None, name: str | None) -> Job | None:
    return Job(namespace, name) if namespace is not None and name is not None else None
