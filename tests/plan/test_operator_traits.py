"""Each trait of the table of operators, observed in the data of a real Spark.

An example is a query with the operator in it, of rows whose `n` tells them apart but for two pairs of equal rows. What
an operator did is read off the rows before and after it; the table only says what to look for.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property, partial
from importlib.metadata import version
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest

from headwater.jvm import JavaObject, gateway_of
from headwater.plan.operator_traits import TRAITS, OperatorTraits, RowEffect, RowIds, operators_with, traits_json
from headwater.rows.kept_queries.jvm import plan_classes
from headwater.rows.kept_queries.restore import _session_function
from headwater.rows.provenance import RowProvenance, block_classes, frame_of_plan
from tests.support.spark import TINY_DATA, spark_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NUMBER = "cast(id * 6 div 7 as bigint)"
SOURCE = f"(SELECT {NUMBER} n, cast(id * 6 div 7 as bigint) % 4 g FROM range(0, 14, 1, 3))"
"""0, 0, 1, 2, 3, 4, 5, 6, 6, 7, … 11 in three partitions, in this order."""
FIRST, SECOND = (f"(SELECT * FROM {SOURCE} WHERE n {half} 6)" for half in ("<", ">="))
BACKWARDS = f"(SELECT * FROM {SOURCE} ORDER BY n DESC)"

Example = Callable[["SparkSession", str], "DataFrame"]


def _frame(change: Callable[[DataFrame], DataFrame]) -> Example:
    return lambda spark, source: change(spark.sql(f"SELECT * FROM {source}"))


def _query(text: str) -> Example:
    return lambda spark, source: spark.sql(text.replace("SOURCE", source))


def _view(spark: SparkSession, source: str) -> DataFrame:
    spark.sql(f"SELECT * FROM {source}").createOrReplaceTempView("traits_input")
    return spark.table("traits_input")


def _observed(frame: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F

    return frame.observe("traits", F.count(F.lit(1)))


def _tail(spark: SparkSession, source: str) -> DataFrame:
    """An operator that only `DataFrame.tail` makes, out of sight."""
    jvm: Any = spark._jvm
    catalyst = jvm.org.apache.spark.sql.catalyst
    plan = _analyzed(spark.sql(f"SELECT * FROM {source}"))
    three = getattr(getattr(catalyst.expressions, "Literal$"), "MODULE$").apply(3)
    return frame_of_plan(spark, catalyst.plans.logical.Tail(three, plan))


def _same_rows(batches: Iterator[Any]) -> Iterator[Any]:
    yield from batches


def _same_group(key: Any, group: Any) -> Any:
    return group


def _same_cogroups(left: Any, right: Any) -> Any:
    return left


_SCHEMA = "n bigint, g bigint"
_BEFORE_SPARK_4 = version("pyspark") < "4"
MAP_IN_ARROW, OTHER_MAP_IN_ARROW = ("MapInArrow", "PythonMapInArrow")[:: -1 if _BEFORE_SPARK_4 else 1]
EXAMPLES: Mapping[str, Example] = MappingProxyType(
    {
        "SubqueryAlias": _frame(lambda frame: frame.alias("a")),
        "Repartition": _frame(lambda frame: frame.repartition(2)),
        "RepartitionByExpression": _frame(lambda frame: frame.repartition(2, "g")),
        "RebalancePartitions": _query("SELECT /*+ REBALANCE */ * FROM SOURCE"),
        "ResolvedHint": _frame(lambda frame: frame.hint("broadcast")),
        "Sort": _query("SELECT * FROM SOURCE ORDER BY n % 5"),
        "CollectMetrics": _frame(_observed),
        "View": _view,
        "WithCTE": _query("WITH c AS (SELECT * FROM SOURCE) SELECT * FROM c"),
        "CTERelationDef": _query("WITH c AS (SELECT * FROM SOURCE) SELECT * FROM c"),
        "CTERelationRef": _query("WITH c AS (SELECT * FROM SOURCE) SELECT * FROM c"),
        "Filter": _query("SELECT * FROM SOURCE WHERE g <> 2"),
        "GlobalLimit": _frame(lambda frame: frame.limit(3)),
        "LocalLimit": _frame(lambda frame: frame.limit(3)),
        "Offset": _frame(lambda frame: frame.offset(3)),
        "Tail": _tail,
        "Sample": _frame(lambda frame: frame.sample(fraction=0.5, seed=7)),
        "Distinct": _query("SELECT DISTINCT * FROM SOURCE"),
        "Deduplicate": _frame(lambda frame: frame.dropDuplicates(["n"])),
        "Project": _query("SELECT n, g + 1 AS h FROM SOURCE"),
        "Window": _frame(lambda frame: frame.selectExpr("n", "count(*) OVER (PARTITION BY g) AS others")),
        "Aggregate": _query("SELECT n, count(*) FROM SOURCE GROUP BY n"),
        "Generate": _query("SELECT * FROM SOURCE LATERAL VIEW explode(array(n, g)) AS element"),
        "Expand": _query("SELECT n, g, count(*) FROM SOURCE GROUP BY CUBE (n, g)"),
        "Join": _query("SELECT s.* FROM SOURCE s JOIN range(3, 20) other ON s.n = other.id"),
        "Union": _query("SELECT * FROM SOURCE UNION ALL SELECT -1, 0"),
        "MapInPandas": _frame(lambda frame: frame.mapInPandas(_same_rows, _SCHEMA)),
        MAP_IN_ARROW: _frame(lambda frame: frame.mapInArrow(_same_rows, _SCHEMA)),
        "FlatMapGroupsInPandas": _frame(lambda frame: frame.groupBy("g").applyInPandas(_same_group, _SCHEMA)),
        "FlatMapCoGroupsInPandas": _frame(
            lambda frame: frame.groupBy("g").cogroup(frame.groupBy("g")).applyInPandas(_same_cogroups, _SCHEMA)
        ),
        "Except": _query("SELECT n FROM SOURCE EXCEPT SELECT 3"),
        "Intersect": _query("SELECT n FROM SOURCE INTERSECT SELECT 3"),
        "LateralJoin": _query("SELECT * FROM SOURCE s, LATERAL (SELECT s.n + 1 AS next)"),
        "LocalRelation": _query("SELECT * FROM SOURCE JOIN VALUES (1), (2) AS other(o)"),
        "OneRowRelation": _query("SELECT * FROM SOURCE UNION ALL SELECT 1, 1"),
        "Range": _query("SELECT * FROM SOURCE"),
    }
)
NO_EXAMPLE: Mapping[str, str] = MappingProxyType(
    {
        "EventTimeWatermark": "only in streams: Spark removes it from a query over stored rows",
        "DeduplicateWithinWatermark": "only in streams",
        "UpdateEventTimeWatermarkColumn": "only in streams",
        "UnresolvedHint": "resolved or dropped by the analyzer",
        "LimitAll": "dropped by the analyzer",
        "WithWindowDefinition": "dropped by the analyzer",
        "SQLFunctionNode": "dropped by the analyzer",
        "ReturnAnswer": "put on top of a plan after it was analyzed",
        "Subquery": "put on top of a plan after it was analyzed",
        OTHER_MAP_IN_ARROW: "the name of this operator in other versions of Spark",
        "Pivot": "the analyzer makes an aggregate of it",
        "Unpivot": "the analyzer makes an expansion of it",
        "PipeOperator": "around SQL with |>, since Spark 4",
        "FlatMapGroupsInArrow": "since Spark 4; as for pandas",
        "FlatMapCoGroupsInArrow": "since Spark 4; as for pandas",
        "AsOfJoin": "only by an API of pandas on Spark",
        "Transpose": "since Spark 4; the analyzer computes it",
        "UnionLoop": "a recursive query, since Spark 4.1",
        "UnionLoopRef": "a recursive query, since Spark 4.1",
    }
)
INLINED = ("WithCTE", "CTERelationDef", "CTERelationRef")
"""Not to be run on their own."""


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    # Without adaptive execution, Spark ignores the hint to rebalance.
    with spark_session({**TINY_DATA, "spark.sql.adaptive.enabled": "true"}) as session:
        yield session


def _analyzed(frame: DataFrame) -> JavaObject:
    plan: JavaObject = frame._jdf.queryExecution().analyzed()
    return plan


def _name(plan: JavaObject) -> str:
    name: str = plan.getClass().getSimpleName()
    return name


def _children(plan: JavaObject) -> list[JavaObject]:
    children: JavaObject = plan.children()
    return [children.apply(place) for place in range(children.size())]


def _operator(plan: JavaObject, name: str) -> JavaObject:
    """The first operator of that name, from the top."""
    pending = [plan]
    while pending:
        node = pending.pop(0)
        if _name(node) == name:
            return node
        pending += _children(node)
    raise AssertionError(f"no {name} in {plan}")


def _columns(plan: JavaObject) -> list[int]:
    output: JavaObject = plan.output()
    return [output.apply(place).exprId().id() for place in range(output.size())]


class Observation:
    """An operator's example over one source: its node, and the rows that it returns."""

    def __init__(self, spark: SparkSession, name: str, source: str = SOURCE) -> None:
        self.frame = EXAMPLES[name](spark, source)
        self.plan = _analyzed(self.frame)
        self.node = _operator(self.plan, name)
        self._spark = spark
        self._name = name

    @cached_property
    def rows(self) -> list[tuple[Any, ...]]:
        frame = self.frame if self._name in INLINED else frame_of_plan(self._spark, self.node)
        return [tuple(row) for row in frame.collect() if row[0] is None or row[0] >= 0]


