"""The ancestors of every leaf in roots too large for one executor, by joins: no root has to fit into one task.

R(k) relates a node to its ancestors at the end of a path of exactly 2^k steps; R(k+1) is R(k) joined with R(k). From
the leaves on, with the highest power first, R(k) extends every path found so far by 2^k steps: a length has one binary
form, so every ancestor is reached at every distance, and the longest is kept. That is a topological order. A chain of
a million nodes takes twenty squarings, and in a tree no relation has more rows than there are nodes.

Cycles are contracted first, so the graph that is walked has none. Where powers grow nonetheless, because paths branch
and join again, squaring is abandoned (walking.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from headwater.records.compaction.shipping import register_shipped_modules
from headwater.records.executor.packing import pack_pairs, unpack_pairs
from headwater.records.tracing.components import strongly_connected_components
from headwater.records.tracing.graph import Flags, Ints, relation
from headwater.records.tracing.walking import walk_ancestors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headwater.records.compaction.hadoop_fs import ScratchFolder

_CYCLE_CHECK_AFTER = 10
"""Squarings after which cycles are searched for: 1,024 steps are a long history."""
_MAX_GROWTH = 4
"""Cycles are also searched for once a power has this many times the rows of the relation: their powers do not end. In
other graphs that grow this far no further power is computed."""


def ancestors(nodes: DataFrame, edges: DataFrame, scratch: ScratchFolder) -> tuple[DataFrame, DataFrame]:
    """For ``nodes`` (id, root: both numbers) and ``edges`` (child, parent): the component of each node (id, component),
    and for each leaf among the components its ancestors and itself (leaf, component, distance).

    A component is identified by the least id in it; nearly always that node is its only one.
    """
    components = nodes.selectExpr("id", "id as component")
    edges = scratch.materialize(edges.where("child != parent").distinct())
    powers, checked_cycles, max_rows = [edges], False, _MAX_GROWTH * edges.count()
    too_large = False
    while not too_large and not (power := scratch.materialize(_squared(powers[-1]))).isEmpty():
        powers.append(power)
        too_large = power.count() > max_rows
        if not checked_cycles and (too_large or len(powers) > _CYCLE_CHECK_AFTER):
            checked_cycles = True
            if on_cycles := _on_cycles(edges, power):
                spark = nodes.sparkSession
                labels = scratch.materialize(spark.createDataFrame(sorted(on_cycles.items()), "id long, least long"))
                components = scratch.materialize(_labelled(components, labels))
                edges = scratch.materialize(_contracted(edges, labels))
                powers, too_large = [edges], False
    parents = edges.selectExpr("parent as component").distinct()
    leaves = components.select("component").distinct().join(parents, "component", "left_anti")
    if too_large:
        components_with_root = nodes.withColumnRenamed("id", "component").join(components, "component", "left_semi")
        return components, walk_ancestors(components_with_root, edges, leaves, scratch)
    return components, _reached(leaves, powers, scratch)


def _squared(power: DataFrame) -> DataFrame:
    first, second = power.toDF("child", "middle"), power.toDF("middle", "parent")
    return first.join(second, "middle").select("child", "parent").distinct()


def _reached(leaves: DataFrame, powers: list[DataFrame], scratch: ScratchFolder) -> DataFrame:
    from pyspark.sql import functions as F

    reached = leaves.selectExpr("component as leaf", "component", "0L as distance")
    for k, power in reversed(list(enumerate(powers))):
        further = reached.join(power.toDF("component", "parent"), "component").selectExpr(
            "leaf", "parent as component", f"distance + {2**k}L as distance"
        )
        longest = reached.unionByName(further).groupBy("leaf", "component").agg(F.max("distance").alias("distance"))
        reached = scratch.materialize(longest)
    return reached


def _on_cycles(edges: DataFrame, power: DataFrame) -> dict[int, int]:
    """The cycles, computed on the driver from the nodes with long paths on both sides, as all nodes on cycles have.

    Of these, nodes that have a topological order are on no cycle: finding them takes numpy some hundred bytes per edge.
    The rest, cycles and the nodes made of them, takes Python several times as much.
    """
    core = power.selectExpr("child as node").intersect(power.selectExpr("parent as node"))
    within = edges.join(core.toDF("child"), "child", "left_semi").join(core.toDF("parent"), "parent", "left_semi")
    register_shipped_modules()
    pairs = within.select("child", "parent").mapInArrow(pack_pairs, "pairs binary").collect()
    child, parent = unpack_pairs(row.pairs for row in pairs)
    unordered = _without_order(child, parent)
    return strongly_connected_components(child[unordered], parent[unordered])


def _without_order(child: Ints, parent: Ints) -> Flags:
    """Which links are between nodes that have no depth because of a cycle."""
    nodes, numbered = np.unique(np.concatenate([child, parent]), return_inverse=True)
    numbers = numbered[: len(child)], numbered[len(child) :]
    depth = relation(len(nodes), *numbers)[2]
    return (depth[numbers[0]] < 0) & (depth[numbers[1]] < 0)


def _labelled(components: DataFrame, labels: DataFrame) -> DataFrame:
    return components.join(labels, "id", "left").selectExpr("id", "coalesce(least, component) as component")


def _contracted(edges: DataFrame, labels: DataFrame) -> DataFrame:
    for end in ("child", "parent"):
        labels_of_end = labels.toDF(end, "least")
        other = "parent" if end == "child" else "child"
        edges = edges.join(labels_of_end, end, "left").selectExpr(other, f"coalesce(least, {end}) as {end}")
    return edges.select("child", "parent").where("child != parent").distinct()
