"""What a trace says about its sources, and going on behind them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwater.plan.trace import trace_plan
from headwater.plan.tree import PlanNode
from tests.plan.reading import analyzed, trace, written

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_ids_by_which_the_running_plan_is_found(spark: SparkSession, tmp_path: Path) -> None:
    """The JSON holds no paths; the running plan's leaf has the same ids."""
    spark.range(3).selectExpr("id", "id * 2 AS double").write.parquet(f"{tmp_path}/p")
    frame = spark.read.parquet(f"{tmp_path}/p").select("double")
    (source,) = trace(frame).sources
    assert source.kind == "LogicalRelation"
    assert [(a.name, a.type, a.nullable) for a in source.attributes] == [("id", "long", True), ("double", "long", True)]
    leaf: Any = frame._jdf.queryExecution().analyzed().collectLeaves().head()
    assert [a.expr_id for a in source.attributes] == [leaf.output().apply(i).exprId().id() for i in range(2)]


def test_two_occurrences_are_two_sources(spark: SparkSession) -> None:
    lineage = trace(spark.sql("SELECT a.id FROM customers a JOIN customers b ON a.id = b.id"))
    assert [source.kind for source in lineage.sources] == ["LogicalRelation", "LogicalRelation"]
    ids = [{attribute.expr_id for attribute in source.attributes} for source in lineage.sources]
    assert not ids[0] & ids[1]


def test_a_persistent_view_keeps_its_definition(spark: SparkSession) -> None:
    (source,) = trace(spark.table("big_orders")).sources
    assert source.kind == "View"
    assert [(a.name, a.type) for a in source.attributes] == [("order_id", "integer"), ("doubled", "double")]
    assert written(trace_plan(source.node.children[0])) == [
        "order_id <- orders.id IDENTITY: id",
        "doubled <- orders.amount TRANSFORMATION: amount * 2",
        "* <- orders.amount FILTER: amount > 9",
    ]


def test_going_on_behind_a_checkpoint(spark: SparkSession) -> None:
    before = spark.sql("SELECT id AS k, amount * 2 AS more FROM orders WHERE qty > 1")
    kept = before.localCheckpoint()
    after = kept.selectExpr("more + 1 AS most").where("most > 3")
    assert written(trace(after))[0] == "most <- LogicalRDD.more TRANSFORMATION: more + 1"
    plan = analyzed(before)

    def origin(leaf: PlanNode) -> PlanNode | None:
        return plan if leaf.name == "LogicalRDD" else None

    assert written(trace(after, origin)) == [
        "most <- orders.amount TRANSFORMATION: amount * 2 + 1",
        "* <- orders.amount FILTER: amount * 2 + 1 > 3",
        "* <- orders.qty FILTER: qty > 1",
    ]


def test_a_source_that_is_cached_is_seen_through(spark: SparkSession) -> None:
    cached = spark.table("customers").selectExpr("id + 1 AS n").cache()
    try:
        cached.count()
        assert written(trace(cached.selectExpr("n * 2 AS m"))) == ["m <- customers.id TRANSFORMATION: (id + 1) * 2"]
    finally:
        cached.unpersist()


def test_types_of_outputs(spark: SparkSession) -> None:
    """As far as the plan states them."""
    lineage = trace(spark.sql("SELECT id, CAST(id AS string) AS s, address.geo.lat, id > 1 AS b FROM orders"))
    assert [(column.name, column.type) for column in lineage.columns] == [
        ("id", "integer"),
        ("s", "string"),
        ("lat", "double"),
        ("b", "boolean"),
    ]


def test_the_same_query_gives_the_same_answer(spark: SparkSession) -> None:
    from pyspark.sql import functions as F

    def once() -> list[str]:
        items = F.transform("items", lambda item: item["price"] * F.rand())
        return written(trace(spark.table("orders").select(items.alias("p"), F.rand().alias("r")).distinct()))

    assert once() == once()


def test_many_joins_and_branches(spark: SparkSession) -> None:
    from pyspark.sql import functions as F

    joined = spark.table("payments").toDF("k", "v0", "w0")
    for n in range(1, 60):
        joined = joined.join(spark.table("payments").toDF(f"k{n}", f"v{n}", f"w{n}"), F.expr(f"k = k{n}"))
    lineage = trace(joined)
    assert (len(lineage.sources), len(lineage.columns), len(lineage.gaps)) == (60, 180, 0)
    branches = [spark.table("payments").selectExpr(f"order_id + {n} AS n") for n in range(128)]
    while len(branches) > 1:
        branches = [left.union(right) for left, right in zip(branches[0::2], branches[1::2], strict=True)]
    lineage = trace(branches[0])
    assert len(lineage.sources) == 128
    logics = {derivation.logic for derivation in lineage.columns[0].derivations}
    assert logics == {f"order_id + {n}" for n in range(128)}
