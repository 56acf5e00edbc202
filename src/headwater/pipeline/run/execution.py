"""Executes the nodes of a pipeline in order, and makes the account of its items."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from headwater.errors import PipelineFailed
from headwater.pipeline.dead_letters.tables import complete_dead_letters, write_dead_letters
from headwater.pipeline.declare.nodes import (
    ComputedNode,
    PassThroughNode,
    PipelineNode,
    RowMapNode,
    SinkNode,
    SourceNode,
)
from headwater.pipeline.declare.options import LineageOptions
from headwater.pipeline.items.accounts import ItemAccount
from headwater.pipeline.items.fast_path import one_row_sources
from headwater.pipeline.items.following import ItemTracker
from headwater.pipeline.items.item_ids import Sampling
from headwater.pipeline.run import steps
from headwater.pipeline.run.function_outputs import FunctionOutput
from headwater.pipeline.run.workspace import Workspace
from headwater.pipeline.worker import ERROR

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Watcher = Callable[[PipelineNode, str], None]
"""Called with each node when it begins and when it is done."""


@dataclass
class PipelineExecution:
    """The state of a run while its nodes execute."""

    spark: SparkSession
    nodes: Sequence[PipelineNode]
    options: LineageOptions
    workspace: Workspace
    watcher: Watcher = lambda node, state: None
    finish_times: dict[str, datetime] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    frames: dict[str, DataFrame] = field(default_factory=dict)
    function_outputs: dict[str, FunctionOutput] = field(default_factory=dict)
    expected_rows: dict[str, int] = field(default_factory=dict)
    """By source, the number of followed items."""

    def __post_init__(self) -> None:
        self.tracker: ItemTracker | None = None
        if self.options.follows_items:
            records_data = not self.options.redact
            fast_path_sources = (
                frozenset[str]() if records_data and self.options.snapshots else one_row_sources(self.nodes)
            )
            self.tracker = ItemTracker(
                spark=self.spark,
                workspace=self.workspace,
                sampling=self._sampling(),
                frames=self.frames,
                sources_behind=sources_behind(self.nodes),
                fast_path_sources=fast_path_sources,
                records_data=records_data,
            )

    def _sampling(self) -> Sampling:
        if self.options.mode == "full":
            return Sampling()
        salt = None if self.options.deterministic_sampling else self.workspace.run_id
        return Sampling(self.options.sample_every, salt)

    def run(self) -> None:
        """Executes the nodes. Sources come first, so that a wrong key fails before anything is written."""
        sources = [node for node in self.nodes if isinstance(node, SourceNode)]
        read = {node.name: steps.read(node, self.spark) for node in sources}
        for node in self.nodes:
            began = time.perf_counter()
            self.watcher(node, "running")
            try:
                self._step(node, read)
            finally:
                self.seconds[node.name] = time.perf_counter() - began
            self.watcher(node, "done")
        for node in self.nodes:
            if node.name in self.function_outputs:
                complete_dead_letters(node.name, self.workspace)

    def _step(self, node: PipelineNode, read: dict[str, DataFrame]) -> None:
        frame = self._make(node, [self.frames[name] for name in node.inputs], read)
        if frame is not None:
            self.frames[node.name] = frame
        self.finish_times[node.name] = datetime.now(UTC)
        if isinstance(node, SourceNode) and self.tracker is not None and self.options.ensure_terminal:
            self.expected_rows[node.name] = self.tracker.count_items(node)
        if isinstance(node, RowMapNode) and node.name in self.function_outputs:
            self._check_failures(node, self.function_outputs[node.name])

    def _make(self, node: PipelineNode, inputs: Sequence[DataFrame], read: dict[str, DataFrame]) -> DataFrame | None:
        match node:
            case SourceNode():
                frame = read[node.name]
                return frame if self.tracker is None else self.tracker.follow_source(node, frame)
            case ComputedNode():
                frame = steps.apply_node(node, inputs)
                return frame if self.tracker is None else self.tracker.follow_output(node, frame)
            case RowMapNode():
                return self._run_function(node, inputs[0])
            case PassThroughNode():
                return inputs[0]
            case SinkNode():
                steps.write(node, inputs[0])
                return None
        raise AssertionError(f"{node.kind} is no kind of node")

    def _run_function(self, node: RowMapNode, rows: DataFrame) -> DataFrame:
        """Runs a row function. Its results are stored if they are needed again: for items or for dead letters."""
        if self.tracker is not None:
            output = self.tracker.follow_row_map(node, node.inputs[0])
        elif node.on_error == "dead_letter":
            output = FunctionOutput(node, self.workspace.keep(node.name, steps.row_map_with_outcomes(node, rows, 0)))
        else:
            return steps.row_map(node, rows)
        self.function_outputs[node.name] = output
        if self.tracker is not None and node.mapper is not None:
            return self.tracker.follow_output(node, output.results)
        return output.results

    def _check_failures(self, node: RowMapNode, output: FunctionOutput) -> None:
        """Raises a stored failure of the function: the worker records it instead, so that all items have an outcome."""
        if node.on_error == "fail":
            with self.workspace.tag_own_jobs():
                failure = output.failure(ERROR)
            if failure is not None:
                raise PipelineFailed(node.pipeline.name, node.name, failure)
        if node.on_error == "dead_letter":
            write_dead_letters(output, self.workspace)

    def account(self) -> ItemAccount | None:
        if self.tracker is None:
            return None
        return ItemAccount(
            self.tracker,
            self.function_outputs,
            self.finish_times,
            self.nodes,
            self.options,
            expected_rows=self.expected_rows,
        )


def sources_behind(nodes: Sequence[PipelineNode]) -> dict[str, frozenset[str]]:
    """By node the sources that it depends on. ``nodes`` are in an order in which they can run."""
    by_node: dict[str, frozenset[str]] = {}
    for node in nodes:
        own_source = [node.name] if isinstance(node, SourceNode) else []
        by_node[node.name] = frozenset(own_source).union(*(by_node[name] for name in node.inputs))
    return by_node
