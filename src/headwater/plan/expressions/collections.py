"""Arrays and maps. An array's elements are reached under the array's own path; a map is taken as one."""

from __future__ import annotations

from headwater.plan.expressions.family import Family, branches, conditions
from headwater.plan.flow import Mix, Part, Value
from headwater.plan.tree import Node


def _array(node: Node, values: list[Value]) -> Value:
    return Mix(branches(*values))


def _item(node: Node, values: list[Value]) -> Value:
    """The index says which element, and is not in the value."""
    return Mix([*branches(values[0]), *conditions(*values[1:])])


def _map_value(node: Node, values: list[Value]) -> Value:
    return Mix([Part(values[0]), *conditions(*values[1:])])


FAMILY = Family(
    combine={
        "CreateArray": _array,
        "GetArrayItem": _item,
        "GetMapValue": _map_value,
        "ElementAt": _map_value,
    }
)
