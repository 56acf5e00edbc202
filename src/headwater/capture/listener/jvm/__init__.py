"""The bridge into Spark's JVM: Java classes, written as headwater/jvm says.

ListenerQueue.java      a Spark listener that queues what may have written data
ExecutedCommand.java    a command that an execution ran, for Python to read
TaskOutputMetrics.java  rows and bytes that the tasks of a write wrote
PlanFacts.java          reads facts about all nodes of a plan in one call

Unlike with a Python callback, no Python code runs while Spark's listener waits (docs/decisions/0007).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from headwater.capture.listener.messages import ListenerMessage
from headwater.capture.listener.plan_facts import LOGICAL, PHYSICAL, TABLE, TOP, Facts
from headwater.jvm import JavaClasses, JavaObject, gateway_of

if TYPE_CHECKING:
    from pyspark import SparkContext

CLASSES = ("PlanFacts", "ExecutedCommand", "TaskOutputMetrics", "ListenerQueue")
"""The Java classes here; each uses only those before it."""
_CAPACITY = 10_000  # messages; a write makes two
_MAX_NODES = 100_000


class Bridge:
    """One per SparkContext."""

    def __init__(self, context: SparkContext) -> None:
        jvm = self._jvm = cast(JavaObject, context._jvm)
        scala_context = cast(JavaObject, context._jsc).sc()
        classes = JavaClasses(gateway_of(context), __package__, CLASSES)
        self._listener = classes.new("ListenerQueue", scala_context, _CAPACITY)
        self._queue: JavaObject = self._listener.queue()
        self._fact_readers = {
            name: classes.new("PlanFacts", json.dumps(queries))
            for name, queries in (("logical", LOGICAL), ("physical", PHYSICAL), ("top", TOP), ("table", TABLE))
        }
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
        """The facts about every node from ``root`` down; ``queries`` is "logical", "physical", "top" or "table"."""
        nodes: list[Facts] = json.loads(self._fact_readers[queries].collectFacts(root, _MAX_NODES))
        return nodes

    def collapse_projects(self, plan: JavaObject) -> JavaObject:
        """Chains of projections as one, by Catalyst's own rule: a fiftieth of the text after 50 times `withColumn`."""
        rule = self._jvm.java.lang.Class.forName("org.apache.spark.sql.catalyst.optimizer.CollapseProject$")
        collapsed: JavaObject = rule.getField("MODULE$").get(None).apply(plan)
        return collapsed
