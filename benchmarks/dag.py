"""A generated DAG, laid into a store's tables as the fold would leave it.

``clusters`` independent ones, each of ``layers`` layers of ``width`` datasets; a dataset reads from the layer below,
from between 1 and twice ``reads`` datasets. One job and one completed run write each dataset.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sqlalchemy import Connection, insert

from headwater.model.names import Dataset
from headwater.store.engine.database import Database
from headwater.store.schema.name_keys import endpoint_key, key_of
from headwater.store.schema.tables import OPEN, column_edge, content, dataset, edge, job, lineage, run, version
from headwater.store.schema.upgrade import ensure_current

_START = 1_700_000_000_000_000
_CHUNK = 20_000


@dataclass(frozen=True)
class Shape:
    clusters: int
    layers: int
    width: int
    reads: int

    @property
    def nodes(self) -> int:
        return self.clusters * self.layers * self.width

    def name(self, node: int) -> str:
        return f"lake.layer_{node // self.width % self.layers}.table_{node}"

    def edges(self) -> Iterator[tuple[int, int]]:
        """(upstream, downstream), counted from 1 as their ids are."""
        random_numbers = random.Random(20261115)
        for node in range(self.nodes):
            layer = node // self.width % self.layers
            if layer == 0:
                continue
            below = range((node // self.width - 1) * self.width, node // self.width * self.width)
            count = min(random_numbers.randint(1, 2 * self.reads - 1), self.width)
            for upstream in random_numbers.sample(below, count):
                yield upstream + 1, node + 1


def lay(url: str, shape: Shape) -> int:
    """Fill the empty store at ``url``; how many edges it has."""
    database = Database(url)
    ensure_current(database, create=True)
    with database.write() as conn:
        conn.execute(insert(content), [{"digest": b"none", "body": []}])
        _insert(conn, dataset, (_dataset(shape, i) for i in range(shape.nodes)))
        _insert(conn, job, (_job(i) for i in range(shape.nodes)))
        _insert(conn, run, (_run(i) for i in range(shape.nodes)))
        _insert(conn, version, (_version(i) for i in range(shape.nodes)))
        edges = list(shape.edges())
        _insert(conn, lineage, (_lineage(*pair) for pair in edges))
        _insert(conn, edge, (_edge(*pair) for pair in edges))
        _insert(conn, column_edge, (_column_edge(*pair) for pair in edges))
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as conn:
        # What the databases do by themselves in the course of time.
        conn.exec_driver_sql("ANALYZE" if database.is_sqlite else "VACUUM ANALYZE")
    database.close()
    return len(edges)


def _insert(conn: Connection, table: Any, rows: Iterable[dict[str, Any]]) -> None:
    rows = iter(rows)
    while chunk := list(islice(rows, _CHUNK)):
        conn.execute(insert(table), chunk)


def _dataset(shape: Shape, i: int) -> dict[str, Any]:
    name = shape.name(i)
    return {
        "id": i + 1,
        "key": endpoint_key(Dataset("bench", name)),
        "namespace": "bench",
        "name": name,
        "name_key": key_of(name),
        "is_job": 0,
        "canonical_id": i + 1,
        "kind": "table",
        "tags": [],
        "contested": 0,
        "facets": {},
    }


def _job(i: int) -> dict[str, Any]:
    name = f"job_{i}"
    key = key_of("bench", name)
    return {"id": i + 1, "key": key, "namespace": "bench", "name": name, "facets": {}, "last_seen": _START}


def _run(i: int) -> dict[str, Any]:
    run_id = f"00000000-0000-4000-8000-{i:012d}"
    return {
        "id": i + 1,
        "key": key_of(run_id),
        "run_id": run_id,
        "job_id": i + 1,
        "state": "COMPLETE",
        "ended_at": _START + i,
        "first_event_at": _START + i,
        "last_event_at": _START + i,
        "stamps": {},
    }


def _version(i: int) -> dict[str, Any]:
    return {
        "id": i + 1,
        "dataset_id": i + 1,
        "origin": "run",
        "job_id": i + 1,
        "run_id": i + 1,
        "written_at": _START + i,
        "tiebreak": b"",
        "valid_to": OPEN,
        "upstream_digest": b"none",
        "column_digest": b"none",
        "digest": b"none",
    }


def _lineage(upstream: int, downstream: int) -> dict[str, Any]:
    return {
        "version_id": downstream,
        "run_id": downstream,
        "job_id": downstream,
        "upstream_id": upstream,
        "downstream_id": downstream,
        "consumed_at": _START + downstream - 1,
        "valid_to": OPEN,
        "origin": "run",
        "basis": "inputs",
        "type": "derived_from",
    }


def _edge(upstream: int, downstream: int) -> dict[str, Any]:
    return {
        "job_id": downstream,
        "origin": "run",
        "upstream_id": upstream,
        "downstream_id": downstream,
        "basis": "inputs",
        "type": "derived_from",
        "valid_from": _START + downstream - 1,
        "valid_to": OPEN,
    }


def _column_edge(upstream: int, downstream: int) -> dict[str, Any]:
    return {
        "job_id": downstream,
        "origin": "run",
        "upstream_id": upstream,
        "downstream_id": downstream,
        "dependency": "UNKNOWN",
        "masking": 0,
        "valid_from": _START + downstream - 1,
        "valid_to": OPEN,
    }
