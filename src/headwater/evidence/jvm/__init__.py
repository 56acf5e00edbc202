"""The Java class that reads what a plan does to columns (headwater/jvm.py)."""

from __future__ import annotations

from headwater.jvm import JavaClasses, JavaObject


def step_classes(gateway: JavaObject) -> JavaClasses:
    return JavaClasses(gateway, __package__, ("PlanSteps",))
