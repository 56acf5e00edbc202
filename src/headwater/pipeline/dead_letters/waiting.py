"""Dead letters that are waiting to be tried again, and the nodes that they would go through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from headwater.errors import PipelineError, PipelineInvalid
from headwater.pipeline.dead_letters.tables import SUPERSEDED, DeadLetterTable, nodes_with_letters
from headwater.pipeline.declare.nodes import MODES, Node, RowMap, Sink, Source
from headwater.pipeline.declare.pipeline import PipelineDeclaration
from headwater.pipeline.items.appending import AppendCheck

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

READ_AGAIN = "read again/"
"""Before the name of a source that is read for others' sake, where letters have items of that source."""
UNKNOWN = "dead letters"
"""The source of letters whose run followed no items."""


@dataclass(frozen=True, eq=False)
class ReplaySource(Source):
    """In place of a source: the letters' items that come from it."""

    @property
    def configuration(self) -> dict[str, Any]:
        return {"from": UNKNOWN}


@dataclass(frozen=True)
class WaitingLetters:
    """Those of one node that are waiting, and the nodes that they will go through."""

    table: DeadLetterTable
    waiting: DataFrame
    runs: tuple[str, ...]
    sources: Mapping[str, int]
    """Whose items they are, and how many of each one letter has at most."""
    target: RowMap
    nodes: tuple[Node, ...]


def find_waiting_letters(
    pipeline: PipelineDeclaration,
    spark: SparkSession,
    location: str,
    run_id: str | None,
    node: str | None,
    mode: str | None,
) -> list[WaitingLetters]:
    """All that is to be tried, node by node; whether it can be is known before any of it runs."""
    nodes = pipeline.check()
    if mode is not None and mode not in MODES:
        raise PipelineError(f"mode '{mode}' is not known. There are: {', '.join(MODES)}.")
    calling = {row_map.name: row_map for row_map in nodes if isinstance(row_map, RowMap)}
    if node is not None and node not in calling:
        listed = f"There are: {', '.join(calling)}." if calling else "There are none."
        raise PipelineInvalid(pipeline.name, node, f"it is no row function of this pipeline. {listed}")
    tables = {name: DeadLetterTable(spark, location, pipeline.id, name) for name in calling if node in (None, name)}
    if run_id is not None and not any(run_id in table.runs() for table in tables.values()):
        runs = sorted({run for table in tables.values() for run in table.runs()})
        listed = f"Runs that have: {', '.join(runs[-5:])}." if runs else "No run has."
        raise PipelineError(
            f"Run {run_id} did not complete, or left no dead letters of {pipeline.name!r} at {location}. {listed}"
        )
    unknown_nodes = sorted({*nodes_with_letters(spark, location, pipeline.id)} - {*calling})
    if node is None and unknown_nodes:
        raise PipelineError(
            f"There are dead letters of '{unknown_nodes[0]}', which is no row function of {pipeline.name!r} any more. "
            "Name the node to replay."
        )
    replays = []
    for name, table in tables.items():
        letters = table.waiting_letters(run_id)
        if letters is not None:
            replays.append(_plan_replay(nodes, table, letters, calling[name], mode))
    return replays


def _plan_replay(
    nodes: Sequence[Node], table: DeadLetterTable, waiting: DataFrame, target: RowMap, mode: str | None
) -> WaitingLetters:
    tried = waiting.where(f"not {SUPERSEDED}")
    runs = tuple(sorted(row[0] for row in waiting.select("run_id").distinct().collect()))
    sources = _item_sources(tried)
    rows = tried.select("row.*")
    declared = {node.name: node for node in nodes}

    def revived(name: str) -> ReplaySource:
        owner = declared.get(name, target).pipeline
        return ReplaySource(name, owner, reader=lambda spark: rows)

    target_nodes = node_and_successors(nodes, target.name)
    if not any(isinstance(node, Sink) for node in target_nodes):
        raise target.invalid("no sink comes after it: there is nothing to replay it into.")
    if mode is None:
        context = _nodes_needed_by(nodes, target_nodes, target.name)
        AppendCheck(table.spark, [*context, *target_nodes], target.name).check()
    beside = {node.name: f"{READ_AGAIN}{node.name}" for node in nodes if node.name in sources}
    replay_nodes: list[Node] = [*map(revived, sources)]
    for node in [*_nodes_needed_by(nodes, target_nodes, target.name), *target_nodes]:
        inputs = tuple(beside.get(name, name) for name in node.inputs)
        if node.name == target.name:
            replay_nodes.append(replace(node, inputs=tuple(sources)))
        elif isinstance(node, Sink):
            replay_nodes.append(replace(node, inputs=inputs, mode=mode or "append"))
        else:
            replay_nodes.append(replace(node, name=beside.get(node.name, node.name), inputs=inputs))
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


def node_and_successors(nodes: Sequence[Node], entry: str) -> list[Node]:
    """The node and all that take from it, in their order."""
    names = {entry}
    for node in nodes:
        if names.intersection(node.inputs):
            names.add(node.name)
    return [node for node in nodes if node.name in names]


def _nodes_needed_by(nodes: Sequence[Node], after: Sequence[Node], entry: str) -> list[Node]:
    """The nodes that these need and are not among them."""
    names = {node.name for node in after}
    needed = {name for node in after if node.name != entry for name in node.inputs} - names
    for node in reversed(nodes):
        if node.name in needed:
            needed |= {*node.inputs} - names
    return [node for node in nodes if node.name in needed]
