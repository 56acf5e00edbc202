"""Traces of roots too large for one executor: the same as the kernel makes, by joins alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.model.records import DATA_COMPACTION, FINISHED, micros_of
from headwater.records.tracing.distributed import ancestors

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from headwater.records.compaction.hadoop_fs import ScratchFolder
    from headwater.records.tracing.kernel import FinalStep

_DAY_MICROS = 86_400_000_000
_SAID = ("load", "digest", "recorded_at", "recordedAt", "parent_ids", "action_taken", "storage_location")
_STEP = ("node_id", "parent_id", "parent_ids", "action_taken", "recordedAt", "recorded_at", "storage_location")


def trace_big_roots(records: DataFrame, finished: FinalStep, scratch: ScratchFolder) -> DataFrame:
    """A row for every leaf of ``records`` (the columns of the archive), with its day."""
    nodes = scratch.kept(_held(records))
    links = scratch.kept(_links(nodes))
    known = links.where("parent is not null").select("child", "parent")
    components, reached = ancestors(nodes.selectExpr("id", "xxhash64(root_id) as root"), known, scratch)
    told = _told(nodes, links, components)
    return _traces(told, reached, finished)


def _held(records: DataFrame) -> DataFrame:
    """The row that holds for each node: the first to be loaded, of those the one with the least digest."""
    from pyspark.sql import functions as F

    return (
        records.groupBy("root_id", "node_id")
        .agg(
            F.min(F.struct(*_SAID)).alias("said"),
            (F.min("digest") != F.max("digest")).alias("conflicted"),
        )
        .select(F.monotonically_increasing_id().alias("id"), "root_id", "node_id", "said.*", "conflicted")
    )


def _links(nodes: DataFrame) -> DataFrame:
    """(child, parent, missing): of each parent that a node names its id or, where nobody recorded it, its name."""
    from pyspark.sql import functions as F

    named = nodes.select("id", "root_id", F.explode(F.array_distinct("parent_ids")).alias("name"))
    there = nodes.select("root_id", F.col("node_id").alias("name"), F.col("id").alias("parent"))
    found = named.join(there, ["root_id", "name"], "left")
    # The root as its own parent, or as one that nobody recorded, is how a root says that it is one.
    is_root = F.col("name") == F.col("root_id")
    told = found.where(~(is_root & (F.col("parent").isNull() | (F.col("parent") == F.col("id")))))
    missing = F.when(F.col("parent").isNull(), F.col("name"))
    return told.select(F.col("id").alias("child"), "parent", missing.alias("missing"))


def _told(nodes: DataFrame, links: DataFrame, components: DataFrame) -> DataFrame:
    """Each node as a step, with the component it is of and what is amiss with it."""
    from pyspark.sql import functions as F

    of_node = links.groupBy(F.col("child").alias("id")).agg(
        F.collect_set("missing").alias("orphans"), F.max(F.col("child") == F.col("parent")).alias("turns")
    )
    size = components.groupBy("component").agg((F.count("*") > 1).alias("shared")).where("shared")
    joined = nodes.join(components, "id").join(of_node, "id", "left").join(size, "component", "left")
    on_cycle = F.coalesce("shared", F.lit(False)) | F.coalesce("turns", F.lit(False))
    step = F.struct(
        *(F.element_at("parent_ids", 1).alias(name) if name == "parent_id" else F.col(name) for name in _STEP)
    )
    return joined.select(
        "component",
        "root_id",
        step.alias("step"),
        F.coalesce("orphans", F.array().cast("array<string>")).alias("orphans"),
        on_cycle.alias("on_cycle"),
        "conflicted",
    )


def _traces(told: DataFrame, reached: DataFrame, finished: FinalStep) -> DataFrame:
    from pyspark.sql import functions as F

    # Sorted by its first fields: the farthest first, of equally far ones the earliest recorded, then by id. So the leaf
    # is the last: of a cycle that nothing leaves, the latest recorded node.
    place = (
        (-F.col("distance")).alias("place"),
        F.col("step.recorded_at").alias("at"),
        F.col("step.node_id").alias("id"),
    )
    every = F.struct(*place, "step", "orphans", "on_cycle", "conflicted")
    gathered = (
        reached.join(told, "component")
        .groupBy("leaf")
        .agg(F.first("root_id").alias("root_id"), F.sort_array(F.collect_list(every)).alias("way"))
    )
    leaf = F.element_at("way", -1)["step"]
    orphans = F.array_sort(F.array_distinct(F.flatten(F.transform("way", lambda each: each["orphans"]))))
    named = gathered.select(
        leaf["node_id"].alias("record_id"),
        "root_id",
        F.concat(F.transform("way", lambda each: each["step"]), F.array(_end(leaf, finished))).alias("lineage"),
        orphans.alias("orphans"),
        _ids("on_cycle").alias("cycle"),
        _ids("conflicted").alias("conflicts"),
        _day(leaf["recorded_at"]).alias("day"),
    )
    complete = (F.size("orphans") == 0) & (F.size("cycle") == 0)
    return named.select(
        "record_id", "root_id", "lineage", "orphans", "cycle", "conflicts", complete.alias("complete"), "day"
    )


def _ids(flag: str) -> Column:
    """Which nodes of the way are flagged, in the order of their ids."""
    from pyspark.sql import functions as F

    return F.array_sort(F.transform(F.filter("way", lambda each: each[flag]), lambda each: each["step"]["node_id"]))


def _end(leaf: Column, finished: FinalStep) -> Column:
    from pyspark.sql import functions as F

    micros = micros_of(finished.recorded_at)
    return F.struct(
        F.lit(FINISHED).alias("node_id"),
        leaf["node_id"].alias("parent_id"),
        F.array(leaf["node_id"]).alias("parent_ids"),
        F.lit(DATA_COMPACTION).alias("action_taken"),
        F.lit(micros // 1_000_000).cast("long").alias("recordedAt"),
        F.expr(f"timestamp_micros({micros}L)").alias("recorded_at"),
        F.lit(finished.storage_location).alias("storage_location"),
    )


def _day(moment: Column) -> Column:
    """In UTC, whatever the session's own time is."""
    from pyspark.sql import functions as F

    micros = F.unix_micros(moment)
    days = (micros - F.pmod(micros, F.lit(_DAY_MICROS))) / _DAY_MICROS
    return F.date_from_unix_date(days.cast("int"))
