"""What commands write: real ones, as Spark's listener hands them over, and their lineage under the target's names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater.jvm import gateway_of
from headwater.plan.commands import WriteCommand, read_write, read_writes
from headwater.plan.trace import trace_write
from headwater.plan.tree import read_plan
from tests.plan.reading import analyzed, analyzed_command, written

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LISTENER = """
package headwater.tests;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd;
public final class Plans extends org.apache.spark.scheduler.SparkListener {
  private final java.util.Queue plans = new java.util.concurrent.ConcurrentLinkedQueue();
  public void onOtherEvent(org.apache.spark.scheduler.SparkListenerEvent event) {
    if (event instanceof SparkListenerSQLExecutionEnd) {
      SparkListenerSQLExecutionEnd end = (SparkListenerSQLExecutionEnd) event;
      if (end.qe() != null) plans.add(end.qe().analyzed().toJSON());
    }
  }
  public String next() { return (String) plans.poll(); }
}
"""

Seen = Callable[[Callable[[], Any]], list[WriteCommand]]


@pytest.fixture(scope="module")
def seen(spark: SparkSession) -> Iterator[Seen]:
    """Runs something and answers with what its plans write, in the order they end."""
    jvm: Any = spark._jvm
    gateway = gateway_of(spark.sparkContext)
    assert gateway is not None
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.java.lang.Thread.currentThread().getContextClassLoader())
    compiler.cook(LISTENER)
    made = (
        compiler.getClassLoader()
        .loadClass("headwater.tests.Plans")
        .getDeclaredConstructor(gateway.new_array(jvm.java.lang.Class, 0))
    )
    listener = made.newInstance(gateway.new_array(jvm.java.lang.Object, 0))
    spark._jsc.sc().addSparkListener(listener)

    def run(action: Callable[[], Any]) -> list[WriteCommand]:
        bus = spark._jsc.sc().listenerBus()
        bus.waitUntilEmpty(10_000)
        while listener.next() is not None:
            pass
        action()
        bus.waitUntilEmpty(10_000)
        return [write for json in iter(listener.next, None) for write in read_writes(read_plan(json))]

    yield run
    spark._jsc.sc().removeSparkListener(listener)


def lines(write: WriteCommand) -> list[str]:
    return written(trace_write(write))


PAYMENTS = [
    "order_id <- payments.order_id IDENTITY: order_id",
    "paid <- payments.paid IDENTITY: paid",
    "method <- payments.method IDENTITY: method",
]


def test_files(spark: SparkSession, seen: Seen, tmp_path: Path) -> None:
    frame = spark.table("payments")
    (write,) = seen(lambda: frame.write.partitionBy("method").parquet(f"{tmp_path}/out"))
    assert (write.command, write.kind) == ("InsertIntoHadoopFsRelationCommand", "write")
    assert write.columns == ("order_id", "paid", "method")
    assert lines(write) == PAYMENTS


def test_more_columns_than_spark_lists(spark: SparkSession, seen: Seen, tmp_path: Path) -> None:
    """Spark cuts the list of names off; the query's own names hold then."""
    frame = spark.range(1).selectExpr(*(f"id + {n} AS c{n}" for n in range(60)))
    (write,) = seen(lambda: frame.write.parquet(f"{tmp_path}/out"))
    assert [column.name for column in trace_write(write).columns] == [f"c{n}" for n in range(60)]


def test_insert_goes_by_position(spark: SparkSession, seen: Seen) -> None:
    spark.sql("CREATE TABLE sums (who INT, total DOUBLE) USING parquet")
    writes = seen(
        lambda: spark.sql("INSERT INTO sums SELECT customer_id, sum(amount) FROM orders GROUP BY customer_id")
    )
    assert lines(writes[0]) == [
        "who <- orders.customer_id IDENTITY: customer_id",
        "total <- orders.amount AGGREGATION: sum(amount)",
        "* <- orders.customer_id GROUP_BY: customer_id",
    ]


def test_insert_by_column_list_with_a_default(spark: SparkSession, seen: Seen) -> None:
    spark.sql("CREATE TABLE listed (a INT, b STRING, c INT DEFAULT 7) USING parquet")
    writes = seen(lambda: spark.sql("INSERT INTO listed (b, a) SELECT name, id FROM customers"))
    assert lines(writes[0]) == [
        "a <- customers.id IDENTITY: id",
        "b <- customers.name IDENTITY: name",
        "c <-",
    ]


