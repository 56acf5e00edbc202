"""The tables. One definition serves SQLite and PostgreSQL.

Three layers:

* facts: ``event``, stored as received, and ``audit``, the log, append-only; beside the log what makes proofs quick and
  what was signed: ``log_tile``, ``checkpoint``, ``certificate``, append-only too;
* entities that events name: ``dataset``, ``job``, ``run``, with the facets that hold now;
* the graph folded from them: ``version``, ``lineage``, ``edge``, ``column_edge``. These can be rebuilt from the events.

Names have no length limit, and a B-tree entry does, so every unique key is a SHA-256 of the name (``key``). Partition
and column names are interned in ``label`` for the same reason. Times are microseconds since the epoch: exact, ordered
and the same on both databases. An interval that has not ended ends at :data:`OPEN`, so that "what holds now" is an
equality an index can answer.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Literal

from sqlalchemy import (
    BigInteger,
    Column,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    text,
)

from headwater.store.engine.dialect import DIALECTS

OPEN = 2**63 - 1
"""The end of an interval that has not ended, in microseconds."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_micros(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    return _EPOCH + timedelta(microseconds=micros)


def from_end(micros: int) -> datetime | None:
    return None if micros == OPEN else from_micros(micros)


_encode = json.JSONEncoder(separators=(",", ":")).encode
_decode = json.JSONDecoder().decode


class Json(TypeDecorator[object]):
    """JSON as ASCII text: any JSON value survives, `\\u0000` and unpaired surrogates too, which JSONB refuses."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: object, dialect: Dialect) -> str | None:
        return None if value is None else _encode(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> object:
        return None if value is None else _decode(value)


Id = BigInteger().with_variant(Integer, "sqlite")
Micros = BigInteger
metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _id() -> Column[int]:
    return Column("id", Id, primary_key=True)


def _number() -> Column[int]:
    """An id that the writer gives out: see ``standing.py``."""
    return Column("id", Id, primary_key=True, autoincrement=False)


def _key() -> Column[bytes]:
    return Column("key", LargeBinary, nullable=False, unique=True)


def _index(*columns: str, where: str, postgresql_using: str | Literal[False] = False) -> Index:
    """Of the rows that are ever looked for by it; for the others each write would be in vain."""
    index = Index(None, *columns, postgresql_using=postgresql_using)
    for name, dialect in DIALECTS.items():
        if dialect.has_partial_indexes:
            index.dialect_kwargs[f"{name}_where"] = text(where)
    return index


event = Table(
    "event",
    metadata,
    _number(),
    Column("digest", LargeBinary, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("event_type", Text),
    Column("event_time", Micros, nullable=False),
    Column("received_at", Micros, nullable=False),
    Column("run_id", Id, ForeignKey("run.id")),
    Column("job_id", Id, ForeignKey("job.id")),
    Column("dataset_id", Id, ForeignKey("dataset.id")),
    Column("problems", Json),
    Column("body", LargeBinary, nullable=False),
    Index(None, "run_id"),
    # Declarations. A run's events are found by the run, and are by far the most.
    _index("job_id", where="run_id IS NULL"),
    _index("dataset_id", where="dataset_id IS NOT NULL"),
)

dataset = Table(
    "dataset",
    metadata,
    _number(),
    _key(),
    Column("namespace", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("name_key", LargeBinary, nullable=False),
    # 1 for a job that a producer named as the endpoint of an edge, 2 for a hub (decision 20), whose id is below zero;
    # neither is ever listed as a dataset.
    Column("is_job", SmallInteger, nullable=False),
    # Itself, or the dataset this name is an alias of (OpenLineage symlinks).
    Column("canonical_id", Id, nullable=False),
    Column("kind", Text, nullable=False),
    Column("owner", Text),
    Column("tags", Json, nullable=False),
    # Others have a say: another dataset claims one of its aliases, or events speak of it under another name. Then
    # what it says of itself has to be weighed against them each time.
    Column("contested", SmallInteger, nullable=False),
    # The first and last event that had it among its datasets; none for one only named in another's facets.
    Column("first_seen", Micros),
    Column("last_seen", Micros),
    # {name: [micros, digest, body]}: each facet with the stamp of the event that set it.
    Column("facets", Json, nullable=False),
    Index(None, "name_key"),
    Index(None, "canonical_id"),
)

symlink = Table(
    "symlink",
    metadata,
    Column("dataset_id", Id, ForeignKey("dataset.id"), primary_key=True),
    Column("alias_id", Id, ForeignKey("dataset.id"), primary_key=True),
    Index(None, "alias_id"),
    sqlite_with_rowid=False,
)
"""The identifiers in each dataset's current `symlinks` facet."""

