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

from sqlalchemy import ColumnElement, Connection, and_, delete

from headwater.formats.openlineage.describe import schema_fields, version_label
from headwater.formats.openlineage.flows import FlowSource, SharedInputs, TargetFlow, edge_summary, endpoints_of
from headwater.formats.openlineage.stated_columns import ColumnEdgeRow as StatedRow
from headwater.formats.openlineage.stated_columns import JsonStrings, row_of, row_text
from headwater.model.lineage import Basis, ColumnEdge, Dependency, EdgeType, Origin
from headwater.model.names import Endpoint
from headwater.store.engine.dialect import dialect_of
from headwater.store.fold.entities import Entities
from headwater.store.fold.rows import Group, Newest
from headwater.store.schema.stored_rows import StoredVersion
from headwater.store.schema.tables import lineage, version

_MOST_PARTITION_PAIRS = 10_000
MAX_PARTITION_ROWS = 50_000
"""Maximum number of rows, versions and lineage, that one writer makes of datasets whose partitions it names."""
_BASES = list(Basis)


ColumnRow = tuple[int, str | None, str | None, Dependency, str | None, int, str | None]
"""The id of an upstream, and what is stated of it."""

Signature = tuple[int | str | bytes | None, ...]


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


@dataclass(frozen=True)
class ColumnContent:
    """Column edges as they are stored: each once, by its text."""

    by_upstream: Sequence[tuple[int, Sequence[tuple[str, StatedRow]]]]
    """Each edge after its text, without the upstream."""
    text: str
    """The rows as compact JSON. There may be very many, so it is put together once."""

    @property
    def rows(self) -> list[ColumnRow]:
        """Only the first version that says them needs them as rows."""
        return [(upstream, *row) for upstream, stated in self.by_upstream for _, row in stated]


NO_COLUMNS = ColumnContent((), "[]")


@dataclass
class Draft:
    """A version about to be written."""

    group: Group
    partition_id: int | None
    writer: Writer
    reads: Sequence[Read] = ()
    columns: ColumnContent = NO_COLUMNS
    schema: object = None
    label: str | None = None

    def __post_init__(self) -> None:
        self.upstreams = [[r.upstream_id, r.basis, r.type, r.transformation] for r in self.reads]
        self.upstream_digest = content_digest(self.upstreams)
        self.column_digest = text_digest(self.columns.text)
        self.schema_digest = content_digest(self.schema) if self.schema is not None else None
        partitions = [r.partition_ids for r in self.reads]
        said = map(content_text, (self.schema, self.label, partitions))
        self.digest = text_digest(f"[{','.join((content_text(self.upstreams), self.columns.text, *said))}]")

    def by(self, writer: Writer) -> Draft:
        """The same, by another run of the job."""
        same = copy(self)
        same.writer = writer
        return same

    @property
    def as_read(self) -> Read:
        """Of a hub: how what flows out of it reads it."""
        return Read(self.group.dataset_id, (self.partition_id,), Basis.INPUTS, EdgeType.DERIVED_FROM, None)

    def repeats(self, before: Newest) -> bool:
        return (before.upstream_digest, before.column_digest) == (self.upstream_digest, self.column_digest)

    @property
    def signature(self) -> Signature:
        """Two drafts, or a draft and a stored version, with the same signature are the same version."""
        writer = self.writer
        whose = (writer.origin, writer.job_id, writer.run_id, writer.event_id, writer.written_at)
        return (*whose, self.group.dataset_id, self.partition_id, self.digest)


content_text = json.JSONEncoder(separators=(",", ":")).encode


def text_digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def content_digest(body: object) -> bytes:
    return text_digest(content_text(body))


def draft_flows(entities: Entities, writer: Writer, flows: Iterable[TargetFlow]) -> list[Draft]:
    """The versions that ``writer`` makes, under the names that hold now."""
    flows = list(flows)
    entities.load_datasets(endpoints_of(flows))
    shared = dict.fromkeys(flow.shared for flow in flows if flow.shared is not None)
    labels = entities.label_ids(
        {name for flow in flows for name in flow.partitions}
        | {name for flow in flows for source in flow.sources for name in source.partitions}
        | {name for inputs in shared for source in inputs.sources for name in source.partitions}
    )
    hubs = {inputs: _draft_hub(entities, labels, writer, inputs) for inputs in shared}
    by_target: dict[int, list[TargetFlow]] = {}
    for flow in flows:
        by_target.setdefault(entities.canonical_id(flow.target), []).append(flow)
    unpartitioned = _targets_as_wholes(entities, labels, by_target)
    drafts = [
        draft
        for target, flows in by_target.items()
        for draft in _draft_target(entities, labels, writer, flows, hubs, target in unpartitioned)
    ]
    return [*hubs.values(), *drafts]


