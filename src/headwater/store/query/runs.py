"""What ran: lists of runs, one run whole, and what differs between two."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from datetime import datetime
from typing import Protocol

from sqlalchemy import Select, exists, literal, select

from headwater.formats.openlineage.accumulate import RunAccount, accumulate
from headwater.formats.openlineage.describe import schema_fields
from headwater.formats.openlineage.event import reread_event
from headwater.formats.openlineage.flows import flows_of_run
from headwater.formats.openlineage.visibility import visible_account
from headwater.model.answers import Change, RunDetail, RunDiff
from headwater.model.lineage import Basis, ColumnEdge, Edge, EdgeType, Origin
from headwater.model.names import Job
from headwater.model.runs import DatasetUse, Run, RunState
from headwater.store.access.view import View, VisibleTables
from headwater.store.log.certificates import certificates
from headwater.store.query.closure import endpoint_of, endpoints
from headwater.store.query.cursors import Position, beyond
from headwater.store.query.lookup import find_run
from headwater.store.query.traverse import is_hub
from headwater.store.schema.name_keys import key_of
from headwater.store.schema.stored_rows import StoredRun
from headwater.store.schema.tables import from_end, from_micros, to_micros


def list_runs(
    view: View,
    *,
    job_name: str | None = None,
    namespace: str | None = None,
    state: RunState | None = None,
    dataset_id: int | None = None,
    parent_run_id: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    limit: int = 100,
    after: Position | None = None,
) -> list[Run]:
    """The newest first, ``after`` a time and an id."""
    dataset, job, run, run_dataset = view.tables.dataset, view.tables.job, view.tables.run, view.tables.run_dataset
    query = select_runs(view.tables)
    for column, value in ((job.c.name, job_name), (job.c.namespace, namespace), (run.c.state, state)):
        if value is not None:
            query = query.where(column == value)
    if parent_run_id is not None:
        query = query.where(run.c.parent_key == key_of(parent_run_id))
    if dataset_id is not None:
        named = select(dataset.c.id).where(dataset.c.canonical_id == dataset_id)
        used = select(run_dataset.c.run_id).where(run_dataset.c.dataset_id.in_(named))
        query = query.where(run.c.id.in_(used))
    if since is not None:
        query = query.where(run.c.last_event_at >= to_micros(since))
    if until is not None:
        query = query.where(run.c.first_event_at < to_micros(until))
    if after is not None:
        query = query.where(beyond(after, run.c.last_event_at.desc(), run.c.run_id))
    query = query.order_by(run.c.last_event_at.desc(), run.c.run_id).limit(limit)
    return [run_of(row) for row in view.execute(query)]


class ListedRun(StoredRun, Protocol):
    """What :func:`select_runs` selects."""

    job_namespace: str
    job_name: str
    parent_visible: bool


def select_runs(tables: VisibleTables) -> Select[*tuple[object, ...]]:
    run, job, parent = tables.run, tables.job, tables.run.alias()
    # With all visible, a run names its parent whether or not that was ever heard of.
    shown = literal(True) if tables.visibility.is_everything else exists().where(parent.c.key == run.c.parent_key)
    return select(
        run,
        job.c.namespace.label("job_namespace"),
        job.c.name.label("job_name"),
        shown.label("parent_visible"),
    ).join(job, job.c.id == run.c.job_id)


def run_of(row: ListedRun) -> Run:
    """Fields of a run are the columns of these names; times are stored in microseconds."""
    values = {name: getattr(row, name) for name in (*_PLAIN, *_TIMES)}
    values |= {name: from_micros(values[name]) for name in _TIMES if values[name] is not None}
    return Run(
        job=Job(row.job_namespace, row.job_name),
        state=RunState(row.state),
        parent_run_id=row.parent_run_id if row.parent_visible else None,
        **values,
    )


_COMPOSED = ("job", "state", "parent_run_id")
_TIMES = tuple(field.name for field in fields(Run) if str(field.type).startswith("datetime"))
_PLAIN = tuple(field.name for field in fields(Run) if field.name not in (*_COMPOSED, *_TIMES))


def describe_run(view: View, run_id: str) -> RunDetail:
    row, account = _account(view, run_id)
    return RunDetail(
        run=row,
        run_facets=account.run_facets,
        job_facets=account.job_facets,
        inputs=account.inputs,
        outputs=account.outputs,
        edges=_edges(view, run_id),
        column_edges=_column_edges(account),
        children=tuple(list_runs(view, parent_run_id=run_id, limit=1000)),
        problems=account.problems,
        event_count=account.event_count,
        certificates=tuple(certificates(view, run_id=run_id, limit=100)),
    )


def _account(view: View, run_id: str) -> tuple[Run, RunAccount]:
    run, event = view.tables.run, view.tables.run_event
    found = find_run(view, run_id)
    row = view.execute(select_runs(view.tables).where(run.c.id == found.id)).one()
    events = view.execute(select(event.c.body, event.c.digest, event.c.problems).where(event.c.run_id == found.id))
    account = accumulate(reread_event(e.body, e.digest, e.problems or ()) for e in events)
    if not view.is_everything:
        whole = (
            view.scalar(select(run.c.id).where(run.c.id == found.id, view.tables.run_is_whole(run.c.id))) is not None
        )
        account = visible_account(account, view.sees, whole=whole)
    return run_of(row), account


def _edges(view: View, run_id: str) -> tuple[Edge, ...]:
    job, lineage, label = view.tables.job, view.tables.lineage, view.tables.label
    part, upstream_part = label.alias(), label.alias()
    query = (
        select(
            lineage,
            part.c.text.label("partition"),
            upstream_part.c.text.label("upstream_partition"),
            job.c.namespace.label("job_namespace"),
            job.c.name.label("job_name"),
        )
        .outerjoin(part, part.c.id == lineage.c.partition_id)
        .outerjoin(upstream_part, upstream_part.c.id == lineage.c.upstream_partition_id)
        .outerjoin(job, job.c.id == lineage.c.job_id)
        .where(lineage.c.run_id == find_run(view, run_id).id)
    )
    rows = view.execute(query).all()
    named = endpoints(view, {row.upstream_id for row in rows} | {row.downstream_id for row in rows})
    names = {dataset_id: endpoint_of(*name) for dataset_id, name in named.items()}
    edges = [
        Edge(
            downstream=names[row.downstream_id],
            partition=None if is_hub(row.downstream_id) else row.partition,
            run_id=run_id,
            upstream=names[row.upstream_id],
            upstream_partition=None if is_hub(row.upstream_id) else row.upstream_partition,
            consumed_at=from_micros(row.consumed_at),
            valid_to=from_end(row.valid_to),
            type=EdgeType(row.type),
            transformation=row.transformation,
            basis=Basis(row.basis),
            origin=Origin(row.origin),
            job=Job(row.job_namespace, row.job_name) if row.job_name is not None else None,
            via_job=is_hub(row.upstream_id) or is_hub(row.downstream_id),
        )
        for row in rows
    ]
    return tuple(sorted(edges, key=_edge_order))


def _edge_order(edge: Edge) -> tuple[str, str, str, str]:
    return str(edge.downstream), edge.partition or "", str(edge.upstream), edge.upstream_partition or ""


def _column_edges(account: RunAccount) -> tuple[ColumnEdge, ...]:
    edges = {edge for flow in flows_of_run(account) for edge in flow.columns}
    return tuple(sorted(edges, key=_column_order))


def _column_order(edge: ColumnEdge) -> tuple[str, ...]:
    ends = (edge.downstream, edge.downstream_column, edge.upstream, edge.upstream_column)
    return tuple(str(part or "") for part in (*ends, edge.dependency, edge.subtype, edge.logic, edge.masking))


# -- differences ---------------------------------------------------------------------------------


def diff_runs(view: View, run_a: str, run_b: str) -> RunDiff:
    """The differences of ``run_b`` from ``run_a``."""
    (a, before), (b, after) = _account(view, run_a), _account(view, run_b)
    return RunDiff(
        run_a=a,
        run_b=b,
        inputs=_changes("input", *(_uses(account.inputs) for account in (before, after))),
        outputs=_changes("output", *(_uses(account.outputs) for account in (before, after))),
        schema=_changes("schema", *(_schemas(account) for account in (before, after))),
        column_edges=_changes("column edge", *(_logic(account) for account in (before, after))),
    )


def _changes(what: str, before: Mapping[str, object], after: Mapping[str, object]) -> tuple[Change, ...]:
    names = sorted(before.keys() | after.keys())
    return tuple(
        Change(what, name, before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)
    )


def _uses(uses: Iterable[DatasetUse]) -> Mapping[str, object]:
    """What sets one use of a dataset apart from another: its partitions and its version."""
    return {str(use.dataset): {"partitions": list(use.partitions), "version": _version(use)} for use in uses}


def _version(use: DatasetUse) -> object:
    facet = use.facets.get("version")
    return facet.get("datasetVersion") if isinstance(facet, Mapping) else None


def _schemas(account: RunAccount) -> Mapping[str, object]:
    return {
        f"{use.dataset}#{field['name']}": field.get("type") or "unspecified"
        for use in (*account.inputs, *account.outputs)
        for field in schema_fields(use.facets)
    }


def _logic(account: RunAccount) -> Mapping[str, object]:
    """Column edges by their two ends; what lies between may change."""
    between: dict[str, list[Mapping[str, object]]] = {}
    for edge in _column_edges(account):
        ends = f"{_column(edge.upstream, edge.upstream_column)} → {_column(edge.downstream, edge.downstream_column)}"
        how = {"dependency": edge.dependency, "subtype": edge.subtype, "masking": edge.masking, "logic": edge.logic}
        between.setdefault(ends, []).append(how)
    return between


def _column(endpoint: object, column: str | None) -> str:
    return str(endpoint) if column is None else f"{endpoint}#{column}"
