"""The report of a run: the configuration, the counts and the duration of its nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NotRequired, TypedDict

from headwater.model.plain import plain
from headwater.model.runs import RunState
from headwater.pipeline.declare.nodes import PipelineNode


class NodeDocument(TypedDict):
    name: str
    type: str
    pipeline_id: str
    configuration: NotRequired[dict[str, object]]
    counts: NotRequired[dict[str, int]]
    seconds: NotRequired[float | None]


EdgeDocument = TypedDict("EdgeDocument", {"from": str, "to": str})


class ReportDocument(TypedDict):
    """A report as JSON, in the facet `headwater_pipeline`."""

    pipeline: str
    namespace: str
    pipeline_id: str
    run_id: str
    state: str
    nodes: list[NodeDocument]
    edges: list[EdgeDocument]
    started: str
    ended: NotRequired[str | None]
    partition: NotRequired[str | None]
    error: NotRequired[str | None]


@dataclass(frozen=True, slots=True)
class NodeReport:
    name: str
    type: str
    pipeline_id: str
    """The pipeline that declares the node."""
    configuration: Mapping[str, object] = field(default_factory=dict)
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

    def to_dict(self) -> ReportDocument:
        document: ReportDocument = plain(self)
        document["state"] = str(self.state)
        document["edges"] = [{"from": start, "to": end} for start, end in self.edges]
        return document

    @classmethod
    def from_dict(cls, document: ReportDocument) -> PipelineReport:
        ended = document.get("ended")
        return cls(
            pipeline=document["pipeline"],
            namespace=document["namespace"],
            pipeline_id=document["pipeline_id"],
            run_id=document["run_id"],
            state=RunState(document["state"]),
            nodes=tuple(NodeReport(**node) for node in document["nodes"]),
            edges=tuple((edge["from"], edge["to"]) for edge in document["edges"]),
            started=datetime.fromisoformat(document["started"]),
            ended=None if ended is None else datetime.fromisoformat(ended),
            partition=document.get("partition"),
            error=document.get("error"),
        )