def _targets_as_wholes(
    entities: Entities, labels: Mapping[str, int], by_target: Mapping[int, Sequence[TargetFlow]]
) -> set[int]:
    """The targets that count as written whole: every partition written has a row for everything read, and a small event
    can name very many of both. Beyond the limit the largest targets are not divided until the rest is below it; what is
    said of a whole dataset holds for each of its partitions, so no lineage is lost."""
    flows = [flow for flows in by_target.values() for flow in flows]
    written = sum(len(flow.partitions) or 1 for flow in flows)
    read = sum(len(source.partitions) or 1 for flow in flows for source in flow.sources)
    if written * (read + 2 * len(flows)) <= MAX_PARTITION_ROWS:  # each a version and at most one hub
        return set()
    rows = {target: count for target, flows in by_target.items() if (count := _partition_rows(entities, labels, flows))}
    total, wholes = sum(rows.values()), set[int]()
    for target in sorted(rows, key=lambda target: -rows[target]):  # equal ones in the order of their names
        if total <= MAX_PARTITION_ROWS:
            break
        wholes.add(target)
        total -= rows[target]
    return wholes


def _partition_rows(entities: Entities, labels: Mapping[str, int], flows: Sequence[TargetFlow]) -> int:
    """Versions of one target and their lineage rows, where it is divided at all."""
    names = {name for flow in flows for name in flow.partitions}
    if len(names) < 2 or not all(flow.partitions for flow in flows):
        return 0
    reads = _reads(entities, labels, [s for flow in flows for s in flow.sources], {}, len(names))
    hubs = len({flow.shared for flow in flows if flow.shared is not None})
    return len(names) * (1 + hubs + sum(len(read.partition_ids) for read in reads))


def _draft_hub(entities: Entities, labels: Mapping[str, int], writer: Writer, shared: SharedInputs) -> Draft:
    """The hub that the inputs flow into: a node for each job and set of inputs, so that what flows into it never
    changes and only what flows out of it has a history. A version of it is one set of partitions of these inputs."""
    reads = _reads(entities, labels, shared.sources, {}, 1)
    entities.load_dataset_ids([read.upstream_id for read in reads])
    names = {read.upstream_id: entities.dataset_of(read.upstream_id).endpoint for read in reads}
    hub_id = entities.hub_id(shared.job, sorted(names.values(), key=_by_name))
    texts = {labels[text]: text for source in shared.sources for text in source.partitions}
    read_of = sorted(
        [*_by_name(names[read.upstream_id]), sorted(texts[part] for part in read.partition_ids if part is not None)]
        for read in reads
    )
    part = f"inputs {content_digest(read_of).hex()}"
    partition_id = entities.label_ids([part])[part]
    group = Group(writer.origin, writer.job_id, hub_id)
    return Draft(group, partition_id, writer, reads, _column_content(entities, (), {}, {*names}))


def _by_name(endpoint: Endpoint) -> tuple[str, str]:
    return endpoint.namespace, endpoint.name


def _draft_target(
    entities: Entities,
    labels: Mapping[str, int],
    writer: Writer,
    flows: Sequence[TargetFlow],
    hubs: Mapping[SharedInputs, Draft],
    as_whole: bool,
) -> list[Draft]:
    """One dataset, which a writer may have written under several of its names."""
    group = Group(writer.origin, writer.job_id, entities.canonical_id(flows[0].target))
    whole = as_whole or not all(flow.partitions for flow in flows)
    names = {name for flow in flows for name in flow.partitions}
    partitions: list[int | None] = [None] if whole else [*sorted(labels[name] for name in names)]
    facets = [flow.use.facets for flow in flows if flow.use]
    edges = _by_upstream(entities, flows)
    reads = _reads(entities, labels, [s for flow in flows for s in flow.sources], edges, len(partitions))
    through = {hubs[flow.shared].as_read for flow in flows if flow.shared is not None}
    reads = sorted([*reads, *through], key=lambda read: read.upstream_id)
    columns = _column_content(entities, flows, edges, {read.upstream_id for read in reads})
    schema = next((fields for f in facets if (fields := schema_fields(f))), None)
    label = next((text for f in facets if (text := version_label(f)) is not None), None)
    return [
        Draft(
            group=group,
            partition_id=partition_id,
            writer=writer,
            reads=reads,
            columns=columns,
            schema=schema,
            label=label,
        )
        for partition_id in partitions
    ]


