"""Arrays and maps. An array's elements have the array's own path; a map is treated as one value."""

from __future__ import annotations

from headwater.plan.expressions.family import ExpressionFamily, branch_parts, conditional_parts
from headwater.plan.flow import CombinedValue, Value, ValuePart
from headwater.plan.tree import PlanNode


def _array(node: PlanNode, values: list[Value]) -> Value:
    return CombinedValue(branch_parts(*values))


def _item(node: PlanNode, values: list[Value]) -> Value:
    """The index selects the element, and is not part of the value."""
    return CombinedValue([*branch_parts(values[0]), *conditional_parts(*values[1:])])


def _map_value(node: PlanNode, values: list[Value]) -> Value:
    return CombinedValue([ValuePart(values[0]), *conditional_parts(*values[1:])])


FAMILY = ExpressionFamily(
    combine={
        "CreateArray": _array,
        "GetArrayItem": _item,
        "GetMapValue": _map_value,
        "ElementAt": _map_value,
    }
)
