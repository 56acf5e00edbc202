"""What lies around a dataset, a job or a column: within some hops, all edges between what was found there.

Upstream and downstream answer with one shortest way to each node. A picture of the neighbourhood wants every edge.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TypeVar

from sqlalchemy import FromClause, Row, select

from headwater.errors import UnknownDataset, UnknownJob
from headwater.formats.openlineage.visibility import visible_facets
from headwater.model.answers import Direction, Grain
from headwater.model.names import Dataset, Endpoint, Job
from headwater.model.pages import Flow, Sketch, Surroundings
from headwater.store.access.view import View
from headwater.store.fold.descriptions import merged_facets
from headwater.store.query.closure import endpoint_of, endpoints, label_texts
from headwater.store.query.jobs import list_jobs_by_id
from headwater.store.query.lookup import is_known
from headwater.store.query.traverse import Ref, Walk, hubs_between, is_hub, reach
from headwater.store.schema.name_keys import endpoint_key, key_of
from headwater.store.schema.stored_rows import StoredColumnEdge, StoredDataset, StoredEdge, StoredJob
from headwater.store.schema.tables import OPEN, from_micros

_MOST_SPLITS = 400
Value = TypeVar("Value")
BOTH = (Direction.UPSTREAM, Direction.DOWNSTREAM)


def around_dataset(view: View, named: str, depth: int) -> Surroundings:
    """``named``: namespace and name with a colon between; either may hold more of them."""
    start: set[Ref] = {(_dataset(view, named).id, None)}
    return _drawn(view, _within(view, Grain.DATASET, BOTH, start, depth) | start)


def around_job(view: View, named: str, depth: int) -> Surroundings:
    """The datasets that flow through the job, and what lies around these."""
    row = _job(view, named)
    start: set[Ref] = {(end, None) for pair in _through(view, row.id) for end in pair if not is_hub(end)}
    found = _within(view, Grain.DATASET, BOTH, start, depth - 1) if depth > 1 and start else set()
    return _drawn(view, found | start, also={row.id})


def around_columns(view: View, kind: str, named: str, depth: int, downstream: bool) -> Surroundings:
    """Of one column (`datasetField`, with a colon before it), of all of a `dataset`, or of what a `job` writes."""
    start: set[Ref]
    if kind == "job":
        pairs = _through(view, _job(view, named).id)
        start = {(pair.downstream_id, None) for pair in pairs if not is_hub(pair.downstream_id)}
    elif kind == "dataset":
        start = {(_dataset(view, named).id, None)}
    else:
        start = {_column(view, named)}
    ways = BOTH if downstream else BOTH[:1]
    found = _within(view, Grain.COLUMN, ways, start, depth) if start else set()
    return _drawn_columns(view, found | start)


def _through(view: View, job_id: int) -> Sequence[Row[int, int]]:
    """The pairs of datasets that the job lies between; where it has a hub, this is one of them."""
    edge = view.tables.edge
    query = select(edge.c.upstream_id, edge.c.downstream_id).where(edge.c.job_id == job_id, edge.c.valid_to == OPEN)
    return view.execute(query).all()


def _within(view: View, grain: Grain, ways: tuple[Direction, ...], start: set[Ref], depth: int) -> set[Ref]:
    found: set[Ref] = set()
    for direction in ways:
        found |= reach(view, Walk(grain, direction), start, depth).steps.keys()
    return found


# -- from a name with colons to a row -------------------------------------------------------------


def _splits(text: str, parts: int) -> Iterator[tuple[str, ...]]:
    """Every way to cut ``text`` at colons, the first parts short first."""
    if parts == 1:
        yield (text,)
        return
    at = text.find(":")
    for _ in range(_MOST_SPLITS):
        if at < 0:
            return
        for rest in _splits(text[at + 1 :], parts - 1):
            yield (text[:at], *rest)
        at = text.find(":", at + 1)


def _dataset(view: View, named: str) -> StoredDataset:
    dataset = view.tables.dataset
    keys = [endpoint_key(Dataset(*split)) for split in _splits(named, 2)]
    canonical = select(dataset.c.canonical_id).where(dataset.c.key.in_(keys))
    query = select(dataset).where(dataset.c.id.in_(canonical), is_known(view.tables)).order_by(dataset.c.id)
    row = view.execute(query).first()
    if row is None:
        raise UnknownDataset(named, ())
    return row


def _job(view: View, named: str) -> StoredJob:
    job = view.tables.job
    keys = [key_of(*split) for split in _splits(named, 2)]
    query = select(job).where(job.c.key.in_(keys)).order_by(job.c.id)
    row = view.execute(query).first()
    if row is None:
        raise UnknownJob(named, ())
    return row


def _column(view: View, named: str) -> Ref:
    label = view.tables.label
    for place, character in reversed(list(enumerate(named))):
        if character != ":":
            continue
        part = view.scalar(select(label.c.id).where(label.c.key == key_of(named[place + 1 :])))
        try:
            return _dataset(view, named[:place]).id, -1 if part is None else part
        except UnknownDataset:
            continue
    raise UnknownDataset(named, ())


# -- what was found, with all its edges -----------------------------------------------------------


def _drawn(view: View, refs: set[Ref], also: Collection[int] = ()) -> Surroundings:
    edge = view.tables.edge
    ids = {ref[0] for ref in refs}
    ids |= hubs_between(view, ids, None).keys()
    rows: Sequence[StoredEdge] = _edges(view, edge, ids)
    jobs = {row.job_id for row in rows if row.job_id is not None} | set(also)
    named = job_names(view, jobs)
    names = names_of(view, ids)
    flows = {
        Flow(
            upstream=ends[0],
            upstream_column=None,
            downstream=ends[1],
            downstream_column=None,
            job=_by_id(named, row.job_id),
            type=row.type,
            logic=None,
        )
        for row in rows
        for ends in [[_end(end, row, names, named) for end in (row.upstream_id, row.downstream_id)]]
    }
    return Surroundings(tuple(sorted(flows, key=_order)), _sketches(view, ids), tuple(list_jobs_by_id(view, jobs)))


def _end(end: int, row: StoredEdge, names: Mapping[int, Endpoint], named: Mapping[int, Job]) -> Endpoint:
    """In this picture the job is a node anyway, and stands for its hub."""
    if not is_hub(end):
        return names[end]
    assert row.job_id is not None  # a hub is of one job
    return named[row.job_id]


def _by_id(values: Mapping[int, Value], number: int | None) -> Value | None:
    return None if number is None else values.get(number)


def _drawn_columns(view: View, refs: set[Ref]) -> Surroundings:
    column_edge = view.tables.column_edge
    ids = {ref[0] for ref in refs}
    edges: Sequence[StoredColumnEdge] = _edges(view, column_edge, ids)
    rows = [
        row
        for row in edges
        if _touches(refs, row.upstream_id, row.upstream_column_id)
        and _touches(refs, row.downstream_id, row.downstream_column_id)
    ]
    parts = {part for row in rows for part in (row.upstream_column_id, row.downstream_column_id) if part is not None}
    names, texts = names_of(view, ids), label_texts(view, parts)
    named = job_names(view, {row.job_id for row in rows if row.job_id is not None})
    flows = {
        Flow(
            upstream=names[row.upstream_id],
            upstream_column=_by_id(texts, row.upstream_column_id),
            downstream=names[row.downstream_id],
            downstream_column=_by_id(texts, row.downstream_column_id),
            job=_by_id(named, row.job_id),
            type=row.subtype or row.dependency,
            logic=row.logic,
        )
        for row in rows
    }
    return Surroundings(tuple(sorted(flows, key=_order)), _sketches(view, ids), ())


def _touches(refs: set[Ref], dataset_id: int, part: int | None) -> bool:
    """A dataset as a whole touches every column of it, and is touched by each."""
    whole = (dataset_id, None) in refs
    return whole or ((dataset_id, part) in refs if part is not None else any(ref[0] == dataset_id for ref in refs))


def _edges(view: View, table: FromClause, ids: Collection[int]) -> list[Row[*tuple[object, ...]]]:
    """Between datasets that were found, both."""
    listed = view.id_table("ids")
    query = select(table).join(listed, listed.c.id == table.c.downstream_id).where(table.c.valid_to == OPEN)
    return [row for row in view.execute(query, {"ids": view.id_list(ids)}) if row.upstream_id in ids]


def _order(flow: Flow) -> tuple[str, ...]:
    ends = (flow.downstream, flow.downstream_column, flow.upstream, flow.upstream_column, flow.job)
    return tuple(str(end or "") for end in (*ends, flow.type, flow.logic))


def names_of(view: View, ids: Collection[int]) -> dict[int, Endpoint]:
    return {number: endpoint_of(*name) for number, name in endpoints(view, ids).items()}


def job_names(view: View, ids: Collection[int]) -> dict[int, Job]:
    job = view.tables.job
    listed = view.id_table("ids")
    query = select(job.c.id, job.c.namespace, job.c.name).join(listed, listed.c.id == job.c.id)
    return {row.id: Job(row.namespace, row.name) for row in view.execute(query, {"ids": view.id_list(ids)})}


def _sketches(view: View, ids: Collection[int]) -> tuple[Sketch, ...]:
    dataset = view.tables.dataset
    listed = view.id_table("ids")
    query = (
        select(dataset)
        .join(listed, listed.c.id == dataset.c.id)
        .where(dataset.c.is_job == 0)
        .order_by(dataset.c.namespace, dataset.c.name)
    )
    return tuple(_sketch(view, row) for row in view.execute(query, {"ids": view.id_list(ids)}))


def _sketch(view: View, row: StoredDataset) -> Sketch:
    facets = merged_facets([row.facets])
    return Sketch(
        Dataset(row.namespace, row.name),
        tuple(row.tags),
        None if row.first_seen is None else from_micros(row.first_seen),
        None if row.last_seen is None else from_micros(row.last_seen),
        facets if view.is_everything else visible_facets(facets, view.sees),
    )
