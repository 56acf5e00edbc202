"""What one operation did to one record, and what became of all of them: records and traces.

Nothing here imports anything of ours, so that it can be shipped to executors, where headwater is not installed.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import NotRequired, TypedDict

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

FINISHED = "FINISHED"
"""The node of the step that a trace ends with."""
DATA_COMPACTION = "DATA_COMPACTION"
"""What that step did."""


class RecordDocument(TypedDict):
    """A record as it is published."""

    root_id: str
    parent_id: str
    parent_ids: NotRequired[list[str]]
    action_taken: str
    recordedAt: int
    storage_location: str
    node_id: str


class StepDocument(TypedDict):
    """A record within the lineage of a leaf."""

    node_id: str
    parent_id: str
    parent_ids: list[str]
    action_taken: str
    recordedAt: int
    recorded_at: str
    storage_location: str


class TraceDocument(TypedDict):
    record_id: str
    root_id: str
    lineage: list[StepDocument]
    orphans: list[str]
    cycle: list[str]
    conflicts: list[str]
    complete: bool


class ConflictDocument(TypedDict):
    node_id: str
    held: RecordDocument
    others: list[RecordDocument]


class RootDocument(TypedDict):
    root_id: str
    records: int
    traces: list[TraceDocument]
    orphans: list[str]
    cycle: list[str]
    conflicts: list[ConflictDocument]


class FoundDocument(RecordDocument):
    recorded_at: str
    archived: bool
    conflict: bool


class DeadLetterDocument(TypedDict):
    id: int
    kind: str
    body: object
    enqueued_at: str
    failed_at: str
    tries: int
    reason: str


def micros_of(moment: datetime) -> int:
    return (moment - EPOCH) // _MICROSECOND


def key_of_id(name: str) -> bytes:
    """A fixed-length stand-in for a root or node id, which may be longer than a key of an index."""
    return hashlib.sha256(name.encode()).digest()[:16]


def record_digest(
    root_id: str, node_id: str, parent_ids: tuple[str, ...] | list[str], action_taken: str, storage_location: str
) -> bytes:
    """Of what a record says, but for its time: the same record sent again is the same record.

    Each part goes in with its length, so that no two records share an encoding.
    """
    parents = sorted(set(parent_ids))
    parts = [part.encode() for part in (root_id, node_id, action_taken, storage_location, *parents)]
    return hashlib.sha256(b"".join(len(part).to_bytes(4) + part for part in parts)).digest()[:16]


@dataclass(frozen=True, slots=True)
class Record:
    root_id: str
    node_id: str
    parent_ids: tuple[str, ...]
    action_taken: str
    storage_location: str
    recorded_at: datetime

    @property
    def digest(self) -> bytes:
        return record_digest(self.root_id, self.node_id, self.parent_ids, self.action_taken, self.storage_location)

    @property
    def day(self) -> date:
        return self.recorded_at.date()

    def step(self) -> StepDocument:
        """As it stands in the lineage of a leaf."""
        return {
            "node_id": self.node_id,
            "parent_id": self.parent_ids[0],
            "parent_ids": list(self.parent_ids),
            "action_taken": self.action_taken,
            "recordedAt": micros_of(self.recorded_at) // 1_000_000,
            "recorded_at": self.recorded_at.isoformat(),
            "storage_location": self.storage_location,
        }

    def document(self) -> RecordDocument:
        """As it is published: seconds since the epoch, and `parent_ids` only if there is more than one."""
        document: RecordDocument = {
            "root_id": self.root_id,
            "parent_id": self.parent_ids[0],
            "parent_ids": list(self.parent_ids),
            "action_taken": self.action_taken,
            "recordedAt": micros_of(self.recorded_at) // 1_000_000,
            "storage_location": self.storage_location,
            "node_id": self.node_id,
        }
        if len(self.parent_ids) == 1:
            del document["parent_ids"]
        return document


def final_record(root_id: str, leaf_id: str, storage_location: str, recorded_at: datetime) -> Record:
    """The step that the trace of a leaf ends with."""
    return Record(root_id, FINISHED, (leaf_id,), DATA_COMPACTION, storage_location, recorded_at)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A record that was not taken: which request it was in, which of its records, and why. Both count from 0."""

    index: int
    record: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class AcceptedRecord:
    """A record that was taken, by the same numbers, and the id it has or was given."""

    index: int
    record: int | None
    node_id: str


