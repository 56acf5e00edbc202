"""Traces of roots that are too large for one executor: the same traces as the kernel's, computed by joins alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.model.record_schema import ARCHIVED, STEP, names_of
from headwater.model.records import final_record, micros_of
from headwater.records.tracing.distributed import ancestors

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from headwater.records.compaction.hadoop_fs import ScratchFolder
    from headwater.records.tracing.kernel import FinalStep

_DAY_MICROS = 86_400_000_000
_RANK = ("load", "digest", "recorded_at", "recordedAt")
_KEY = ("root_id", "node_id")
_VALUES = (*_RANK, *(field.name for field in ARCHIVED if field.name not in (*_RANK, *_KEY)))
"""All columns but the key, those first by which the row in effect is chosen."""
_STEP = names_of(STEP)


def trace_big_roots(records: DataFrame, finished: FinalStep, scratch: ScratchFolder) -> DataFrame:
    """A row for every leaf of ``records`` (the columns of the archive), with its day."""
    nodes = scratch.materialize(_nodes(records))
    links = scratch.materialize(_links(nodes))
    known = links.where("parent is not null").select("child", "parent")
    components, reached = ancestors(nodes.selectExpr("id", "xxhash64(root_id) as root"), known, scratch)
    steps = _steps(nodes, links, components)
    return _traces(steps, reached, finished)


def _nodes(records: DataFrame) -> DataFrame:
    """The row in effect for each node: the first that was loaded, of equals the one with the least digest."""
    from pyspark.sql import functions as F

    return (
        records.groupBy("root_id", "node_id")
        .agg(
            F.min(F.struct(*_VALUES)).alias("in_effect"),
            (F.min("digest") != F.max("digest")).alias("conflicted"),
        )
        .select(F.monotonically_increasing_id().alias("id"), "root_id", "node_id", "in_effect.*", "conflicted")
    )


def _links(nodes: DataFrame) -> DataFrame:
    """(child, parent, missing): the id of each parent that a node names or, where it has no record, its name."""
    from pyspark.sql import functions as F

    named = nodes.select("id", "root_id", F.explode(F.array_distinct("parent_ids")).alias("name"))
    recorded = nodes.select("root_id", F.col("node_id").alias("name"), F.col("id").alias("parent"))
    joined = named.join(recorded, ["root_id", "name"], "left")
    # A root names itself as its parent, whether or not it has a record: that is no link.
    is_root = F.col("name") == F.col("root_id")
    links = joined.where(~(is_root & (F.col("parent").isNull() | (F.col("parent") == F.col("id")))))
    missing = F.when(F.col("parent").isNull(), F.col("name"))
    return links.select(F.col("id").alias("child"), "parent", missing.alias("missing"))


def _steps(nodes: DataFrame, links: DataFrame, components: DataFrame) -> DataFrame:
    """Each node as a step, with its component, its orphan parents, and whether it is on a cycle or in conflict."""
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


def _traces(steps: DataFrame, reached: DataFrame, finished: FinalStep) -> DataFrame:
    from pyspark.sql import functions as F

    # Sorted by its first fields: the farthest first, of equally far steps the earliest recorded, then by id. So the
    # leaf is the last step: of a cycle that nothing was made of, the latest recorded node.
    order = (
        (-F.col("distance")).alias("place"),
        F.col("step.recorded_at").alias("at"),
        F.col("step.node_id").alias("id"),
    )
    entry = F.struct(*order, "step", "orphans", "on_cycle", "conflicted")
    gathered = (
        reached.join(steps, "component")
        .groupBy("leaf")
        .agg(F.first("root_id").alias("root_id"), F.sort_array(F.collect_list(entry)).alias("steps"))
    )
    leaf = F.element_at("steps", -1)["step"]
    orphans = F.array_sort(F.array_distinct(F.flatten(F.transform("steps", lambda step: step["orphans"]))))
    named = gathered.select(
        leaf["node_id"].alias("record_id"),
        "root_id",
        F.concat(F.transform("steps", lambda step: step["step"]), F.array(_final_step(leaf, finished))).alias(
            "lineage"
        ),
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
    """The flagged nodes of a lineage, sorted by id."""
    from pyspark.sql import functions as F

    return F.array_sort(F.transform(F.filter("steps", lambda step: step[flag]), lambda step: step["step"]["node_id"]))


def _final_step(leaf: Column, finished: FinalStep) -> Column:
    from pyspark.sql import functions as F

    final = final_record("", "", finished.storage_location, finished.recorded_at)
    micros = micros_of(final.recorded_at)
    columns = {
        "parent_id": leaf["node_id"],
        "parent_ids": F.array(leaf["node_id"]),
        "recordedAt": F.lit(micros // 1_000_000).cast("long"),
        "recorded_at": F.expr(f"timestamp_micros({micros}L)"),
    }
    return F.struct(
        *((columns[name] if name in columns else F.lit(getattr(final, name))).alias(name) for name in _STEP)
    )


def _day(moment: Column) -> Column:
    """The day in UTC, whatever the time zone of the session."""
    from pyspark.sql import functions as F

    micros = F.unix_micros(moment)
    days = (micros - F.pmod(micros, F.lit(_DAY_MICROS))) / _DAY_MICROS
    return F.date_from_unix_date(days.cast("int"))