def test_static_partition(spark: SparkSession, seen: Seen) -> None:
    spark.sql("CREATE TABLE parts (x INT, p INT) USING parquet PARTITIONED BY (p)")
    writes = seen(lambda: spark.sql("INSERT OVERWRITE parts PARTITION (p = 3) SELECT order_id FROM payments"))
    assert lines(writes[0]) == ["x <- payments.order_id IDENTITY: order_id", "p <-"]


def test_create_table_as_select(spark: SparkSession, seen: Seen) -> None:
    writes = seen(lambda: spark.sql("CREATE TABLE made USING parquet AS SELECT order_id + 1 AS n FROM payments"))
    assert [write.command for write in writes] == [
        "InsertIntoHadoopFsRelationCommand",
        "CreateDataSourceTableAsSelectCommand",
    ]
    assert [write.kind for write in writes] == ["write", "create"]
    assert [lines(write) for write in writes] == [["n <- payments.order_id TRANSFORMATION: order_id + 1"]] * 2


def test_save_as_table(spark: SparkSession, seen: Seen) -> None:
    writes = seen(lambda: spark.table("payments").write.saveAsTable("saved"))
    assert writes
    assert all(lines(write) == PAYMENTS for write in writes)


def test_directory(spark: SparkSession, seen: Seen, tmp_path: Path) -> None:
    writes = seen(lambda: spark.sql(f"INSERT OVERWRITE DIRECTORY '{tmp_path}/d' USING json SELECT paid FROM payments"))
    assert {write.command: write.kind for write in writes} == {
        "InsertIntoHadoopFsRelationCommand": "write",
        "InsertIntoDataSourceDirCommand": "overwrite",
    }
    assert all(lines(write) == ["paid <- payments.paid IDENTITY: paid"] for write in writes)


def test_second_version_of_sources(spark: SparkSession, seen: Seen) -> None:
    (write,) = seen(lambda: spark.table("payments").write.format("noop").mode("overwrite").save())
    assert (write.command, write.kind) == ("OverwriteByExpression", "overwrite")
    assert lines(write) == PAYMENTS


def test_one_statement_writes_twice(spark: SparkSession, seen: Seen) -> None:
    spark.sql("CREATE TABLE first_target (a INT) USING parquet")
    spark.sql("CREATE TABLE second_target (b INT) USING parquet")
    sql = (
        "WITH c AS (SELECT order_id AS x FROM payments WHERE paid > 0) FROM c "
        "INSERT INTO first_target SELECT x INSERT OVERWRITE second_target SELECT x * 2"
    )
    writes = seen(lambda: spark.sql(sql))
    assert [lines(write) for write in writes] == [
        ["a <- payments.order_id IDENTITY: order_id", "* <- payments.paid FILTER: paid > 0"],
        ["b <- payments.order_id TRANSFORMATION: order_id * 2", "* <- payments.paid FILTER: paid > 0"],
    ]


def test_view(spark: SparkSession, seen: Seen) -> None:
    (write,) = seen(lambda: spark.sql("CREATE VIEW plain AS SELECT order_id, paid * 2 AS p FROM payments"))
    assert (write.command, write.kind, write.unnamed) == ("CreateViewCommand", "view", False)
    assert lines(write) == [
        "order_id <- payments.order_id IDENTITY: order_id",
        "p <- payments.paid TRANSFORMATION: paid * 2",
    ]


def test_view_that_names_its_columns(spark: SparkSession, seen: Seen) -> None:
    """The plan's JSON holds how many names there are, and not the names; the catalog knows them."""
    (write,) = seen(lambda: spark.sql("CREATE VIEW named (x COMMENT 'c', y) AS SELECT order_id, paid FROM payments"))
    assert write.unnamed
    assert [gap.columns for gap in trace_write(write).gaps] == [()]
    known = replace(write, columns=tuple(spark.table("named").columns))
    assert lines(known) == ["x <- payments.order_id IDENTITY: order_id", "y <- payments.paid IDENTITY: paid"]


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE OR REPLACE TEMPORARY VIEW passing AS SELECT 1 AS one",
        "CREATE TABLE empty (a INT) USING parquet",
        "SHOW TABLES",
        "EXPLAIN SELECT 1",
        "ALTER TABLE payments SET TBLPROPERTIES ('a' = 'b')",
        "CACHE LAZY TABLE payments",
        "UNCACHE TABLE payments",
    ],
)
def test_nothing_is_written(spark: SparkSession, seen: Seen, sql: str) -> None:
    assert seen(lambda: spark.sql(sql)) == []


def test_a_query_writes_nothing(spark: SparkSession) -> None:
    assert read_write(analyzed(spark.sql("SELECT 1 UNION ALL SELECT 2"))) is None