Observe = Callable[..., Observation]


@pytest.fixture(scope="module")
def observe(spark: SparkSession) -> Observe:
    """Observations by operator and source, each executed once."""
    return cache(partial(Observation, spark))


def _with(condition: Callable[[OperatorTraits], bool]) -> list[str]:
    return sorted(operators_with(condition) & EXAMPLES.keys())


@pytest.fixture(scope="module")
def source_rows(spark: SparkSession) -> list[tuple[Any, ...]]:
    rows = [tuple(row) for row in spark.sql(f"SELECT * FROM {SOURCE}").collect()]
    assert [n for n, _ in rows] == [0, 0, 1, 2, 3, 4, 5, 6, 6, 7, 8, 9, 10, 11]
    return rows


def test_every_operator_has_an_example_or_a_reason() -> None:
    assert EXAMPLES.keys().isdisjoint(NO_EXAMPLE)
    assert EXAMPLES.keys() | NO_EXAMPLE.keys() == TRAITS.keys()


@pytest.mark.parametrize("name", _with(lambda traits: traits.columns_unchanged))
def test_columns_unchanged(observe: Observe, source_rows: list[tuple[Any, ...]], name: str) -> None:
    observation = observe(name)
    assert _columns(observation.node) == _columns(_children(observation.node)[0])
    assert set(observation.rows) <= set(source_rows)