job = Table(
    "job",
    metadata,
    _number(),
    _key(),
    Column("namespace", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("owner", Text),
    Column("facets", Json, nullable=False),
    Column("last_seen", Micros, nullable=False),
)

run = Table(
    "run",
    metadata,
    _number(),
    _key(),
    Column("run_id", Text, nullable=False),
    Column("job_id", Id, ForeignKey("job.id"), nullable=False),
    Column("state", Text, nullable=False),
    Column("started_at", Micros),
    Column("ended_at", Micros),
    Column("first_event_at", Micros, nullable=False),
    Column("last_event_at", Micros, nullable=False),
    Column("nominal_start", Micros),
    Column("nominal_end", Micros),
    Column("parent_run_id", Text),
    Column("parent_key", LargeBinary),
    # The stamps behind the columns above, so that a late event cannot overrule a later one.
    Column("stamps", Json, nullable=False),
    Index(None, "job_id", "last_event_at"),
    Index(None, "last_event_at"),
    _index("parent_key", where="parent_key IS NOT NULL"),
)

run_dataset = Table(
    "run_dataset",
    metadata,
    Column("run_id", Id, ForeignKey("run.id"), primary_key=True),
    Column("dataset_id", Id, ForeignKey("dataset.id"), primary_key=True),
    Column("direction", Text, primary_key=True),
    Index(None, "dataset_id", "direction"),
    sqlite_with_rowid=False,
)

label = Table("label", metadata, _number(), _key(), Column("text", Text, nullable=False))

content = Table(
    "content",
    metadata,
    Column("digest", LargeBinary, primary_key=True),
    Column("body", Json, nullable=False),
)
"""What versions share: a schema, a set of upstreams, a set of column edges. A job that does the same every day
stores it once."""

version = Table(
    "version",
    metadata,
    _number(),
    Column("dataset_id", Id, ForeignKey("dataset.id"), nullable=False),
    Column("partition_id", Id, ForeignKey("label.id")),
    Column("origin", Text, nullable=False),
    Column("job_id", Id, ForeignKey("job.id")),
    Column("run_id", Id, ForeignKey("run.id")),
    Column("event_id", Id, ForeignKey("event.id")),
    Column("written_at", Micros, nullable=False),
    # Orders writers of the same microsecond.
    Column("tiebreak", LargeBinary, nullable=False),
    # When the same writer next wrote the same partition: its lineage no longer holds from there on.
    Column("valid_to", Micros, nullable=False),
    Column("label", Text),
    Column("schema_digest", LargeBinary),
    Column("upstream_digest", LargeBinary, nullable=False),
    Column("column_digest", LargeBinary, nullable=False),
    # Of all the version says, to tell a repetition from a change.
    Column("digest", LargeBinary, nullable=False),
    Index(None, "job_id", "dataset_id", "written_at"),
    Index(None, "dataset_id", "written_at"),
    Index(None, "run_id"),
    _index("event_id", where="event_id IS NOT NULL"),
)

lineage = Table(
    "lineage",
    metadata,
    _id(),
    Column("version_id", Id, ForeignKey("version.id"), nullable=False),
    Column("downstream_id", Id, ForeignKey("dataset.id"), nullable=False),
    Column("partition_id", Id, ForeignKey("label.id")),
    Column("run_id", Id, ForeignKey("run.id")),
    Column("job_id", Id, ForeignKey("job.id")),
    Column("upstream_id", Id, ForeignKey("dataset.id"), nullable=False),
    Column("upstream_partition_id", Id, ForeignKey("label.id")),
    Column("consumed_at", Micros, nullable=False),
    Column("valid_to", Micros, nullable=False),
    Column("origin", Text, nullable=False),
    Column("basis", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("transformation", Text),
    Index(None, "version_id"),
    Index(None, "run_id"),
    Index(None, "downstream_id", "partition_id", "valid_to"),
    Index(None, "upstream_id", "upstream_partition_id", "valid_to"),
    Index(None, "downstream_id", "upstream_id", "consumed_at"),
)
"""FlowStone's lineage rows: downstream asset, partition and run; upstream asset and partition; consumed_at."""

edge = Table(
    "edge",
    metadata,
    _id(),
    Column("job_id", Id, ForeignKey("job.id")),
    Column("origin", Text, nullable=False),
    Column("upstream_id", Id, ForeignKey("dataset.id"), nullable=False),
    Column("downstream_id", Id, ForeignKey("dataset.id"), nullable=False),
    Column("basis", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("transformation", Text),
    Column("valid_from", Micros, nullable=False),
    Column("valid_to", Micros, nullable=False),
    # Wide enough that a walk over what holds now is answered from the index alone.
    Index(None, "downstream_id", "valid_to", "upstream_id", "id"),
    Index(None, "upstream_id", "valid_to", "downstream_id", "id"),
    Index(None, "job_id", "downstream_id"),
)
"""Dataset-level edges: the lineage rows of all runs and partitions, summed up as intervals."""

column_edge = Table(
    "column_edge",
    metadata,
    _id(),
    Column("job_id", Id, ForeignKey("job.id")),
    Column("origin", Text, nullable=False),
    Column("upstream_id", Id, ForeignKey("dataset.id"), nullable=False),
    Column("upstream_column_id", Id, ForeignKey("label.id")),
    Column("downstream_id", Id, ForeignKey("dataset.id"), nullable=False),
    Column("downstream_column_id", Id, ForeignKey("label.id")),
    Column("dependency", Text, nullable=False),
    Column("subtype", Text),
    Column("masking", SmallInteger, nullable=False),
    Column("logic", Text),
    Column("valid_from", Micros, nullable=False),
    Column("valid_to", Micros, nullable=False),
    Index(None, "downstream_id", "downstream_column_id", "valid_to"),
    Index(None, "upstream_id", "upstream_column_id", "valid_to"),
    Index(None, "job_id", "downstream_id"),
)

audit = Table(
    "audit",
    metadata,
    Column("seq", Id, primary_key=True, autoincrement=False),
    Column("recorded_at", Micros, nullable=False),
    Column("event_type", Text, nullable=False),
    Column("actor_id", Text, nullable=False),
    Column("actor_type", Text, nullable=False),
    Column("resource_type", Text),
    Column("resource_id", Text),
    Column("action", Text, nullable=False),
    # Canonical JSON, kept as text: the hash covers these very characters.
    Column("details", Text, nullable=False),
    Column("correlation_id", Text),
    Column("client_ip", Text),
    Column("user_agent", Text),
    Column("algorithm", Text, nullable=False),
    Column("previous_hash", LargeBinary, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    Index(None, "event_type"),
    _index("correlation_id", where="correlation_id IS NOT NULL", postgresql_using="hash"),
    UniqueConstraint("hash"),
)

log_tile = Table(
    "log_tile",
    metadata,
    Column("level", SmallInteger, primary_key=True, autoincrement=False),
    Column("number", Id, primary_key=True, autoincrement=False),
    Column("hash", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)
"""Roots over 256 entries of the log, over 256 of those, and so on: see ``proof/tiles.py``."""

checkpoint = Table(
    "checkpoint",
    metadata,
    Column("size", Id, primary_key=True, autoincrement=False),
    # Only the note: what it says of size and root is nowhere said a second time.
    Column("note", Text, nullable=False),
)

certificate = Table(
    "certificate",
    metadata,
    # The entry of the log that holds it; all the rest is there too, and only to be found by.
    Column("seq", Id, primary_key=True, autoincrement=False),
    Column("namespace_key", LargeBinary, nullable=False),
    Column("number", Id, nullable=False),
    Column("certificate_id", Text, nullable=False),
    Column("run_key", LargeBinary, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    # A chain for each namespace: two certificates cannot follow the same one.
    UniqueConstraint("namespace_key", "number"),
    UniqueConstraint("certificate_id"),
    Index(None, "run_key"),
)

graph_limit = Table(
    "graph_limit",
    metadata,
    Column("id", SmallInteger, primary_key=True, autoincrement=False),
    Column("max_direct_edges", BigInteger, nullable=False),
)
"""One row, where the limit is not the default: the one that all events of the store are folded under. The log has an
entry of each change (``store/fold/edge_limits.py``)."""

exchange_secret = Table("exchange_secret", metadata, Column("secret", LargeBinary, primary_key=True))
"""One row, from the beginning: what ids of exported elements are drawn from (``formats/wia/ids.py``)."""
