"""Graphs whose powers grow: where ways part and meet again and again, a node has ancestors at nearly every length.

Squaring such a relation makes pairs of all nodes. So it is walked instead: the links of a root, which are numbers, go
to one task, and the kernel that traces small roots walks them there; the records themselves stay where they are. Only
the links of a root with more than a few million of them never come together: these are walked by Spark, a join a level.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.records.compaction.shipping import register_shipped_modules
from headwater.records.executor.walking import walk_by_roots
from headwater.records.tracing.walks import ancestor_distances

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headwater.records.compaction.hadoop_fs import ScratchFolder

MAX_LINKS_IN_TASK = 4_000_000
"""Links of a root that one task walks: at some hundred bytes each while it does."""
REACHED_SCHEMA = "leaf long, component long, distance long"
_MANY = 1_000
"""Levels after which what was reached is brought together, before it is read from too many places."""


def walk_ancestors(components: DataFrame, edges: DataFrame, leaves: DataFrame, scratch: ScratchFolder) -> DataFrame:
    """(leaf, component, distance) as :func:`headwater.records.tracing.distributed.ancestors` has it.

    ``components`` (component, root): the root by a number. ``edges`` (child, parent), without cycles; ``leaves``
    (component).
    """
    from pyspark.sql import functions as F

    of_root = components.select(F.col("component").alias("child"), "root")
    named = scratch.materialize(edges.join(of_root, "child"))
    large = [row.root for row in named.groupBy("root").count().where(F.col("count") > MAX_LINKS_IN_TASK).collect()]
    is_large = F.col("root").isin(large)
    lone = components.join(edges.toDF("component", "parent"), "component", "left_anti")
    # A leaf that is made of nothing has no link, and is reached by itself alone.
    alone = lone.join(leaves, "component", "left_semi").selectExpr("component as leaf", "component", "0L as distance")
    reached = alone.unionByName(_by_tasks(named.where(~is_large)))
    if large:
        theirs = named.where(is_large).select("child", "parent")
        begin = leaves.join(theirs.selectExpr("child as component").distinct(), "component", "left_semi")
        reached = reached.unionByName(_by_levels(begin, theirs, scratch))
    return scratch.materialize(reached)


def _by_tasks(named: DataFrame) -> DataFrame:
    register_shipped_modules()
    together = named.select("root", "child", "parent").repartition("root").sortWithinPartitions("root")
    return together.mapInArrow(walk_by_roots(ancestor_distances), REACHED_SCHEMA)


def _by_levels(leaves: DataFrame, edges: DataFrame, scratch: ScratchFolder) -> DataFrame:
    """As many joins as the longest way has steps. Who is met more than once is as far off as the last time."""
    from pyspark.sql import functions as F

    level, step = scratch.materialize(leaves.selectExpr("component as leaf", "component")), 0
    levels: list[DataFrame] = []
    while not level.isEmpty():
        levels.append(level.selectExpr("leaf", "component", f"{step}L as distance"))
        if len(levels) >= _MANY:
            levels = [scratch.materialize(_farthest(levels))]
        onward = level.join(edges.toDF("component", "parent"), "component")
        level, step = (
            scratch.materialize(onward.select("leaf", F.col("parent").alias("component")).distinct()),
            step + 1,
        )
    return _farthest(levels)


def _farthest(levels: list[DataFrame]) -> DataFrame:
    from pyspark.sql import functions as F

    every = levels[0]
    for level in levels[1:]:
        every = every.unionByName(level)
    return every.groupBy("leaf", "component").agg(F.max("distance").alias("distance"))
