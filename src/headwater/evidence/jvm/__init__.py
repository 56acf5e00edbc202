"""The Java class that reads what a plan does to columns (headwater/jvm.py)."""

from __future__ import annotations

from typing import Any

from headwater.jvm import JavaClasses


def step_classes(gateway: Any) -> JavaClasses:
    return JavaClasses(gateway, __package__, ("PlanSteps",))
