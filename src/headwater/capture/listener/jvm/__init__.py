"""The bridge into Spark's JVM: small Java classes of ours (headwater/jvm.py).

Unlike with a Python callback, nothing of ours runs in Python while Spark's listener waits (docs/decisions/0007).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from headwater.capture.listener.plan_facts import LOGICAL, PHYSICAL, TABLE, TOP
from headwater.jvm import JavaClasses

if TYPE_CHECKING:
    from pyspark import SparkContext

CLASSES = ("Survey", "Work", "Records", "Ear")
"""Our Java classes here; each uses only those before it."""
_CAPACITY = 10_000  # messages; a write makes two
_MOST_NODES = 100_000


@dataclass
class Message:
    said: dict[str, Any]
    execution: Any
    """A command that Spark carries out (jvm/Work.java), for the messages that are about one."""


class Bridge:
    """One per SparkContext."""

    def __init__(self, context: SparkContext) -> None:
        jvm = self._jvm = cast(Any, context._jvm)
        scala_context = cast(Any, context._jsc).sc()
        classes = JavaClasses(context._gateway, __package__, CLASSES)
        self._ear: Any = classes.new("Ear", scala_context, _CAPACITY)
        self._queue: Any = self._ear.queue()
        self._surveys = {
            name: classes.new("Survey", json.dumps(questions))
            for name, questions in (("logical", LOGICAL), ("physical", PHYSICAL), ("top", TOP), ("table", TABLE))
        }
        self._milliseconds: Any = jvm.java.util.concurrent.TimeUnit.MILLISECONDS

    def listen(self) -> None:
        self._ear.listen("headwater")

    def leave(self) -> None:
        self._ear.leave()

    def next_message(self, seconds: float) -> Message | None:
        """The next thing Spark has said, or None after so long. Blocks in the JVM, without Python's lock."""
        item = self._queue.poll(int(seconds * 1000), self._milliseconds)
        return None if item is None else Message(json.loads(item[0]), item[1])

    def mark(self, **said: Any) -> None:
        """A message to ourselves: it comes when everything that has happened before has been heard."""
        self._ear.mark(json.dumps(said))

    @property
    def missed(self) -> int:
        return int(self._ear.missed())

    def survey(self, name: str, root: Any) -> list[dict[str, Any]]:
        nodes: list[dict[str, Any]] = json.loads(self._surveys[name].of(root, _MOST_NODES))
        return nodes

    def collapse_projects(self, plan: Any) -> Any:
        """Chains of projections as one, by Catalyst's own rule: a fiftieth of the text after 50 times `withColumn`."""
        rule = self._jvm.java.lang.Class.forName("org.apache.spark.sql.catalyst.optimizer.CollapseProject$")
        return rule.getField("MODULE$").get(None).apply(plan)