def _reads(
    entities: Entities,
    labels: Mapping[str, int],
    sources: Iterable[FlowSource],
    edges: Mapping[int, Collection[ColumnEdge]],
    target_partitions: int,
) -> list[Read]:
    by_upstream: dict[int, list[FlowSource]] = {}
    for source in sources:
        by_upstream.setdefault(entities.canonical_id(source.upstream), []).append(source)
    reads = []
    for upstream_id, same in sorted(by_upstream.items()):
        names = {name for source in same for name in source.partitions}
        # Past this size pairing partitions says little and costs much: the upstream counts as read whole.
        whole = not all(s.partitions for s in same) or len(names) * target_partitions > _MOST_PARTITION_PAIRS
        partition_ids = (None,) if whole else tuple(sorted(labels[name] for name in names))
        basis = min((source.basis for source in same), key=_BASES.index)
        reads.append(Read(upstream_id, partition_ids, basis, *edge_summary(edges.get(upstream_id, ()))))
    return reads


def _by_upstream(entities: Entities, flows: Sequence[TargetFlow]) -> dict[int, list[ColumnEdge]]:
    """The column edges by the upstream, under its canonical name. Of several flows one may be there twice."""
    by_id: dict[int, list[ColumnEdge]] = {}
    for flow in flows:
        for endpoint, edges in flow.columns_by_upstream().items():
            by_id.setdefault(entities.canonical_id(endpoint), []).extend(edges)
    return by_id


_UNKNOWN: StatedRow = (None, None, Dependency.UNKNOWN, None, 0, None)
_UNKNOWN_TEXT = f'null,null,"{Dependency.UNKNOWN}",null,0,null]'


def _column_content(
    entities: Entities, flows: Sequence[TargetFlow], edges: Mapping[int, Collection[ColumnEdge]], upstreams: set[int]
) -> ColumnContent:
    """The column edges; an upstream that none of them mentions is there as a whole, with its columns unknown."""
    rows = {upstream: [(_UNKNOWN_TEXT, _UNKNOWN)] for upstream in upstreams - edges.keys()}
    stated = flows[0].stated if len(flows) == 1 else None
    prepared = {} if stated is None else {entities.canonical_id(name): of for name, of in stated.rows.items()}
    if stated is not None and len(prepared) == len(stated.rows):
        rows |= prepared
    else:
        quoted = JsonStrings()
        for upstream, same in edges.items():
            rows[upstream] = sorted({row_text(edge, quoted): row_of(edge) for edge in same}.items())
    # Sorted as texts, of which the upstream is the beginning.
    ordered = [(upstream, rows[upstream]) for upstream in sorted(rows, key=lambda upstream: f"{upstream},")]
    texts = [f"[{upstream}," + f",[{upstream},".join([end for end, _ in same]) for upstream, same in ordered if same]
    return ColumnContent(ordered, f"[{','.join(texts)}]")


def remove_versions(conn: Connection, ids: Collection[int]) -> None:
    conn.execute(delete(lineage).where(dialect_of(conn).one_of(lineage.c.version_id, ids)))
    conn.execute(delete(version).where(dialect_of(conn).one_of(version.c.id, ids)))


def in_group(group: Group) -> ColumnElement[bool]:
    same_job = version.c.job_id.is_(None) if group.job_id is None else version.c.job_id == group.job_id
    return and_(same_job, version.c.dataset_id == group.dataset_id, version.c.origin == group.origin)


def signature(row: StoredVersion) -> Signature:
    """:attr:`Draft.signature` of a stored version."""
    whose = (row.origin, row.job_id, row.run_id, row.event_id, row.written_at)
    return (*whose, row.dataset_id, row.partition_id, row.digest)
