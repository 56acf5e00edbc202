"""Dead letters that wait for a replay, and the nodes that they would go through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from headwater.errors import PipelineError, PipelineInvalid
from headwater.pipeline.dead_letters.tables import SUPERSEDED, DeadLetterTable, nodes_with_letters
from headwater.pipeline.declare.nodes import MODES, PipelineNode, RowMapNode, SinkNode, SourceNode
from headwater.pipeline.declare.pipeline import PipelineDeclaration
from headwater.pipeline.items.appending import AppendCheck

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

READ_AGAIN = "read again/"
"""Precedes the name of a source that is read again as another input, where letters have items of that source too."""
UNKNOWN = "dead letters"
"""The source name for letters of a run that followed no items."""


@dataclass(frozen=True, eq=False)
class ReplaySource(SourceNode):
    """Replaces a source by the letters' items that come from it."""

    @property
    def configuration(self) -> dict[str, object]:
        return {"from": UNKNOWN}


@dataclass(frozen=True)
class WaitingLetters:
    """The waiting letters of one node, and the nodes that they will go through."""

    table: DeadLetterTable
    waiting: DataFrame
    runs: tuple[str, ...]
    sources: Mapping[str, int]
    """The sources of their items, and the maximum number of items of each in one letter."""
    target: RowMapNode
    nodes: tuple[PipelineNode, ...]


def find_waiting_letters(
    pipeline: PipelineDeclaration,
    spark: SparkSession,
    location: str,
    run_id: str | None,
    node: str | None,
    mode: str | None,
) -> list[WaitingLetters]:
    """All letters to replay, node by node. Raises before anything runs if a replay is not possible."""
    nodes = pipeline.check()
    if mode is not None and mode not in MODES:
        raise PipelineError(f"mode '{mode}' is not one of: {', '.join(MODES)}.")
    row_maps = {row_map.name: row_map for row_map in nodes if isinstance(row_map, RowMapNode)}
    if node is not None and node not in row_maps:
        listed = f"Row functions: {', '.join(row_maps)}." if row_maps else "It has none."
        raise PipelineInvalid(pipeline.name, node, f"it is not a row function of this pipeline. {listed}")
    tables = {name: DeadLetterTable(spark, location, pipeline.id, name) for name in row_maps if node in (None, name)}
    if run_id is not None and not any(run_id in table.runs() for table in tables.values()):
        runs = sorted({run for table in tables.values() for run in table.runs()})
        listed = f"Runs that left some: {', '.join(runs[-5:])}." if runs else "No run left any."
        raise PipelineError(
            f"Run {run_id} did not complete, or left no dead letters of {pipeline.name!r} at {location}. {listed}"
        )
    unknown_nodes = sorted({*nodes_with_letters(spark, location, pipeline.id)} - {*row_maps})
    if node is None and unknown_nodes:
        raise PipelineError(
            f"There are dead letters of '{unknown_nodes[0]}', which is no longer a row function of "
            f"{pipeline.name!r}. Name the node to replay."
        )
    replays = []
    for name, table in tables.items():
        letters = table.waiting_letters(run_id)
        if letters is not None:
            replays.append(_plan_replay(nodes, table, letters, row_maps[name], mode))
    return replays


def _plan_replay(
    nodes: Sequence[PipelineNode], table: DeadLetterTable, waiting: DataFrame, target: RowMapNode, mode: str | None
) -> WaitingLetters:
    to_replay = waiting.where(f"not {SUPERSEDED}")
    runs = tuple(sorted(row[0] for row in waiting.select("run_id").distinct().collect()))
    sources = _item_sources(to_replay)
    rows = to_replay.select("row.*")
    declared = {node.name: node for node in nodes}

    def replay_source(name: str) -> ReplaySource:
        owner = declared.get(name, target).pipeline
        return ReplaySource(name, owner, reader=lambda spark: rows)

    target_nodes = node_and_successors(nodes, target.name)
    if not any(isinstance(node, SinkNode) for node in target_nodes):
        raise target.invalid("no sink comes after it: there is nothing to replay it into.")
    if mode is None:
        context = _nodes_needed_by(nodes, target_nodes, target.name)
        AppendCheck(table.spark, [*context, *target_nodes], target.name).check()
    new_names = {node.name: f"{READ_AGAIN}{node.name}" for node in nodes if node.name in sources}
    replay_nodes: list[PipelineNode] = [*map(replay_source, sources)]
    for node in [*_nodes_needed_by(nodes, target_nodes, target.name), *target_nodes]:
        inputs = tuple(new_names.get(name, name) for name in node.inputs)
        if node.name == target.name:
            replay_nodes.append(replace(node, inputs=tuple(sources)))
        elif isinstance(node, SinkNode):
            replay_nodes.append(replace(node, inputs=inputs, mode=mode or "append"))
        else:
            replay_nodes.append(replace(node, name=new_names.get(node.name, node.name), inputs=inputs))
    return WaitingLetters(table, waiting, runs, sources, target, tuple(replay_nodes))


def _item_sources(letters: DataFrame) -> dict[str, int]:
    from pyspark.sql import functions as F

    counts = (
        letters.select("letter_id", F.explode("items.source").alias("source")).groupBy("letter_id", "source").count()
    )
    max_counts = {row[0]: row[1] for row in counts.groupBy("source").agg(F.max("count")).orderBy("source").collect()}
    by_source: dict[str, int] = {}
    for name, max_items in max_counts.items():
        by_source[name.removeprefix(READ_AGAIN)] = max(max_items, by_source.get(name.removeprefix(READ_AGAIN), 0))
    if not letters.where(F.size("items") == 0).isEmpty():
        by_source[UNKNOWN] = 1
    return by_source


def node_and_successors(nodes: Sequence[PipelineNode], entry: str) -> list[PipelineNode]:
    """The node and all nodes that depend on it, in their order."""
    names = {entry}
    for node in nodes:
        if names.intersection(node.inputs):
            names.add(node.name)
    return [node for node in nodes if node.name in names]


def _nodes_needed_by(nodes: Sequence[PipelineNode], after: Sequence[PipelineNode], entry: str) -> list[PipelineNode]:
    """The nodes that these depend on, without these."""
    names = {node.name for node in after}
    needed = {name for node in after if node.name != entry for name in node.inputs} - names
    for node in reversed(nodes):
        if node.name in needed:
            needed |= {*node.inputs} - names
    return [node for node in nodes if node.name in needed]
