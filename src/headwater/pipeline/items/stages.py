"""The stages of a source: the nodes that its items may reach, in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict

from headwater.model.items import Continuity, Outcome


class StageDocument(TypedDict):
    """A stage in `_journal.json`, which other versions of Headwater read."""

    number: int
    node: str
    segment: str
    pipeline_id: str
    pipeline: str
    kind: str
    ports: list[tuple[int, list[int]]]
    continuity: str
    merges: bool
    like: list[int] | None
    """``same_as``"""
    at: str | None
    company: int | None
    """``contributor_table``"""


@dataclass(frozen=True)
class Stage:
    """A node that items of a source may reach. ``ports``: by the number of an earlier stage, the inputs of the node
    that it feeds; one stage may feed two of them."""

    number: int
    node: str
    segment: str
    pipeline_id: str
    pipeline: str
    kind: str
    ports: Mapping[int, tuple[int, ...]]
    continuity: Continuity
    merges: bool = False
    """Whether many rows become one here."""
    same_as: tuple[int, ...] | None = None
    """The numbers of earlier stages with the same items, for a stage that records nothing of its own."""
    at: datetime | None = None
    contributor_table: int | None = None
    """The table with the items that made each row here, where rows do not carry them."""

    @property
    def is_row_function(self) -> bool:
        """Whether a row function runs here, so that the item's own flags were stored."""
        return self.kind in ("map", "flat_map") and self.same_as is None

    @property
    def outcome(self) -> Outcome:
        """The outcome of an item that continues from here, where no function decides."""
        if self.kind == "join":
            return Outcome.EMITTED | Outcome.JOINED
        return Outcome.EMITTED | (Outcome.AGGREGATED if self.merges else Outcome(0))

    @property
    def counted_stages(self) -> tuple[int, ...]:
        """The numbers of the stages whose counts describe the items here."""
        return (self.number,) if self.same_as is None else self.same_as

    @property
    def ports_in_order(self) -> list[tuple[int, int]]:
        """(port, number of the stage that leads to it)."""
        return sorted((port, number) for number, ports in self.ports.items() for port in ports)

    def to_dict(self) -> StageDocument:
        return {
            "number": self.number,
            "node": self.node,
            "segment": self.segment,
            "pipeline_id": self.pipeline_id,
            "pipeline": self.pipeline,
            "kind": self.kind,
            "ports": [(number, list(ports)) for number, ports in self.ports.items()],
            "continuity": str(self.continuity),
            "merges": self.merges,
            "like": None if self.same_as is None else list(self.same_as),
            "at": None if self.at is None else self.at.isoformat(),
            "company": self.contributor_table,
        }

    @classmethod
    def from_dict(cls, document: StageDocument) -> Stage:
        return cls(
            number=document["number"],
            node=document["node"],
            segment=document["segment"],
            pipeline_id=document["pipeline_id"],
            pipeline=document["pipeline"],
            kind=document["kind"],
            ports={number: tuple(ports) for number, ports in document["ports"]},
            continuity=Continuity(document["continuity"]),
            merges=document["merges"],
            same_as=None if document["like"] is None else tuple(document["like"]),
            at=None if document["at"] is None else datetime.fromisoformat(document["at"]),
            contributor_table=document["company"],
        )
