"""The report of a run: the configuration, the counts and the duration of its nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from headwater.model.plain import plain
from headwater.model.runs import RunState
from headwater.pipeline.declare.nodes import PipelineNode


@dataclass(frozen=True, slots=True)
class NodeReport:
    name: str
    type: str
    pipeline_id: str
    """The pipeline that declares the node."""
    configuration: Mapping[str, Any] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    seconds: float | None = None

    @classmethod
    def of(
        cls, node: PipelineNode, counts: Mapping[str, int] | None = None, seconds: float | None = None
    ) -> NodeReport:
        return cls(node.name, node.kind, node.pipeline.id, node.configuration, dict(counts or {}), seconds)


@dataclass(frozen=True, slots=True)
class PipelineReport:
    pipeline: str
    namespace: str
    pipeline_id: str
    run_id: str
    state: RunState
    nodes: tuple[NodeReport, ...]
    edges: tuple[tuple[str, str], ...]
    started: datetime
    ended: datetime | None = None
    partition: str | None = None
    error: str | None = None

    @property
    def seconds(self) -> float | None:
        return None if self.ended is None else (self.ended - self.started).total_seconds()

    def node(self, name: str) -> NodeReport:
        return next(node for node in self.nodes if node.name == name)

    def to_dict(self) -> dict[str, Any]:
        document: dict[str, Any] = plain(self)
        return document | {"state": str(self.state), "edges": [{"from": start, "to": end} for start, end in self.edges]}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> PipelineReport:
        ended = document.get("ended")
        return cls(
            **{member.name: document[member.name] for member in fields(cls) if member.name in document}
            | {
                "state": RunState(document["state"]),
                "nodes": tuple(NodeReport(**node) for node in document["nodes"]),
                "edges": tuple((edge["from"], edge["to"]) for edge in document["edges"]),
                "started": datetime.fromisoformat(document["started"]),
                "ended": None if ended is None else datetime.fromisoformat(ended),
            }
        )
