"""Which run last said what an edge says.

An edge holds over many runs; the one to name is the latest, as of the time asked for, that states this very edge.
Dataset-level edges have their lineage rows to look in. Column edges are stored once for all versions that repeat
them, so the versions are asked which set they carry.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from sqlalchemy import BindParameter, FromClause, ScalarSelect, bindparam, func, select

from headwater.model.lineage import Origin
from headwater.store.access.view import View, VisibleTables

_Group = tuple[int, int]
"""Job and downstream dataset."""


def run_of_lineage(tables: VisibleTables, table: FromClause) -> ScalarSelect[str]:
    """For a walk over the lineage rows themselves: the run each of them is of."""
    run = tables.run
    return select(run.c.run_id).where(run.c.id == table.c.run_id).scalar_subquery()


def latest_run(tables: VisibleTables, table: FromClause, as_of: int | BindParameter[int] | None) -> ScalarSelect[str]:
    """For dataset-level edges, as part of the query that reads them."""
    lineage, run = tables.lineage, tables.run
    confirmed = (
        select(run.c.run_id)
        .join(lineage, lineage.c.run_id == run.c.id)
        .where(
            table.c.origin == Origin.RUN,
            lineage.c.downstream_id == table.c.downstream_id,
            lineage.c.upstream_id == table.c.upstream_id,
            lineage.c.job_id == table.c.job_id,
            lineage.c.basis == table.c.basis,
            lineage.c.type == table.c.type,
            func.coalesce(lineage.c.transformation, "") == func.coalesce(table.c.transformation, ""),
        )
    )
    if as_of is not None:
        confirmed = confirmed.where(lineage.c.consumed_at <= as_of)
    return confirmed.order_by(lineage.c.consumed_at.desc(), run.c.key.desc()).limit(1).scalar_subquery()


def runs_of_columns(view: View, edge_ids: Iterable[int], as_of: int | None) -> Mapping[int, str]:
    """For column edges: run ids by the edge's id. Declared edges have none."""
    edges = _column_edges(view, edge_ids)
    statements = _latest_statements(view, {group[1] for group, _ in edges.values()}, as_of)
    bodies = _bodies(view, {digest for said in statements.values() for _, digest, _ in said})
    runs: dict[int, str] = {}
    for edge_id, (group, element) in edges.items():
        latest = next((run_id for _, digest, run_id in statements[group] if element in bodies[digest]), None)
        if latest is not None:
            runs[edge_id] = latest
    return runs


def _column_edges(view: View, ids: Iterable[int]) -> dict[int, tuple[_Group, tuple[object, ...]]]:
    column_edge, label = view.tables.column_edge, view.tables.label
    listed = view.id_table("ids")
    upstream, downstream = label.alias(), label.alias()
    query = (
        select(
            column_edge.c.id,
            column_edge.c.job_id,
            column_edge.c.downstream_id,
            column_edge.c.upstream_id,
            upstream.c.text,
            downstream.c.text,
            *(column_edge.c[name] for name in ("dependency", "subtype", "masking", "logic")),
        )
        .join(listed, listed.c.id == column_edge.c.id)
        .outerjoin(upstream, upstream.c.id == column_edge.c.upstream_column_id)
        .outerjoin(downstream, downstream.c.id == column_edge.c.downstream_column_id)
        .where(column_edge.c.origin == Origin.RUN)
    )
    rows = view.execute(query, {"ids": view.id_list(ids)})
    return {edge_id: ((job_id, target), tuple(element)) for edge_id, job_id, target, *element in rows}


def _latest_statements(
    view: View, datasets: Iterable[int], as_of: int | None
) -> Mapping[_Group, list[tuple[tuple[int, bytes], bytes, str]]]:
    """For each group, its column sets with the stamp and run that stated each last; the latest first."""
    run, version = view.tables.run, view.tables.version
    listed = view.id_table("ids")
    same = (version.c.job_id, version.c.dataset_id, version.c.column_digest)
    last = (
        select(*same, func.max(version.c.written_at).label("at"))
        .join(listed, listed.c.id == version.c.dataset_id)
        .where(version.c.origin == Origin.RUN)
        .group_by(*same)
    )
    if as_of is not None:
        last = last.where(version.c.written_at <= as_of)
    newest = last.subquery()
    query = (
        select(*same, version.c.written_at, run.c.key, run.c.run_id)
        .join(
            newest,
            (version.c.job_id == newest.c.job_id)
            & (version.c.dataset_id == newest.c.dataset_id)
            & (version.c.column_digest == newest.c.column_digest)
            & (version.c.written_at == newest.c.at),
        )
        .join(run, run.c.id == version.c.run_id)
        .where(version.c.origin == Origin.RUN)
    )
    statements: dict[_Group, list[tuple[tuple[int, bytes], bytes, str]]] = defaultdict(list)
    for job_id, dataset_id, digest, at, key, run_id in view.execute(query, {"ids": view.id_list(datasets)}):
        statements[job_id, dataset_id].append(((at, key), digest, run_id))
    for said in statements.values():
        said.sort(reverse=True)
    return statements


def _bodies(view: View, digests: Iterable[bytes]) -> Mapping[bytes, set[tuple[object, ...]]]:
    content = view.tables.content
    query = select(content.c.body).where(content.c.digest == bindparam("digest"))
    return {digest: {tuple(element) for element in view.scalars(query, {"digest": digest}).one()} for digest in digests}
