"""The path of an item through a pipeline: its hops from node to node, and its terminal record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from enum import IntEnum, IntFlag, StrEnum
from typing import Any

from headwater.model.plain import plain


class Outcome(IntFlag):
    """What a node did with an item. Flags combine: Emitted | Retried, DeadLettered | Error."""

    EMITTED = 1
    FILTERED_OUT = 2
    JOINED = 4
    AGGREGATED = 8
    RETRIED = 16
    """At least once before it succeeded."""
    ERROR = 32
    DEAD_LETTERED = 64

    @property
    def words(self) -> str:
        return " | ".join(_spelled(flag.name or "") for flag in self) or "None"

    @classmethod
    def read(cls, text: str | int) -> Outcome:
        """From its words or from its number."""
        if isinstance(text, int):
            return cls(text)
        words = {_spelled(flag.name or ""): flag for flag in cls}
        outcome = cls(0)
        for word in text.split(" | "):
            outcome |= words[word] if word != "None" else cls(0)
        return outcome


class Cardinality(IntEnum):
    """How many items a node emitted for one input item."""

    UNKNOWN = 0
    ZERO = 1
    ONE = 2
    MANY = 3

    @property
    def word(self) -> str:
        return self.name.capitalize()

    @classmethod
    def of(cls, count: int | None) -> Cardinality:
        if count is None:
            return cls.UNKNOWN
        return cls(min(count, 2) + 1)

    @classmethod
    def read(cls, text: str | int) -> Cardinality:
        return cls(text) if isinstance(text, int) else cls[text.upper()]


class Continuity(StrEnum):
    """How a node's output was matched with its inputs, the most certain first."""

    DECLARED = "declared"
    """By the mapper that is declared for the node."""
    EXACT = "exact"
    """By row lineage."""
    POSITIONAL = "positional"
    """By position: the node has as many outputs as inputs."""
    REPRESENTATIVE = "representative"
    """From one of several possible contributors; the record names the others."""
    NEW = "new"
    """From no input: the item starts at this node."""


class Reason(StrEnum):
    """Why an item ended. If several apply, the first in this order is the reason."""

    DEAD_LETTERED = "DeadLettered"
    ERROR = "Error"
    FILTERED_OUT = "FilteredOut"
    DROPPED_BY_BACKPRESSURE = "DroppedByBackpressure"
    AGGREGATED = "Aggregated"
    JOINED = "Joined"
    CONSUMED_WITHOUT_EMISSION = "ConsumedWithoutEmission"
    EMITTED = "Emitted"

    @property
    def rank(self) -> int:
        """0 is the strongest."""
        return list(Reason).index(self)


def reason_of(outcome: Outcome, emissions: int | None = None, *, dropped: bool = False) -> Reason:
    """``outcome`` and ``emissions`` are of the last hop. ``dropped``: its record was dropped because the buffer was
    full."""
    applies = {Reason.DROPPED_BY_BACKPRESSURE: dropped, Reason.CONSUMED_WITHOUT_EMISSION: emissions == 0}
    applies |= {Reason(_spelled(flag.name or "")): True for flag in outcome if flag is not Outcome.RETRIED}
    return next((reason for reason in Reason if applies.get(reason)), Reason.CONSUMED_WITHOUT_EMISSION)


class SampleOutcome(StrEnum):
    SUCCESS = "Success"
    SKIPPED = "Skipped"
    ERROR = "Error"
    DEAD_LETTER = "DeadLetter"

    @classmethod
    def of(cls, outcome: Outcome) -> SampleOutcome:
        if Outcome.DEAD_LETTERED in outcome:
            return cls.DEAD_LETTER
        if Outcome.ERROR in outcome:
            return cls.ERROR
        return cls.SKIPPED if Outcome.FILTERED_OUT in outcome else cls.SUCCESS


def segment(pipeline_id: str, node: str) -> str:
    """A step of an item's path."""
    return f"{pipeline_id}::{node}"


