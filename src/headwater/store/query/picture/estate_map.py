"""The whole estate at once, for a map: names, edges, and how the last run of each dataset ended."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from sqlalchemy import ColumnElement, exists, or_, select

from headwater.model.picture import EstateMap, MappedDataset
from headwater.model.runs import RunState
from headwater.store.access.view import View, VisibleTables
from headwater.store.query.lookup import is_known
from headwater.store.query.traverse import holding, hubs_between, is_hub
from headwater.store.schema.stored_rows import StoredName
from headwater.store.schema.tables import from_micros

MOST_DATASETS = 20_000
MOST_EDGES = 60_000
_RUNS_LOOKED_AT = 20_000
"""The newest. A dataset that none of them wrote has no state: to look through all runs takes as long as there are runs,
and what was last written long ago is not what a map is looked at for."""


def estate_map(view: View, *, namespace: str | None = None, as_of: int | None = None) -> EstateMap:
    """The first datasets by name, and the edges between them; optionally of one ``namespace``."""
    found = _datasets(view, namespace, as_of)
    rows = found[:MOST_DATASETS]
    place = {row.id: number for number, row in enumerate(rows)}
    namespaces = sorted({row.namespace for row in rows})
    number = {name: n for n, name in enumerate(namespaces)}
    pairs = _edges(view, place, as_of)
    states = _states(view, as_of)
    return EstateMap(
        namespaces=tuple(namespaces),
        datasets=tuple(MappedDataset(number[row.namespace], row.name, row.kind, states.get(row.id)) for row in rows),
        edges=tuple(sorted((place[upstream], place[downstream]) for upstream, downstream in pairs[:MOST_EDGES])),
        truncated=len(found) > MOST_DATASETS or len(pairs) > MOST_EDGES,
        as_of=None if as_of is None else from_micros(as_of),
    )


class _NamedRow(StoredName, Protocol):
    kind: str


def _datasets(view: View, namespace: str | None, as_of: int | None) -> list[_NamedRow]:
    dataset = view.tables.dataset
    query = select(dataset.c.id, dataset.c.namespace, dataset.c.name, dataset.c.kind).where(
        dataset.c.canonical_id == dataset.c.id, dataset.c.is_job == 0, is_known(view.tables)
    )
    if namespace is not None:
        query = query.where(dataset.c.namespace == namespace)
    if as_of is not None:
        query = query.where(was_known(view.tables, as_of))
    return list(view.execute(query.order_by(dataset.c.namespace, dataset.c.name).limit(MOST_DATASETS + 1)))


def was_known(tables: VisibleTables, as_of: int) -> ColumnElement[bool]:
    """Whether an event had mentioned the dataset by then, under any name, or data had flowed."""
    dataset, edge, name = tables.dataset, tables.edge, tables.dataset_name.alias()
    spoken_of = exists().where(name.c.canonical_id == dataset.c.id, name.c.first_seen <= as_of)
    held = holding(edge, as_of)
    flowed = (exists().where(end == dataset.c.id, held) for end in (edge.c.upstream_id, edge.c.downstream_id))
    return or_(spoken_of, *flowed)


def _edges(view: View, among: Collection[int], as_of: int | None) -> list[tuple[int, int]]:
    """From one dataset to another, each pair once; one more than there may be shows that there are more."""
    edge = view.tables.edge
    listed = view.id_table("ids")
    query = (
        select(edge.c.upstream_id, edge.c.downstream_id)
        .join(listed, listed.c.id == edge.c.downstream_id)
        .where(holding(edge, as_of), edge.c.upstream_id != edge.c.downstream_id)
        .distinct()
        .order_by(edge.c.downstream_id, edge.c.upstream_id)
    )
    # The other end is looked up here: a database that is given both lists may try each of one with each of the other.
    hubs: dict[int, list[int]] = {}
    with view.execute(query.execution_options(yield_per=10_000), {"ids": view.id_list(among)}) as rows:
        pairs: dict[tuple[int, int], None] = {}
        for upstream, downstream in rows:
            if is_hub(upstream):
                hubs.setdefault(upstream, []).append(downstream)
            elif upstream in among:
                pairs[upstream, downstream] = None
            if len(pairs) > MOST_EDGES:
                return list(pairs)
    # A map has no place for jobs: there is a line from each input to each output, as far as there is room.
    into = hubs_between(view, among, as_of) if hubs else {}
    for hub, downstreams in hubs.items():
        sources = sorted(into[hub][0]) if hub in into else []
        for pair in ((source, target) for target in downstreams for source in sources if source != target):
            pairs[pair] = None
            if len(pairs) > MOST_EDGES:
                return list(pairs)
    return list(pairs)


def _states(view: View, as_of: int | None) -> dict[int, RunState]:
    """By the dataset: how the last run ended that wrote it, or how far it is."""
    dataset, run, run_dataset = view.tables.dataset, view.tables.run, view.tables.run_dataset
    newest = select(run.c.id, run.c.state, run.c.last_event_at, run.c.run_id)
    if as_of is not None:
        newest = newest.where(run.c.last_event_at <= as_of)
    runs = newest.order_by(run.c.last_event_at.desc(), run.c.run_id.desc()).limit(_RUNS_LOOKED_AT).subquery()
    query = (
        select(dataset.c.canonical_id, runs.c.state)
        .select_from(runs)
        .join(run_dataset, run_dataset.c.run_id == runs.c.id)
        .join(dataset, dataset.c.id == run_dataset.c.dataset_id)
        .where(run_dataset.c.direction == "output")
        .order_by(runs.c.last_event_at, runs.c.run_id)  # the last has the say
    )
    return {row.canonical_id: RunState(row.state) for row in view.execute(query)}
