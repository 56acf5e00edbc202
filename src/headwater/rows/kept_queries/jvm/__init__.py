"""Java classes that serialize query plans and read them again.

They are written as headwater/jvm says. `Part` is written into stored plans by its name and fields: neither may change.
"""

from __future__ import annotations

from headwater.jvm import JavaClasses, JavaObject, shared_classes
from headwater.plan.operator_traits import operators_with

_NAMES = (
    "PlanClasses",
    "PlanFilter",
    "Part",
    "PlanStream",
    "DeepStack",
    "PlanLeaves",
    "Reflection",
    "WrittenQuery",
    "Reflection",
    "QueryContext",
    "KeptPlan",
    "RestoredPlan",
    "FileListing",
    "SourcePins",
    "FileStatuses",
    "PinnedScan",
)


def plan_classes(gateway: JavaObject) -> JavaClasses:
    storable = " ".join(sorted(operators_with(lambda traits: traits.storable)))
    return JavaClasses(gateway, __package__, _NAMES, shared_classes(gateway), {"STORABLE_OPERATORS": storable})
