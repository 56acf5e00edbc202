"""What somebody who sends events could put into a kept plan: real plans of Catalyst that run code, in the stream that a
capture writes, without its checks."""

from __future__ import annotations

import base64
import copy
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwater.jvm import JavaClasses
from headwater.rows.kept_queries.jvm import plan_classes
from tests.capture.telling import Json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROPERTY = "headwater.canary"

EXPRESSIONS = ("InitializeJavaBean", "StaticInvoke", "Invoke", "NewInstance", "ScalaUDF", "TimestampAdd")
"""Made of Catalyst's own classes, in place of a column."""
STATEMENTS = {
    "reflect": f"SELECT reflect('java.lang.System', 'setProperty', '{PROPERTY}', 'x') AS id FROM range(1)",
    "try_reflect": f"SELECT try_reflect('java.lang.System', 'setProperty', '{PROPERTY}', 'x') AS id FROM range(1)",
    "ScriptTransformation": "SELECT TRANSFORM(id) USING 'touch {canary}' AS (id) FROM range(1)",
}
"""What SQL itself can say."""
if version("pyspark") < "4":  # which has no such function yet
    del STATEMENTS["try_reflect"]
GADGETS = (*EXPRESSIONS, *STATEMENTS, "encoders")


class Forger:
    """``canary``: a file that each gadget writes when it runs, or a property of the JVM that it sets."""

    def __init__(self, spark: SparkSession, canary: Path) -> None:
        self._spark = spark
        self._jvm: Any = spark._jvm
        gateway = spark.sparkContext._gateway
        self._classes = JavaClasses(gateway, __package__, ("Forge",), plan_classes(gateway))
        self.canary = canary

    def plan(self, gadget: str) -> Any:
        """An analyzed plan with one leaf, a range, that runs the gadget when it is executed."""
        if gadget in STATEMENTS:
            said: Any = self._spark.sql(STATEMENTS[gadget].replace("{canary}", str(self.canary)))
            return said._jdf.queryExecution().analyzed()
        frame: Any = self._spark.range(1)
        forge = self._classes.new("Forge", frame._jdf, str(self.canary))
        return forge.encoders() if gadget == "encoders" else forge.plan(gadget)

    def facet(self, captured: Json, plan: Any) -> Json:
        """A facet that was really captured, of a query over a range, with another plan and that plan's digest."""
        frame: Any = self._spark.range(1)
        forge = self._classes.new("Forge", frame._jdf, str(self.canary))
        packed = forge.packed(plan)
        forged = copy.deepcopy(captured)
        forged.pop("signature", None)
        forged["plan"] |= {"bytes": base64.b64encode(bytes(packed)).decode(), "python": []}
        forged["plan"]["digest"] = str(forge.digest(packed))
        return forged

    def has_run(self) -> bool:
        return self.canary.exists() or self._jvm.java.lang.System.getProperty(PROPERTY) is not None

    def clean(self) -> None:
        self.canary.unlink(missing_ok=True)
        self._jvm.java.lang.System.clearProperty(PROPERTY)