@pytest.mark.parametrize("name", _with(lambda traits: traits.rows is not RowEffect.UNKNOWN))
def test_rows(observe: Observe, source_rows: list[tuple[Any, ...]], name: str) -> None:
    before, after = (Counter(row[0] for row in rows) for rows in (source_rows, observe(name).rows))
    match TRAITS[name].rows:
        case RowEffect.EVERY:
            assert after == before
        case RowEffect.SOME:
            assert after < before
        case RowEffect.MERGED:
            assert after == Counter(before.keys())
        case RowEffect.REPEATED:
            assert before < after


@pytest.mark.parametrize("name", _with(lambda traits: traits.row_by_row))
def test_row_by_row(observe: Observe, name: str) -> None:
    """What it returns for one half of the rows and for the other is what it returns for all."""
    halves = [*observe(name, FIRST).rows, *observe(name, SECOND).rows]
    assert Counter(halves) == Counter(observe(name).rows)


@pytest.mark.parametrize("name", _with(lambda traits: traits.order_kept))
def test_order_kept(observe: Observe, name: str) -> None:
    numbers = [row[0] for row in observe(name).rows]
    assert numbers == sorted(numbers)
    assert len(numbers) > 9


@pytest.mark.parametrize("name", _with(lambda traits: traits.order_matters))
def test_order_matters(observe: Observe, name: str) -> None:
    assert set(observe(name).rows) != set(observe(name, BACKWARDS).rows)


@pytest.mark.parametrize("name", _with(lambda traits: traits.row_ids is not RowIds.OTHER))
def test_row_ids(spark: SparkSession, observe: Observe, name: str) -> None:
    """Rows carry a value of the source row that they come from; beyond some operators only a link leads there."""
    provenance = RowProvenance(spark, observe(name).plan, {0: NUMBER})
    links = {link.kind for link in provenance.blocks[0].links}
    match TRAITS[name].row_ids:
        case RowIds.PASS | RowIds.OMIT:
            assert (len(provenance.blocks), links) == (1, set())
        case RowIds.ALL_ROWS:
            assert links == {"all"}
            if name == "Tail":
                return  # Spark runs it at the top of a plan, and nowhere else
        case RowIds.OPAQUE:
            assert links in ({"all"}, {"grouped"})
            assert provenance.blocks[0].sources == ()
            return
    carried = [(row["n"], row[provenance.sources[0].mark]) for row in provenance.frame(0).collect()]
    assert carried
    assert all(number == mark for number, mark in carried)


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_storable(spark: SparkSession, observe: Observe, name: str) -> None:
    """Its plan is written and read again; what is refused, if anything, is not the operator."""
    classes = plan_classes(gateway_of(spark.sparkContext))
    try:
        text: str = classes.new("PlanStream", observe(name).plan, 2**20).text()
        problem: str | None = classes.new("RestoredPlan", text, _session_function(spark)).deserialize()
    except Exception as error:
        problem = str(error)
        assert "is not on the list" in problem
    refused = re.findall(r"plans\.logical\.(\w+)", problem or "")
    assert (name not in refused) == TRAITS[name].storable, problem


def test_java_has_the_table(spark: SparkSession) -> None:
    gateway = gateway_of(spark.sparkContext)
    methods = block_classes(gateway).loader.loadClass("headwater.OperatorTraits").getMethods()
    (operators_of,) = (method for method in methods if method.getName() == "operatorsWith")
    for trait, names in json.loads(traits_json()).items():
        arguments = gateway.new_array(gateway.jvm.java.lang.Object, 1)
        arguments[0] = trait
        assert sorted(operators_of.invoke(None, arguments)) == names
