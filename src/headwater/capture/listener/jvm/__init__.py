"""The bridge into Spark's JVM: Java classes, written as headwater/jvm says.

ListenerQueue.java      a Spark listener that queues what may have written data
ExecutedCommand.java    a command that an execution ran, for Python to read
TaskOutputMetrics.java  rows and bytes that the tasks of a write wrote
DriverReads.java        what the program has read into the driver
PlanFacts.java          reads facts about all nodes of a plan in one call

Unlike with a Python callback, no Python code runs while Spark's listener waits (docs/decisions/0007).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from headwater.capture.listener.messages import ListenerMessage
from headwater.capture.listener.plan_facts import CATALOG_TABLE, EXPAND, LOGICAL, PHYSICAL, TABLE, TOP, Facts
from headwater.capture.listener.plan_json import lacks_projections, with_projections
from headwater.jvm import JavaClasses, JavaObject, gateway_of

if TYPE_CHECKING:
    from pyspark import SparkContext

CLASSES = ("PlanFacts", "ExecutedCommand", "TaskOutputMetrics", "DriverReads", "ListenerQueue")
"""The Java classes here; each uses only those before it."""
_QUERIES = {
    "logical": LOGICAL,
    "physical": PHYSICAL,
    "top": TOP,
    "table": TABLE,
    "expand": EXPAND,
    "catalog-table": CATALOG_TABLE,
}
_CAPACITY = 10_000  # messages; a write makes two
_MAX_NODES = 100_000


class Bridge:
    """One per SparkContext."""

    def __init__(self, context: SparkContext) -> None:
        jvm = self._jvm = cast(JavaObject, context._jvm)
        self._java_context = cast(JavaObject, context._jsc)
        scala_context = self._java_context.sc()
        classes = JavaClasses(gateway_of(context), __package__, CLASSES)
        self._listener = classes.new("ListenerQueue", scala_context, _CAPACITY)
        self._queue: JavaObject = self._listener.queue()
        self._fact_readers = {name: classes.new("PlanFacts", json.dumps(queries)) for name, queries in _QUERIES.items()}
        self._milliseconds = jvm.java.util.concurrent.TimeUnit.MILLISECONDS

    def register(self) -> None:
        """Register the listener with Spark."""
        self._listener.register("headwater")

    def unregister(self) -> None:
        self._listener.unregister()

    def next_message(self, seconds: float) -> ListenerMessage | None:
        """The next message of the listener; None if there is none in time. Blocks in the JVM, without Python's lock."""
        item = self._queue.poll(int(seconds * 1000), self._milliseconds)
        return None if item is None else ListenerMessage(json.loads(item[0]), item[1])

    def post_marker(self, **fields: object) -> None:
        """Post a message that arrives after those about everything that has happened before."""
        self._listener.postMarker(json.dumps(fields))

    @property
    def dropped_messages(self) -> int:
        return int(self._listener.droppedMessages())

    def plan_facts(self, queries: str, root: JavaObject) -> list[Facts]:
        """The facts about every node from ``root`` down; ``queries`` names those to answer."""
        nodes: list[Facts] = json.loads(self._fact_readers[queries].collectFacts(root, _MAX_NODES))
        return nodes

    def driver_reads(self) -> list[Facts]:
        """The facts about the leaves that the program has read into the driver."""
        return self.plan_facts("logical", self._listener.driverReads())

    def forget_driver_reads(self) -> None:
        self._listener.driverReads().clear()

    def plan_json(self, plan: JavaObject) -> str:
        """The plan as JSON, for :func:`headwater.plan.tree.read_plan`."""
        text: str = plan.toJSON()
        return with_projections(text, self.plan_facts("expand", plan)) if lacks_projections(text) else text

    def qualified_path(self, path: str) -> str:
        """A path as Hadoop completes it: with its file system, and from the working directory."""
        hadoop_path = self._jvm.org.apache.hadoop.fs.Path(path)
        configuration = self._java_context.hadoopConfiguration()
        return str(hadoop_path.getFileSystem(configuration).makeQualified(hadoop_path).toString())

    def collapse_projects(self, plan: JavaObject) -> JavaObject:
        """Chains of projections as one, by Catalyst's own rule: a fiftieth of the text after 50 times `withColumn`."""
        rule = self._jvm.java.lang.Class.forName("org.apache.spark.sql.catalyst.optimizer.CollapseProject$")
        collapsed: JavaObject = rule.getField("MODULE$").get(None).apply(plan)
        return collapsed
