"""Functions over objects, as in typed Scala: what comes out is lost, and is said to be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from headwater.jvm import gateway_of
from headwater.plan.trace import trace_plan
from headwater.plan.tree import read_plan
from tests.plan.reading import written

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MAP = """
package headwater.tests;
public final class Mapped implements org.apache.spark.api.java.function.MapFunction {
  public Object call(Object row) { return row.toString(); }
}
"""
FILTER = """
package headwater.tests;
public final class Kept implements org.apache.spark.api.java.function.FilterFunction {
  public boolean call(Object row) { return true; }
}
"""


@pytest.fixture(scope="module")
def functions(spark: SparkSession) -> tuple[Any, Any]:
    """A function to map with and one to filter with, compiled by the compiler that Spark brings along."""
    jvm: Any = spark._jvm
    gateway = gateway_of(spark.sparkContext)
    assert gateway is not None
    made = []
    for source, name in ((MAP, "Mapped"), (FILTER, "Kept")):
        compiler = jvm.org.codehaus.janino.SimpleCompiler()
        compiler.setParentClassLoader(jvm.java.lang.Thread.currentThread().getContextClassLoader())
        compiler.cook(source)
        constructor = (
            compiler.getClassLoader()
            .loadClass(f"headwater.tests.{name}")
            .getDeclaredConstructor(gateway.new_array(jvm.java.lang.Class, 0))
        )
        made.append(constructor.newInstance(gateway.new_array(jvm.java.lang.Object, 0)))
    return made[0], made[1]


def lines(frame: Any) -> list[str]:
    return written(trace_plan(read_plan(frame.queryExecution().analyzed().toJSON())))


def test_a_mapped_dataset(spark: SparkSession, functions: tuple[Any, Any]) -> None:
    jvm: Any = spark._jvm
    mapped = spark.table("customers").where("id > 1")._jdf.map(functions[0], jvm.org.apache.spark.sql.Encoders.STRING())
    assert lines(mapped) == [
        "value <-",
        "* <- customers.id FILTER: id > 1",
        "! MapElements (value): its function is opaque",
    ]


def test_a_filtered_dataset(spark: SparkSession, functions: tuple[Any, Any]) -> None:
    """The columns are what they were; which rows there are, nobody can tell."""
    assert lines(spark.table("payments").select("paid")._jdf.filter(functions[1])) == [
        "paid <- payments.paid IDENTITY: paid",
        "! TypedFilter (all columns): its function is opaque, and it chooses the rows",
    ]
