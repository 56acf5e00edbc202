"""What lies around a dataset, a job or a column: within some hops, all edges between what was found there.

Upstream and downstream answer with one shortest way to each node. A picture of the neighbourhood wants every edge.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Row, Select, select

from headwater.errors import UnknownDataset, UnknownJob
from headwater.formats.openlineage.visibility import visible_facets
from headwater.model.answers import Direction, Grain
from headwater.model.names import Dataset, Endpoint, Job
from headwater.model.pages import Flow, Sketch, Surroundings
from headwater.store.access.visibility import Veil, edge_seen
from headwater.store.engine.arrays import id_list, id_table, is_postgresql
from headwater.store.fold.descriptions import merged_facets
from headwater.store.query.closure import endpoint_of, endpoints, label_texts
from headwater.store.query.jobs import list_jobs_by_id
from headwater.store.query.lookup import is_known
from headwater.store.query.traverse import Ref, Walk, hubs_between, is_hub, reach
from headwater.store.schema.name_keys import endpoint_key, key_of
from headwater.store.schema.tables import OPEN, column_edge, dataset, edge, from_micros, job, label

_MOST_SPLITS = 400
BOTH = (Direction.UPSTREAM, Direction.DOWNSTREAM)


def around_dataset(conn: Connection, named: str, depth: int, veil: Veil | None = None) -> Surroundings:
    """``named``: namespace and name with a colon between; either may hold more of them."""
    start: set[Ref] = {(_dataset(conn, named, veil).id, None)}
    return _drawn(conn, _within(conn, Grain.DATASET, BOTH, start, depth, veil) | start, veil)


def around_job(conn: Connection, named: str, depth: int, veil: Veil | None = None) -> Surroundings:
    """The datasets that flow through the job, and what lies around these."""
    row = _job(conn, named, veil)
    start: set[Ref] = {(end, None) for pair in _through(conn, row.id, veil) for end in pair if not is_hub(end)}
    found = _within(conn, Grain.DATASET, BOTH, start, depth - 1, veil) if depth > 1 and start else set()
    return _drawn(conn, found | start, veil, also={row.id})


def around_columns(
    conn: Connection, kind: str, named: str, depth: int, downstream: bool, veil: Veil | None = None
) -> Surroundings:
    """Of one column (`datasetField`, with a colon before it), of all of a `dataset`, or of what a `job` writes."""
    start: set[Ref]
    if kind == "job":
        pairs = _through(conn, _job(conn, named, veil).id, veil)
        start = {(pair.downstream_id, None) for pair in pairs if not is_hub(pair.downstream_id)}
    elif kind == "dataset":
        start = {(_dataset(conn, named, veil).id, None)}
    else:
        start = {_column(conn, named, veil)}
    ways = BOTH if downstream else BOTH[:1]
    found = _within(conn, Grain.COLUMN, ways, start, depth, veil) if start else set()
    return _drawn_columns(conn, found | start, veil)


def _through(conn: Connection, job_id: int, veil: Veil | None) -> Sequence[Row[int, int]]:
    """The pairs of datasets that the job lies between; where it has a hub, this is one of them."""
    query = select(edge.c.upstream_id, edge.c.downstream_id).where(edge.c.job_id == job_id, edge.c.valid_to == OPEN)
    return conn.execute(query if veil is None else query.where(edge_seen(veil, edge))).all()


def _within(
    conn: Connection, grain: Grain, ways: tuple[Direction, ...], start: set[Ref], depth: int, veil: Veil | None
) -> set[Ref]:
    found: set[Ref] = set()
    for direction in ways:
        found |= reach(conn, Walk(grain, direction, veil=veil), start, depth).steps.keys()
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


def _dataset(conn: Connection, named: str, veil: Veil | None) -> Row[Any]:
    keys = [endpoint_key(Dataset(*split)) for split in _splits(named, 2)]
    canonical = select(dataset.c.canonical_id).where(dataset.c.key.in_(keys))
    query = select(dataset).where(dataset.c.id.in_(canonical), is_known(veil)).order_by(dataset.c.id)
    row = conn.execute(query if veil is None else query.where(veil.lets(dataset.c.namespace))).first()
    if row is None:
        raise UnknownDataset(named, ())
    return row


def _job(conn: Connection, named: str, veil: Veil | None) -> Row[Any]:
    keys = [key_of(*split) for split in _splits(named, 2)]
    query = select(job).where(job.c.key.in_(keys)).order_by(job.c.id)
    row = conn.execute(query if veil is None else query.where(veil.lets(job.c.namespace))).first()
    if row is None:
        raise UnknownJob(named, ())
    return row


def _column(conn: Connection, named: str, veil: Veil | None) -> Ref:
    for place, character in reversed(list(enumerate(named))):
        if character != ":":
            continue
        part = conn.scalar(select(label.c.id).where(label.c.key == key_of(named[place + 1 :])))
        try:
            return _dataset(conn, named[:place], veil).id, -1 if part is None else part
        except UnknownDataset:
            continue
    raise UnknownDataset(named, ())


# -- what was found, with all its edges -----------------------------------------------------------


def _drawn(conn: Connection, refs: set[Ref], veil: Veil | None, also: Collection[int] = ()) -> Surroundings:
    ids = {ref[0] for ref in refs}
    ids |= hubs_between(conn, ids, None, veil).keys()
    rows = _edges(conn, edge, ids, veil)
    jobs = {row.job_id for row in rows if row.job_id is not None} | set(also)
    named = job_names(conn, jobs)
    names = names_of(conn, ids)
    flows = {
        Flow(ends[0], None, ends[1], None, named.get(row.job_id), row.type, None)
        for row in rows
        # In this picture the job is a node anyway, and stands for its hub.
        for ends in [[named[row.job_id] if is_hub(end) else names[end] for end in (row.upstream_id, row.downstream_id)]]
    }
    return Surroundings(
        tuple(sorted(flows, key=_order)), _sketches(conn, ids, veil), tuple(list_jobs_by_id(conn, jobs))
    )


def _drawn_columns(conn: Connection, refs: set[Ref], veil: Veil | None) -> Surroundings:
    ids = {ref[0] for ref in refs}
    rows = [
        row
        for row in _edges(conn, column_edge, ids, veil)
        if _touches(refs, row.upstream_id, row.upstream_column_id)
        and _touches(refs, row.downstream_id, row.downstream_column_id)
    ]
    parts = {part for row in rows for part in (row.upstream_column_id, row.downstream_column_id) if part is not None}
    names, texts = names_of(conn, ids), label_texts(conn, parts)
    named = job_names(conn, {row.job_id for row in rows if row.job_id is not None})
    flows = {
        Flow(
            names[row.upstream_id],
            texts.get(row.upstream_column_id),
            names[row.downstream_id],
            texts.get(row.downstream_column_id),
            named.get(row.job_id),
            row.subtype or row.dependency,
            row.logic,
        )
        for row in rows
    }
    return Surroundings(tuple(sorted(flows, key=_order)), _sketches(conn, ids, veil), ())


def _touches(refs: set[Ref], dataset_id: int, part: int | None) -> bool:
    """A dataset as a whole touches every column of it, and is touched by each."""
    whole = (dataset_id, None) in refs
    return whole or ((dataset_id, part) in refs if part is not None else any(ref[0] == dataset_id for ref in refs))


def _edges(conn: Connection, table: Any, ids: Collection[int], veil: Veil | None) -> list[Row[Any]]:
    """Between datasets that were found, both."""
    listed = id_table(is_postgresql(conn), "ids")
    query: Select[Any] = (
        select(table).join(listed, listed.c.id == table.c.downstream_id).where(table.c.valid_to == OPEN)
    )
    if veil is not None:
        query = query.where(edge_seen(veil, table))
    return [row for row in conn.execute(query, {"ids": id_list(conn, ids)}) if row.upstream_id in ids]


def _order(flow: Flow) -> tuple[str, ...]:
    ends = (flow.downstream, flow.downstream_column, flow.upstream, flow.upstream_column, flow.job)
    return tuple(str(end or "") for end in (*ends, flow.type, flow.logic))


def names_of(conn: Connection, ids: Collection[int]) -> dict[int, Endpoint]:
    return {number: endpoint_of(*name) for number, name in endpoints(conn, ids).items()}


def job_names(conn: Connection, ids: Collection[int]) -> dict[int, Job]:
    listed = id_table(is_postgresql(conn), "ids")
    query = select(job.c.id, job.c.namespace, job.c.name).join(listed, listed.c.id == job.c.id)
    return {row.id: Job(row.namespace, row.name) for row in conn.execute(query, {"ids": id_list(conn, ids)})}


def _sketches(conn: Connection, ids: Collection[int], veil: Veil | None) -> tuple[Sketch, ...]:
    listed = id_table(is_postgresql(conn), "ids")
    query = (
        select(dataset)
        .join(listed, listed.c.id == dataset.c.id)
        .where(dataset.c.is_job == 0)
        .order_by(dataset.c.namespace, dataset.c.name)
    )
    return tuple(_sketch(row, veil) for row in conn.execute(query, {"ids": id_list(conn, ids)}))


def _sketch(row: Row[Any], veil: Veil | None) -> Sketch:
    facets = merged_facets([row.facets])
    return Sketch(
        Dataset(row.namespace, row.name),
        tuple(row.tags),
        None if row.first_seen is None else from_micros(row.first_seen),
        None if row.last_seen is None else from_micros(row.last_seen),
        facets if veil is None else visible_facets(facets, veil.sees),
    )
