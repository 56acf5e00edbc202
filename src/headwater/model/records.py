"""Records, each of one operation on one item, and the traces that they form.

This module imports nothing of headwater, so that it can be shipped to executors, where headwater is not installed.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import NotRequired, TypedDict

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

FINISHED = "FINISHED"
"""The node of the last step of a trace."""
DATA_COMPACTION = "DATA_COMPACTION"
"""The action of that step."""


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
    """A key of fixed length for a root or node id, which may be too long for an index."""
    return hashlib.sha256(name.encode()).digest()[:16]


def record_digest(
    root_id: str, node_id: str, parent_ids: tuple[str, ...] | list[str], action_taken: str, storage_location: str
) -> bytes:
    """The digest of a record without its time: the same record sent twice is one record.

    The length of each part is hashed with it, so that no two records have the same encoding.
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
        """The record as a step in the lineage of a leaf."""
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
        """The published form: seconds since the epoch, and `parent_ids` only if there is more than one."""
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
    """The last step of the trace of a leaf."""
    return Record(root_id, FINISHED, (leaf_id,), DATA_COMPACTION, storage_location, recorded_at)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A record that was refused, by the index of its request and of the record in it, from 0, with the reason."""

    index: int
    record: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class AcceptedRecord:
    """A record that was accepted, by the same indexes, and its id, which may have been assigned."""

    index: int
    record: int | None
    node_id: str


@dataclass(frozen=True, slots=True)
class SendResult:
    """The result of sending requests. All accepted records are on disk."""

    taken: tuple[AcceptedRecord, ...]
    refused: tuple[Refusal, ...]

    @property
    def node_ids(self) -> tuple[str, ...]:
        return tuple(record.node_id for record in self.taken)


@dataclass(frozen=True, slots=True)
class RecordTrace:
    """The lineage of one leaf: its ancestors, each before the records made from it, then the leaf, then the compaction.

    ``orphans`` are parents in the lineage without a record, ``cycle`` its nodes on a cycle, ``conflicts`` its nodes
    that were recorded with different contents. ``complete``: there are neither orphans nor a cycle.
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
    """A node that was recorded with different contents: the first to be loaded is valid, the others are stored too."""

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
    """A root: a trace for every leaf, and the faults of all traces, each once."""

    root_id: str
    traces: tuple[RecordTrace, ...]
    records: tuple[Record, ...]
    orphans: tuple[str, ...]
    cycle: tuple[str, ...]
    conflicts: tuple[Conflict, ...]

    def only(self, action: str) -> RootTrace:
        """The traces that contain this action, with their records and faults."""
        traces = tuple(trace for trace in self.traces if any(step.action_taken == action for step in trace.lineage))
        nodes = {step.node_id for trace in traces for step in trace.lineage}
        return RootTrace(
            self.root_id,
            traces,
            tuple(record for record in self.records if record.node_id in nodes),
            tuple(sorted({orphan for trace in traces for orphan in trace.orphans})),
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
    """A record that matches a search. ``archived``: it is in the archive only. ``conflict``: its node was also recorded
    with another content."""

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
    """A message that could not be processed, and why."""

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
