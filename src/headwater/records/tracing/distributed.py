"""The ancestors of every leaf in roots too large for one executor: relations joined by Spark, no root in one place.

R(k) relates a node to its ancestors at the end of a path of exactly 2^k steps; R(k+1) is R(k) after R(k). Beginning at
the leaves, with the highest power first, everything reached so far is led on by R(k), 2^k further: a length has one
binary form, so every ancestor is reached by every length, and the longest is kept. That is a topological order. A chain
of a million nodes takes twenty squarings, and in a tree no relation has more rows than there are nodes.

Nodes that lie on cycles are contracted first: what is walked has no cycle. Where powers grow nonetheless, because ways
part and meet again, squaring is given up (walking.py).
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

_DEEP = 10
"""After so many squarings it is asked whether there are cycles: 1,024 steps are a long history."""
_GROWN = 4
"""Or once a power has so many times the rows of the relation itself: the powers of cycles do not end. Those of other
graphs that have grown so far are not computed any further."""


def ancestors(nodes: DataFrame, edges: DataFrame, scratch: ScratchFolder) -> tuple[DataFrame, DataFrame]:
    """Of ``nodes`` (id, root: both numbers) and ``edges`` (child, parent): the component of each node (id, component),
    and for each leaf among the components its ancestors and itself (leaf, component, distance).

    A component is known by the least id in it; nearly always it is that node alone.
    """
    components = nodes.selectExpr("id", "id as component")
    edges = scratch.materialize(edges.where("child != parent").distinct())
    powers, asked, most = [edges], False, _GROWN * edges.count()
    grown = False
    while not grown and not (power := scratch.materialize(_squared(powers[-1]))).isEmpty():
        powers.append(power)
        grown = power.count() > most
        if not asked and (grown or len(powers) > _DEEP):
            asked = True
            if on_cycles := _on_cycles(edges, power):
                spark = nodes.sparkSession
                labels = scratch.materialize(spark.createDataFrame(sorted(on_cycles.items()), "id long, least long"))
                components = scratch.materialize(_labelled(components, labels))
                edges = scratch.materialize(_contracted(edges, labels))
                powers, grown = [edges], False
    parents = edges.selectExpr("parent as component").distinct()
    leaves = components.select("component").distinct().join(parents, "component", "left_anti")
    if grown:
        named = nodes.withColumnRenamed("id", "component").join(components, "component", "left_semi")
        return components, walk_ancestors(named, edges, leaves, scratch)
    return components, _reached(leaves, powers, scratch)


def _squared(power: DataFrame) -> DataFrame:
    first, then = power.toDF("child", "middle"), power.toDF("middle", "parent")
    return first.join(then, "middle").select("child", "parent").distinct()


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
    """By the driver, and of those nodes alone that have long paths behind and before them, which all nodes on cycles
    have. Of these, who can be put in an order is on no cycle: that takes numpy some hundred bytes an edge, and what is
    left, which is cycles and what was made of them, takes Python several times as many."""
    core = power.selectExpr("child as node").intersect(power.selectExpr("parent as node"))
    within = edges.join(core.toDF("child"), "child", "left_semi").join(core.toDF("parent"), "parent", "left_semi")
    register_shipped_modules()
    pairs = within.select("child", "parent").mapInArrow(pack_pairs, "pairs binary").collect()
    child, parent = unpack_pairs(row.pairs for row in pairs)
    turning = _without_order(child, parent)
    return strongly_connected_components(child[turning], parent[turning])


def _without_order(child: Ints, parent: Ints) -> Flags:
    """Which links lie between nodes that a cycle keeps from having a depth."""
    nodes, numbered = np.unique(np.concatenate([child, parent]), return_inverse=True)
    numbers = numbered[: len(child)], numbered[len(child) :]
    depth = relation(len(nodes), *numbers)[2]
    return (depth[numbers[0]] < 0) & (depth[numbers[1]] < 0)


def _labelled(components: DataFrame, labels: DataFrame) -> DataFrame:
    return components.join(labels, "id", "left").selectExpr("id", "coalesce(least, component) as component")


def _contracted(edges: DataFrame, labels: DataFrame) -> DataFrame:
    for end in ("child", "parent"):
        named = labels.toDF(end, "least")
        other = "parent" if end == "child" else "child"
        edges = edges.join(named, end, "left").selectExpr(other, f"coalesce(least, {end}) as {end}")
    return edges.select("child", "parent").where("child != parent").distinct()
