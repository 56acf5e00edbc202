"""The Java classes that write plans down and read them again (headwater/jvm.py)."""

from __future__ import annotations

from typing import Any

from headwater.jvm import JavaClasses

_NAMES = (
    "PlanClasses",
    "PlanFilter",
    "Part",
    "PlanStream",
    "DeepStack",
    "PlanLeaves",
    "WrittenQuery",
    "KeptPlan",
    "RestoredPlan",
    "Reflection",
    "FileListing",
    "SourcePins",
    "FileStatuses",
    "PinnedScan",
)


def plan_classes(gateway: Any) -> JavaClasses:
    return JavaClasses(gateway, __package__, _NAMES)
