"""What somebody who sends events could put into a kept plan: real plans of Catalyst that run code, in the stream that a
capture writes, without its checks."""

from __future__ import annotations

import base64
import copy
import shutil
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from headwater.jvm import JavaClasses, gateway_of
from headwater.rows.kept_queries.jvm import plan_classes
from tests.capture.telling import Json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CLASSES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "bean setters": ("InitializeJavaBean",),
        "static invoke": ("StaticInvoke",),
        "reflection": ("Invoke", "NewInstance", "reflect", "try_reflect"),
        "lambdas": ("lambda", "TypedFilter", "TypedMap"),
        "encoders": ("encoders",),
        "UDF wrappers": ("ScalaUDF", "PythonUDF"),
        "pasted into generated code": ("TimestampAdd",),
        "programs": ("ScriptTransformation",),
    }
)
"""By the way in which they come to run what somebody else wrote."""
STATEMENTS = {
    "reflect": "SELECT reflect('org.apache.spark.util.Utils', 'createDirectory', '{folder}', 'canary') AS id "
    "FROM range(1)",
    "try_reflect": "SELECT try_reflect('org.apache.spark.util.Utils', 'createDirectory', '{folder}', 'canary') AS id "
    "FROM range(1)",
    "ScriptTransformation": "SELECT TRANSFORM(id) USING 'touch {canary}' AS (id) FROM range(1)",
}
"""What SQL itself can say."""
OF_OWN_CLASSES = ("TypedFilter", "TypedMap", "ScalaUDF")
"""What needs a class that executors do not have, and so runs nowhere that a sender has no such class put."""
NOT_HERE = () if version("pyspark") >= "4" else ("try_reflect",)
"""What this Spark has not."""
GADGETS = tuple(gadget for gadgets in CLASSES.values() for gadget in gadgets if gadget not in NOT_HERE)
REFUSED = r"it holds|not on the list|with a text that it never has|ClassNotFoundException"
"""How the list of classes refuses them."""
_LARGEST = 2**24


class Forger:
    """``folder``: each gadget writes into it when it runs, in whatever process that is."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark = spark
        gateway = gateway_of(spark.sparkContext)
        self._plan_classes = plan_classes(gateway)
        self._classes = JavaClasses(gateway, __package__, ("Forge",), self._plan_classes)
        self.folder = folder
        self.canary = folder / "canary"
        self.clean()

    def plan(self, gadget: str) -> Any:
        """An analyzed plan with one leaf, a range, that runs the gadget when it is executed."""
        if gadget in STATEMENTS:
            text = STATEMENTS[gadget].replace("{canary}", str(self.canary)).replace("{folder}", str(self.folder))
            return _analyzed(self._spark.sql(text))
        if gadget == "PythonUDF":
            return _analyzed(self._spark.range(1).select(self._python()("id").alias("id")))
        frame: Any = self._spark.range(1)
        forge = self._classes.new("Forge", frame._jdf, str(self.canary))
        whole = {"encoders": "encoders", "TypedFilter": "filter", "TypedMap": "map"}
        return getattr(forge, whole[gadget])() if gadget in whole else forge.plan(gadget)

    def _python(self) -> Any:
        from pyspark.sql import functions as F

        canary = str(self.canary)

        return F.udf(lambda value: open(canary, "w").close(), "long")

    def facet(self, captured: Json, plan: Any, *, python: bool = False) -> Json:
        """A facet that was really captured, of a query of one leaf with a column `id`, with another plan and that
        plan's digest. It conceals that functions of Python are in it."""
        frame: Any = self._spark.range(1)
        forge = self._classes.new("Forge", frame._jdf, str(self.canary))
        # As a capture writes it, which takes functions of Python out of their surroundings; else without checks.
        packed = self._plan_classes.new("PlanStream", plan, _LARGEST).bytes() if python else forge.packed(plan)
        forged = copy.deepcopy(captured)
        forged.pop("signature", None)
        forged["plan"] |= {"bytes": base64.b64encode(bytes(packed)).decode(), "python": []}
        forged["plan"]["digest"] = str(forge.digest(packed))
        return forged

    def forged(self, captured: Json, gadget: str) -> Json:
        return self.facet(captured, self.plan(gadget), python=gadget == "PythonUDF")

    def has_run(self) -> bool:
        return any(self.folder.iterdir())

    def clean(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)


def _analyzed(frame: Any) -> Any:
    return frame._jdf.queryExecution().analyzed()
