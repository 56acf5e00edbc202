"""Walks to the ancestors in graphs whose powers grow: where paths branch and join again and again.

There a node has ancestors at nearly every distance, and squaring the relation yields pairs of all nodes. So the links
of a root, which are numbers, go to one task, and the kernel that traces small roots walks them there; the records
themselves stay where they are. A root with more than a few million links is walked by Spark, with one join per level.
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
"""The maximum number of a root's links that one task walks, with a few hundred bytes of memory for each."""
REACHED_SCHEMA = "leaf long, component long, distance long"
_MAX_LEVEL_FRAMES = 1_000
"""Levels after which the results are written to one place, before a plan reads from too many."""


def walk_ancestors(components: DataFrame, edges: DataFrame, leaves: DataFrame, scratch: ScratchFolder) -> DataFrame:
    """(leaf, component, distance), as :func:`headwater.records.tracing.distributed.ancestors` returns it.

    ``components`` (component, root), where the root is a number. ``edges`` (child, parent), without cycles; ``leaves``
    (component).
    """
    from pyspark.sql import functions as F

    of_root = components.select(F.col("component").alias("child"), "root")
    links = scratch.materialize(edges.join(of_root, "child"))
    large = [row.root for row in links.groupBy("root").count().where(F.col("count") > MAX_LINKS_IN_TASK).collect()]
    is_large = F.col("root").isin(large)
    without_parents = components.join(edges.toDF("component", "parent"), "component", "left_anti")
    # A leaf without parents has no link, and reaches only itself.
    isolated = without_parents.join(leaves, "component", "left_semi").selectExpr(
        "component as leaf", "component", "0L as distance"
    )
    reached = isolated.unionByName(_by_tasks(links.where(~is_large)))
    if large:
        large_links = links.where(is_large).select("child", "parent")
        large_leaves = leaves.join(large_links.selectExpr("child as component").distinct(), "component", "left_semi")
        reached = reached.unionByName(_by_levels(large_leaves, large_links, scratch))
    return scratch.materialize(reached)


def _by_tasks(links: DataFrame) -> DataFrame:
    register_shipped_modules()
    sorted_by_root = links.select("root", "child", "parent").repartition("root").sortWithinPartitions("root")
    return sorted_by_root.mapInArrow(walk_by_roots(ancestor_distances), REACHED_SCHEMA)


def _by_levels(leaves: DataFrame, edges: DataFrame, scratch: ScratchFolder) -> DataFrame:
    """One join for each step of the longest path. The last time that a node is met gives its longest distance."""
    from pyspark.sql import functions as F

    level, step = scratch.materialize(leaves.selectExpr("component as leaf", "component")), 0
    levels: list[DataFrame] = []
    while not level.isEmpty():
        levels.append(level.selectExpr("leaf", "component", f"{step}L as distance"))
        if len(levels) >= _MAX_LEVEL_FRAMES:
            levels = [scratch.materialize(_farthest(levels))]
        joined = level.join(edges.toDF("component", "parent"), "component")
        level, step = (
            scratch.materialize(joined.select("leaf", F.col("parent").alias("component")).distinct()),
            step + 1,
        )
    return _farthest(levels)


def _farthest(levels: list[DataFrame]) -> DataFrame:
    from pyspark.sql import functions as F

    all_levels = levels[0]
    for level in levels[1:]:
        all_levels = all_levels.unionByName(level)
    return all_levels.groupBy("leaf", "component").agg(F.max("distance").alias("distance"))
