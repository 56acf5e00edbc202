"""The nodes that items of a source may come to, in the order of their way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from headwater.model.items import Continuity, Outcome


@dataclass(frozen=True)
class Station:
    """A node that items of the source may have come to. ``ports``: by the number of a station before it, through which
    of the node's inputs it leads there; the same one may be two of them."""

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
    like: tuple[int, ...] | None = None
    """The numbers of the stations whose items are those that come here, where nothing else can be told of them. These
    have something told of themselves."""
    at: datetime | None = None
    company: int | None = None
    """The table that says which items have made each row here, where rows do not carry them."""

    @property
    def calls(self) -> bool:
        """Whether a row function runs here, so that the item's own flags were kept."""
        return self.kind in ("map", "flat_map") and self.like is None

    @property
    def outcome(self) -> Outcome:
        """Of an item that goes on from here, where no function decides."""
        if self.kind == "join":
            return Outcome.EMITTED | Outcome.JOINED
        return Outcome.EMITTED | (Outcome.AGGREGATED if self.merges else Outcome(0))

    @property
    def own(self) -> tuple[int, ...]:
        """The stations that say what became of items here."""
        return (self.number,) if self.like is None else self.like

    @property
    def ports_in_order(self) -> list[tuple[int, int]]:
        """(port, number of the station that leads to it)."""
        return sorted((port, number) for number, ports in self.ports.items() for port in ports)

    def to_dict(self) -> dict[str, Any]:
        told = {field.name: getattr(self, field.name) for field in fields(self)}
        at = None if self.at is None else self.at.isoformat()
        return told | {"ports": [[number, list(ports)] for number, ports in self.ports.items()], "at": at}

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Station:
        return cls(
            **{
                **told,
                "ports": {number: tuple(ports) for number, ports in told["ports"]},
                "continuity": Continuity(told["continuity"]),
                "like": None if told["like"] is None else tuple(told["like"]),
                "at": None if told["at"] is None else datetime.fromisoformat(told["at"]),
            }
        )
