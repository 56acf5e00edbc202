"""Limits on what a transaction makes of the graph. That of direct edges is kept in the store, one for all its events.

Which edges a run makes depends on its events and on the maximum number of direct edges. So that any process folds the
same events into the same graph, the limit is a row of the store, each change of it is an entry of the log, and a change
folds all events again under the new limit. A store without the row has the default.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select

from headwater.errors import EvidenceBroken, StoreError, shorten
from headwater.formats.openlineage.event import EventKind
from headwater.formats.openlineage.flows import MAX_DIRECT_EDGES
from headwater.model.audit import Actor
from headwater.model.runs import RunState
from headwater.store.engine.database import Database
from headwater.store.engine.prepared import together
from headwater.store.fold.entities import Entities, chunks
from headwater.store.fold.graph import Graph
from headwater.store.fold.memory import Memory
from headwater.store.log import audit
from headwater.store.log.audit_writer import deed
from headwater.store.log.log_head import STANDING, Standing
from headwater.store.schema.tables import (
    column_edge,
    dataset,
    edge,
    event,
    graph_limit,
    lineage,
    run,
    version,
)

DIRECT_EDGES_VARIABLE = "HEADWATER_MAX_DIRECT_EDGES"
LIMITED = "store.limited"
_ROW = 1
_MAX_MEMORY = 4 * 2**20


@dataclass(frozen=True)
class DirectEdgesLimit:
    """The limit of a store, and what it was before a change; ``runs`` were folded again."""

    max_direct_edges: int
    before: int
    runs: int


def read_max_direct_edges(conn: Connection) -> int:
    limit = conn.scalar(select(graph_limit.c.max_direct_edges).where(graph_limit.c.id == _ROW))
    return MAX_DIRECT_EDGES if limit is None else limit


def settle_max_direct_edges(database: Database, actor: Actor, limit: int | None) -> None:
    """Give a store without events the limit that the caller asks for, else that of the environment.

    A store with events has its limit: one that the caller asks for has to be the same. What the environment says is for
    new stores alone.
    """
    asked = _checked(limit) if limit is not None else _limit_of_environment()
    if asked is None:
        return
    with database.read() as conn:
        stored, has_events = read_max_direct_edges(conn), _has_events(conn)
    if asked != stored and not has_events:
        with database.write() as conn:
            has_events = _has_events(conn)
            if not has_events:
                _write_limit(conn, actor, asked, read_max_direct_edges(conn))
                return
            stored = read_max_direct_edges(conn)
    if limit is not None and limit != stored:
        raise StoreError(
            f"The store at {database} has a maximum of {stored:,} direct edges, not {limit:,}. "
            f"`headwater db max-direct-edges {limit}` changes it and folds all events again."
        )


def change_max_direct_edges(database: Database, actor: Actor, limit: int) -> DirectEdgesLimit:
    """Change the limit of a store and fold all its events again, in one transaction."""
    _checked(limit)
    with database.write() as conn:
        before = read_max_direct_edges(conn)
        standing = _write_limit(conn, actor, limit, before)
        return DirectEdgesLimit(limit, before, _fold_all_again(conn, standing))


def verify_limit(conn: Connection, entries: Iterable[tuple[int, str, str]]) -> None:
    """That the store has the limit of which the log has the last entry. ``entries``: number, type and details."""
    stored, others = read_max_direct_edges(conn), select(graph_limit.c.id).where(graph_limit.c.id != _ROW)
    if conn.execute(others).first() is not None:
        raise EvidenceBroken("The maximum number of direct edges", "the store has a second one")
    seq, logged = None, MAX_DIRECT_EDGES
    for number, event_type, details in entries:
        if event_type == LIMITED:
            seq, logged = number, int(json.loads(details)["max_direct_edges"])
    if stored != logged:
        by = "no entry of the log changes the default of" if seq is None else f"entry {seq} of the log makes it"
        raise EvidenceBroken("The maximum number of direct edges", f"it is {stored:,}, and {by} {logged:,}")


def _checked(limit: int) -> int:
    if not 0 <= limit < 2**63:
        raise StoreError(f"The maximum number of direct edges must be 0 or more and below 2^63, not {limit}.")
    return limit


def _limit_of_environment() -> int | None:
    text = os.environ.get(DIRECT_EDGES_VARIABLE)
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or int(text) >= 2**63:
        raise StoreError(f"{DIRECT_EDGES_VARIABLE} is '{shorten(text)}', which is not a number of edges.")
    return int(text)


def _has_events(conn: Connection) -> bool:
    return conn.execute(select(event.c.id).limit(1)).first() is not None


def _write_limit(conn: Connection, actor: Actor, limit: int, before: int) -> Standing:
    """The caller holds the write lock."""
    conn.execute(delete(graph_limit))
    conn.execute(insert(graph_limit), {"id": _ROW, "max_direct_edges": limit})
    ((row,),) = together(conn, [(STANDING, {})])
    standing = Standing.told(row)
    audit.record(conn, standing, [(actor, deed(LIMITED, "store", None, max_direct_edges=limit, before=before))])
    return standing


def _fold_all_again(conn: Connection, standing: Standing) -> int:
    """Rebuild versions and edges. Statements of events about datasets, jobs and runs do not depend on the limit."""
    for table in (lineage, version, edge, column_edge):
        conn.execute(delete(table))
    conn.execute(delete(dataset).where(dataset.c.id < 0))
    standing.hub = 0
    memory = Memory()
    ended = select(run.c.id).where(run.c.state == RunState.COMPLETE).order_by(run.c.ended_at, run.c.key)
    runs = list(conn.scalars(ended))
    for some in chunks(runs):
        memory = _fold(conn, memory, standing, runs=some)
    declared = event.c.run_id.is_(None), event.c.kind == EventKind.JOB
    for some in chunks(sorted(conn.scalars(select(event.c.job_id).where(*declared).distinct()))):
        memory = _fold(conn, memory, standing, jobs=some)
    canonical = select(dataset.c.canonical_id).join(event, event.c.dataset_id == dataset.c.id)
    of_datasets = canonical.where(event.c.kind == EventKind.DATASET).distinct()
    for some in chunks(sorted(conn.scalars(of_datasets))):
        memory = _fold(conn, memory, standing, datasets=some)
    return len(runs)


def _fold(
    conn: Connection,
    memory: Memory,
    standing: Standing,
    *,
    runs: Iterable[int] = (),
    jobs: Iterable[int] = (),
    datasets: Iterable[int] = (),
) -> Memory:
    memory = Memory() if memory.weight > _MAX_MEMORY else memory
    entities = Entities(conn, memory, standing)
    Graph(conn, entities).fold_writers(entities.load_run_ids(list(runs)), jobs, datasets)
    return memory
