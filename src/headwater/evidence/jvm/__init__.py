"""The Java class that reads what a plan does to columns, written as headwater/jvm says."""

from __future__ import annotations

from typing import Any

from headwater.jvm import JavaClasses, shared_classes


def step_classes(gateway: Any) -> JavaClasses:
    return JavaClasses(gateway, __package__, ("PlanSteps",), above=shared_classes(gateway))