def test_streams(spark: SparkSession, seen: Seen, tmp_path: Path) -> None:
    spark.sql("SELECT 1 AS a, 'x' AS b").write.json(f"{tmp_path}/in")
    stream = spark.readStream.schema("a INT, b STRING").json(f"{tmp_path}/in").selectExpr("a + 1 AS c", "b")

    def run(sink: str) -> Callable[[], None]:
        def action() -> None:
            writer = stream.writeStream.format(sink).option("checkpointLocation", f"{tmp_path}/{sink}-checkpoint")
            writer.trigger(availableNow=True).start(f"{tmp_path}/{sink}").awaitTermination()

        return action

    for sink, command in (("parquet", "WriteToMicroBatchDataSourceV1"), ("noop", "WriteToMicroBatchDataSource")):
        batches = [write for write in seen(run(sink)) if write.command == command]
        assert batches, sink
        assert batches[0].kind == "stream"
        assert [line.split(" <- ")[0] for line in lines(batches[0])] == ["c", "b"]
        assert "TRANSFORMATION: a + 1" in lines(batches[0])[0]


def test_merge(spark: SparkSession) -> None:
    write = read_write(
        analyzed_command(
            spark,
            "MERGE INTO payments t USING (SELECT id, coalesce(amount, 0D) AS amount, status FROM orders) s "
            "ON t.order_id = s.id WHEN MATCHED AND s.status = 'gone' THEN DELETE "
            "WHEN MATCHED THEN UPDATE SET t.paid = s.amount "
            "WHEN NOT MATCHED AND s.amount > 1 THEN INSERT (order_id, paid, method) VALUES (s.id, s.amount, 'new')",
        )
    )
    assert write is not None
    assert (write.command, write.kind, write.query) == ("MergeIntoTable", "merge", None)
    assert lines(write) == [
        "order_id <- payments.order_id IDENTITY: order_id",
        "order_id <- orders.id IDENTITY: id",
        "paid <- payments.paid IDENTITY: paid",
        "paid <- orders.amount TRANSFORMATION: coalesce(amount, 0.0)",
        "paid <- orders.amount CONDITIONAL: coalesce(amount, 0.0)",
        "method <- payments.method IDENTITY: method",
        "* <- payments.order_id JOIN: order_id = id",
        "* <- orders.amount FILTER: coalesce(amount, 0.0) > 1",
        "* <- orders.id JOIN: order_id = id",
        "* <- orders.status FILTER: status = 'gone'",
    ]


def test_merge_that_only_updates(spark: SparkSession) -> None:
    """Which rows there are does not change: the clause's condition is its column's."""
    write = read_write(
        analyzed_command(
            spark,
            "MERGE INTO payments t USING orders s ON t.order_id = s.id "
            "WHEN MATCHED AND s.status = 'x' THEN UPDATE SET paid = s.amount "
            "WHEN NOT MATCHED BY SOURCE AND t.paid > 9 THEN UPDATE SET method = 'old'",
        )
    )
    assert write is not None
    assert lines(write) == [
        "order_id <- payments.order_id IDENTITY: order_id",
        "paid <- payments.paid IDENTITY: paid",
        "paid <- orders.amount IDENTITY: amount",
        "paid <- orders.status CONDITIONAL: status = 'x'",
        "method <- payments.method IDENTITY: method",
        "method <- payments.paid CONDITIONAL: paid > 9",
        "* <- payments.order_id JOIN: order_id = id",
        "* <- orders.id JOIN: order_id = id",
    ]


def test_update(spark: SparkSession) -> None:
    sql = "UPDATE payments SET paid = paid * 2, method = 'x' WHERE order_id IN (SELECT id FROM orders)"
    write = read_write(analyzed_command(spark, sql))
    assert write is not None
    assert write.kind == "update"
    condition = "order_id IN (SELECT id FROM …)"
    assert lines(write) == [
        "order_id <- payments.order_id IDENTITY: order_id",
        "paid <- payments.order_id CONDITIONAL: " + condition,
        "paid <- payments.paid IDENTITY: paid",
        "paid <- payments.paid TRANSFORMATION: paid * 2",
        "paid <- orders.id CONDITIONAL: " + condition,
        "method <- payments.method IDENTITY: method",
        "method <- payments.order_id CONDITIONAL: " + condition,
        "method <- orders.id CONDITIONAL: " + condition,
    ]


def test_delete(spark: SparkSession) -> None:
    write = read_write(analyzed_command(spark, "DELETE FROM payments WHERE paid = 0"))
    assert write is not None
    assert write.kind == "delete"
    assert lines(write) == [*PAYMENTS, "* <- payments.paid FILTER: paid = 0"]