@dataclass(frozen=True, slots=True)
class Sent:
    """What became of requests. When this is answered, what was taken is on disk."""

    taken: tuple[AcceptedRecord, ...]
    refused: tuple[Refusal, ...]

    @property
    def node_ids(self) -> tuple[str, ...]:
        return tuple(one.node_id for one in self.taken)


@dataclass(frozen=True, slots=True)
class RecordTrace:
    """How one leaf came to be: every ancestor before what was made of it, then the leaf, then the compaction.

    ``orphans`` are parents that the lineage names and nobody recorded, ``cycle`` the nodes of it that lie on a cycle,
    ``conflicts`` those that were recorded with different contents; ``complete`` says that the first two are empty.
    """

    record_id: str
    root_id: str
    lineage: tuple[Record, ...]
    orphans: tuple[str, ...]
    cycle: tuple[str, ...]
    conflicts: tuple[str, ...]
    complete: bool

    def document(self) -> TraceDocument:
        return {
            "record_id": self.record_id,
            "root_id": self.root_id,
            "lineage": [record.step() for record in self.lineage],
            "orphans": list(self.orphans),
            "cycle": list(self.cycle),
            "conflicts": list(self.conflicts),
            "complete": self.complete,
        }


@dataclass(frozen=True, slots=True)
class Conflict:
    """A node that was recorded with different contents: the first to be loaded holds, the others are kept."""

    held: Record
    others: tuple[Record, ...]

    def document(self) -> ConflictDocument:
        return {
            "node_id": self.held.node_id,
            "held": self.held.document(),
            "others": [other.document() for other in self.others],
        }


@dataclass(frozen=True, slots=True)
class RootTrace:
    """All that is known of a root: a trace for every leaf, and what is wrong with them, each thing once."""

    root_id: str
    traces: tuple[RecordTrace, ...]
    records: tuple[Record, ...]
    orphans: tuple[str, ...]
    cycle: tuple[str, ...]
    conflicts: tuple[Conflict, ...]

    def only(self, action: str) -> RootTrace:
        """The traces on whose way this was done, and what belongs to them."""
        traces = tuple(one for one in self.traces if any(step.action_taken == action for step in one.lineage))
        nodes = {step.node_id for one in traces for step in one.lineage}
        return RootTrace(
            self.root_id,
            traces,
            tuple(record for record in self.records if record.node_id in nodes),
            tuple(sorted({orphan for one in traces for orphan in one.orphans})),
            tuple(node for node in self.cycle if node in nodes),
            tuple(conflict for conflict in self.conflicts if conflict.held.node_id in nodes),
        )

    def document(self) -> RootDocument:
        return {
            "root_id": self.root_id,
            "records": len(self.records),
            "traces": [trace.document() for trace in self.traces],
            "orphans": list(self.orphans),
            "cycle": list(self.cycle),
            "conflicts": [conflict.document() for conflict in self.conflicts],
        }


@dataclass(frozen=True, slots=True)
class FoundRecord:
    """A record that was looked for; ``archived`` says that it was found in the archive alone, ``conflict`` that its
    node was recorded with another content as well."""

    record: Record
    archived: bool
    conflict: bool = False

    def document(self) -> FoundDocument:
        return {
            **self.record.document(),
            "recorded_at": self.record.recorded_at.isoformat(),
            "archived": self.archived,
            "conflict": self.conflict,
        }


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message that was given up, and why."""

    id: int
    kind: str
    body: object
    enqueued_at: datetime
    failed_at: datetime
    tries: int
    reason: str

    def document(self) -> DeadLetterDocument:
        return {
            "id": self.id,
            "kind": self.kind,
            "body": self.body,
            "enqueued_at": self.enqueued_at.isoformat(),
            "failed_at": self.failed_at.isoformat(),
            "tries": self.tries,
            "reason": self.reason,
        }
