"""The column lineage that the OpenLineage project's own tests expect, case by case.

Each case is run on real Spark and compared with what is expected there; where we differ on purpose, or where a case
is not about an analyzed plan, it is named below with the reason.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater.plan.commands import read_writes
from headwater.plan.lineage import Derivation, PlanLineage
from headwater.plan.trace import trace_plan, trace_write
from tests.plan.reading import analyzed, analyzed_command, table_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILE = Path(__file__).parents[2] / "../shared/data/openlineage/column-cases.json"

NOT_OF_A_PLAN = {
    "schema-mismatch-no-facet": "it is about giving the facet's builder a schema that is not the query's",
    "jdbc-query-join-iceberg": "the tables are in the text of a query that a database runs; the plan does not show it",
}

OURS_HAS_NOT = {
    "pyspark-ctas-join-group": {
        ("*", "cll_source1", "a", "FILTER"): "the optimizer inferred this filter across the join; nobody wrote it"
    },
    "hivehook-if": {
        (
            "cond",
            "t1",
            "a",
            "IDENTITY",
        ): "a branch of an IF is a transformation, as in the Spark cases"
    },
}
"""Edges that are expected there and left out here, on purpose."""


def cases() -> list[dict[str, Any]]:
    return list(json.loads(FILE.read_text())["cases"]) if FILE.is_file() else []


def test_the_cases_are_there() -> None:
    if not cases():
        pytest.skip("not run: ../shared/data/openlineage/column-cases.json is not there")
    known = {case["id"] for case in cases()}
    assert known >= NOT_OF_A_PLAN.keys() | OURS_HAS_NOT.keys()


@pytest.fixture
def database(spark: SparkSession) -> Iterator[SparkSession]:
    """A database of its own for each case."""
    spark.sql("CREATE DATABASE published")
    spark.sql("USE published")
    before = spark.conf.get("spark.sql.legacy.createHiveTableByDefault")
    spark.conf.set("spark.sql.legacy.createHiveTableByDefault", "false")
    yield spark
    spark.conf.set("spark.sql.legacy.createHiveTableByDefault", before or "false")
    spark.sql("USE plan_tests")
    spark.sql("DROP DATABASE published CASCADE")


@pytest.mark.parametrize("case", [case for case in cases() if case["id"] not in NOT_OF_A_PLAN], ids=lambda c: c["id"])
def test_published_case(case: dict[str, Any], database: SparkSession) -> None:
    names = make_tables(database, case)
    lineage = run(database, case, names)
    expected = {edge for edge in edges_expected(case) if edge not in OURS_HAS_NOT.get(case["id"], {})}
    found = edges_found(lineage, names, case)
    if not case["types_asserted"]:
        expected = {(*edge[:3], None) if edge[0] != "*" else edge for edge in expected}
        found = {(*edge[:3], None) if edge[0] != "*" else edge for edge in found}
    if case["representation"] == "dataset" and not case["expected"]["dataset"] and not case["types_asserted"]:
        found = {edge for edge in found if edge[0] != "*"}  # they do not say what the whole depends on
    assert expected <= found
    if case["exhaustive"]:
        assert found == expected
    assert not lineage.gaps


OF_THE_WHOLE = ("FILTER", "JOIN", "GROUP_BY", "SORT")
Edge = tuple[str, str, str, str | None]
"""Output column (* for the whole), table, field, subtype."""


def edges_expected(case: dict[str, Any]) -> Iterator[Edge]:
    listed = [*case["expected"]["fields"].items(), ("*", case["expected"]["dataset"])]
    for column, inputs in listed:
        for edge in inputs:
            for transformation in edge["transformations"] or [{"subtype": None, "masking": False}]:
                subtype = transformation["subtype"]
                # Some cases repeat on every column what concerns all of them.
                everywhere = case["representation"] == "fields-only" and subtype in (
                    "FILTER",
                    "JOIN",
                    "GROUP_BY",
                    "SORT",
                )
                output = "*" if everywhere else column.casefold()
                masked = " masked" if transformation["masking"] else ""
                yield output, edge["table"], edge["field"].casefold(), subtype and subtype + masked


def edges_found(lineage: PlanLineage, names: dict[str, str], case: dict[str, Any]) -> set[Edge]:
    tables = {short: name for name, short in names.items()}

    def edge(column: str, derivation: Derivation) -> Edge:
        source = lineage.sources[derivation.source]
        table = tables.get(table_of(source), source.kind)
        masked = " masked" if derivation.masking else ""
        return column.casefold(), table, derivation.field.casefold(), derivation.subtype + masked

    found = {edge(column.name, derivation) for column in lineage.columns for derivation in column.derivations}
    return found | {edge("*", derivation) for derivation in lineage.whole}


def make_tables(spark: SparkSession, case: dict[str, Any]) -> dict[str, str]:
    """The case's tables under plain names: some stand for paths or for tables of other systems."""
    names = {}
    for number, (name, columns) in enumerate(case["setup"]["tables"].items()):
        names[name] = name if re.fullmatch(r"\w+", name) else f"table_{number}"
        listed = ", ".join(f"{column['name']} {column['type']}" for column in columns)
        spark.sql(f"CREATE TABLE {names[name]} ({listed}) USING parquet")
    return {name: short.lower() for name, short in names.items()}


VIEWS = {"bigquery-wordcount": "words", "bigtable-view-rename": "tempTable"}
"""Temporary views over the case's only table, which the case describes in words."""


def run(spark: SparkSession, case: dict[str, Any], names: dict[str, str]) -> PlanLineage:
    from pyspark.sql.functions import col

    first = next(iter(names.values()))
    if case["id"] in VIEWS:
        spark.table(first).createOrReplaceTempView(VIEWS[case["id"]])
    for step in case["setup"]["steps"]:
        if step.startswith("CREATE TEMP VIEW"):
            spark.sql(step.replace("CREATE TEMP", "CREATE OR REPLACE TEMP"))
    if case["id"] == "parquet-withcolumn":
        return trace_plan(analyzed(spark.table(first).withColumn("col2", col("id") * 2)))
    if case["id"] == "cached-twice":
        once = spark.table("t1").cache()
        once.count()
        twice = once.select(col("a").alias("c"), col("b").alias("d")).cache()
        twice.count()
        lineage = trace_plan(analyzed(twice.select(col("c").alias("e"), col("d").alias("f"))))
        spark.catalog.clearCache()
        return lineage
    sql = re.sub(r"USING (iceberg|hive)", "USING parquet", case["sql"])
    for name in sorted(names, key=len, reverse=True):
        sql = re.sub(rf"\b{re.escape(name)}\b", names[name], sql, flags=re.IGNORECASE)
    writes = read_writes(plan := analyzed_command(spark, sql))
    return trace_write(writes[0]) if writes else trace_plan(plan)
