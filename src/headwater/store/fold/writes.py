"""What was written: dataset versions and, for each, the lineage rows of what was read to make it.

A *writer* is a completed run, a job's declaration or a dataset's. Writers with the same origin and job that write the
same partition of the same dataset replace each other: a version is valid from its own time to the next one's. That is
all there is to edges becoming stale; dropping a table or another job writing to it retires nothing, because where the
data came from stays true.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, delete

from headwater.formats.openlineage.describe import schema_fields, version_label
from headwater.formats.openlineage.flows import Flow, Source, endpoints_of, summary
from headwater.model.lineage import Basis, ColumnEdge, Dependency, EdgeType, Origin
from headwater.store.arrays import one_of
from headwater.store.fold.entities import Entities
from headwater.store.fold.rows import Group, Newest
from headwater.store.tables import lineage, version

_MOST_PARTITION_PAIRS = 10_000
_BASES = list(Basis)


@dataclass(frozen=True)
class Writer:
    origin: Origin
    job_id: int | None
    run_id: int | None
    event_id: int | None
    written_at: int
    tiebreak: bytes

    @property
    def stamp(self) -> tuple[int, bytes]:
        return self.written_at, self.tiebreak


@dataclass(frozen=True)
class Read:
    """An upstream dataset, under its canonical name, and how it was used."""

    upstream_id: int
    partition_ids: tuple[int | None, ...]
    basis: Basis
    type: EdgeType
    transformation: str | None


@dataclass
class Draft:
    """A version about to be written."""

    group: Group
    partition_id: int | None
    writer: Writer
    reads: Sequence[Read] = ()
    columns: Sequence[Any] = ()
    schema: Any = None
    label: str | None = None

    def __post_init__(self) -> None:
        self.upstreams = [[r.upstream_id, r.basis, r.type, r.transformation] for r in self.reads]
        self.upstream_digest = content_digest(self.upstreams)
        self.column_digest = content_digest(self.columns)
        self.schema_digest = content_digest(self.schema) if self.schema is not None else None
        partitions = [r.partition_ids for r in self.reads]
        self.digest = content_digest([self.upstreams, self.columns, self.schema, self.label, partitions])

    def by(self, writer: Writer) -> Draft:
        """The same, by another run of the job."""
        same = copy(self)
        same.writer = writer
        return same

    def repeats(self, before: Newest) -> bool:
        return (before.upstream_digest, before.column_digest) == (self.upstream_digest, self.column_digest)

    @property
    def signature(self) -> tuple[Any, ...]:
        """Two drafts, or a draft and a stored version, with the same signature are the same version."""
        writer = self.writer
        whose = (writer.origin, writer.job_id, writer.run_id, writer.event_id, writer.written_at)
        return (*whose, self.group.dataset_id, self.partition_id, self.digest)


def content_digest(body: Any) -> bytes:
    return hashlib.sha256(json.dumps(body, separators=(",", ":")).encode()).digest()


def draft_flows(entities: Entities, writer: Writer, flows: Iterable[Flow]) -> list[Draft]:
    """The versions that ``writer`` makes, under the names that hold now."""
    flows = list(flows)
    entities.load_datasets(endpoints_of(flows))
    labels = entities.label_ids(
        {name for flow in flows for name in flow.partitions}
        | {name for flow in flows for source in flow.sources for name in source.partitions}
    )
    by_target: dict[int, list[Flow]] = {}
    for flow in flows:
        by_target.setdefault(entities.canonical_id(flow.target), []).append(flow)
    return [draft for flows in by_target.values() for draft in _draft_target(entities, labels, writer, flows)]


def _draft_target(entities: Entities, labels: Mapping[str, int], writer: Writer, flows: Sequence[Flow]) -> list[Draft]:
    """One dataset, which a writer may have written under several of its names."""
    group = Group(writer.origin, writer.job_id, entities.canonical_id(flows[0].target))
    whole = not all(flow.partitions for flow in flows)
    names = {name for flow in flows for name in flow.partitions}
    partitions: list[int | None] = [None] if whole else [*sorted(labels[name] for name in names)]
    facets = [flow.use.facets for flow in flows if flow.use]
    edges = {edge for flow in flows for edge in flow.columns}
    reads = _reads(entities, labels, [s for flow in flows for s in flow.sources], edges, len(partitions))
    columns = _column_content(entities, edges, {read.upstream_id for read in reads})
    schema = next((fields for f in facets if (fields := schema_fields(f))), None)
    label = next((text for f in facets if (text := version_label(f)) is not None), None)
    return [Draft(group, partition_id, writer, reads, columns, schema, label) for partition_id in partitions]


def _reads(
    entities: Entities,
    labels: Mapping[str, int],
    sources: Iterable[Source],
    edges: Iterable[ColumnEdge],
    target_partitions: int,
) -> list[Read]:
    by_upstream: dict[int, list[Source]] = {}
    for source in sources:
        by_upstream.setdefault(entities.canonical_id(source.upstream), []).append(source)
    column_edges: dict[int, list[ColumnEdge]] = {}
    for edge in edges:
        column_edges.setdefault(entities.canonical_id(edge.upstream), []).append(edge)
    reads = []
    for upstream_id, same in sorted(by_upstream.items()):
        names = {name for source in same for name in source.partitions}
        # Past this size pairing partitions says little and costs much: the upstream counts as read whole.
        whole = not all(s.partitions for s in same) or len(names) * target_partitions > _MOST_PARTITION_PAIRS
        partition_ids = (None,) if whole else tuple(sorted(labels[name] for name in names))
        basis = min((source.basis for source in same), key=_BASES.index)
        reads.append(Read(upstream_id, partition_ids, basis, *summary(column_edges.get(upstream_id, ()))))
    return reads


def _column_content(entities: Entities, edges: Iterable[ColumnEdge], upstreams: set[int]) -> list[Any]:
    """The column edges; an upstream that none of them mentions is there as a whole, with its columns unknown."""
    stated = {
        (
            entities.canonical_id(edge.upstream),
            edge.upstream_column,
            edge.downstream_column,
            edge.dependency,
            edge.subtype,
            int(edge.masking),
            edge.logic,
        )
        for edge in edges
    }
    unstated = upstreams - {row[0] for row in stated}
    rows = stated | {(upstream, None, None, Dependency.UNKNOWN, None, 0, None) for upstream in unstated}
    return sorted(map(list, rows), key=json.dumps)


def remove_versions(conn: Connection, ids: Collection[int]) -> None:
    conn.execute(delete(lineage).where(one_of(conn, lineage.c.version_id, ids)))
    conn.execute(delete(version).where(one_of(conn, version.c.id, ids)))


def in_group(group: Group) -> ColumnElement[bool]:
    same_job = version.c.job_id.is_(None) if group.job_id is None else version.c.job_id == group.job_id
    return and_(same_job, version.c.dataset_id == group.dataset_id, version.c.origin == group.origin)


def signature(row: Row[Any]) -> tuple[Any, ...]:
    """:attr:`Draft.signature` of a stored version."""
    whose = (row.origin, row.job_id, row.run_id, row.event_id, row.written_at)
    return (*whose, row.dataset_id, row.partition_id, row.digest)