@dataclass(frozen=True, slots=True)
class Hop:
    """What one node did with an item. Snapshots are JSON texts."""

    node: str
    pipeline_id: str
    pipeline: str
    outcome: Outcome
    cardinality: Cardinality = Cardinality.UNKNOWN
    contributors: int | None = None
    """The number of input items of the node's output for this item."""
    emissions: int | None = None
    """The number of items that the node emitted for it; None if unknown."""
    ancestry: tuple[int, ...] | None = None
    """The indexes of the contributors among the node's inputs."""
    truncated: bool = False
    retries: int = 0
    continuity: Continuity = Continuity.EXACT
    at: datetime | None = None
    input: str | None = None
    output: str | None = None

    def to_dict(self) -> dict[str, object]:
        return _to_dict(self)

    @classmethod
    def from_dict(cls, document: Mapping[str, object]) -> Hop:
        members = _known_members(cls, document)
        ancestry = members.get("ancestry")
        return cls(
            **members
            | {
                "outcome": Outcome.read(members["outcome"]),
                "cardinality": Cardinality.read(members.get("cardinality", Cardinality.UNKNOWN)),
                "continuity": Continuity(members.get("continuity") or Continuity.EXACT),
                "ancestry": None if ancestry is None else tuple(ancestry),
                "retries": members.get("retries") or 0,
                "at": _time(members.get("at")),
            }
        )


@dataclass(frozen=True, slots=True)
class ItemRecord:
    """The one terminal record of a source item. ``key`` and ``data`` are JSON texts."""

    correlation_id: str
    source: str
    """The node where the item entered."""
    key: str
    """The values of the declared key; without a key, the location of the item."""
    path: tuple[str, ...]
    hops: tuple[Hop, ...]
    outcome: Outcome
    """Of the last hop."""
    reason: Reason
    node: str
    """The node where it ended."""
    retries: int = 0
    contributors: tuple[str, ...] = ()
    """The items it was merged with. If there are too many, only some of them, and ``truncated`` is set."""
    error: str | None = None
    data: str | None = None
    truncated: bool = False

    @property
    def sample_outcome(self) -> SampleOutcome:
        return SampleOutcome.of(self.outcome)

    def to_dict(self) -> dict[str, object]:
        return _to_dict(self) | {"hops": [hop.to_dict() for hop in self.hops]}

    @classmethod
    def from_dict(cls, document: Mapping[str, object]) -> ItemRecord:
        members = _known_members(cls, document)
        return cls(
            **members
            | {
                "path": tuple(members["path"]),
                "hops": tuple(map(Hop.from_dict, members["hops"])),
                "outcome": Outcome.read(members["outcome"]),
                "reason": Reason(members["reason"]),
                "contributors": tuple(members.get("contributors") or ()),
                "retries": members.get("retries") or 0,
            }
        )


def retries_of(hops: Sequence[Hop]) -> int:
    """How often the item was retried at its last node: as the last hop states, or by counting the hops at that node."""
    if not hops:
        return 0
    last = hops[-1]
    if last.retries:
        return last.retries
    count = 0
    for hop in reversed(hops):
        if hop.node != last.node or Outcome.RETRIED not in hop.outcome:
            break
        count += 1
    return count


def _spelled(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def _to_dict(value: Hop | ItemRecord) -> dict[str, object]:
    document: dict[str, object] = {}
    for field in fields(value):
        item = getattr(value, field.name)
        if isinstance(item, Outcome):
            item = item.words
        elif isinstance(item, Cardinality):
            item = item.word
        document[field.name] = plain(item)
    return document


def _known_members(kind: type[Hop | ItemRecord], document: Mapping[str, object]) -> dict[str, Any]:
    """The members that are fields of ``kind``: their types are those of the fields, since `to_dict` wrote them."""
    return {field.name: document[field.name] for field in fields(kind) if field.name in document}


def _time(value: str | datetime | None) -> datetime | None:
    return datetime.fromisoformat(value) if isinstance(value, str) else value
