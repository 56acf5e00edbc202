"""The Java class that reads what a plan does to columns, written as headwater/jvm says."""

from __future__ import annotations

from headwater.jvm import JavaClasses, JavaObject, shared_classes


def step_classes(gateway: JavaObject) -> JavaClasses:
    return JavaClasses(gateway, __package__, ("PlanSteps",), above=shared_classes(gateway))
