"""What a family of expressions provides: rules by Catalyst's class names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from headwater.plan.context import TraceContext
from headwater.plan.flow import CombinedValue, DependencyKind, Value, ValuePart
from headwater.plan.relation import ColumnScope
from headwater.plan.tree import PlanNode


class CombineRule(Protocol):
    """From the values of an expression's children to its own."""

    def __call__(self, node: PlanNode, values: list[Value], /) -> Value: ...


class ScopedRule(Protocol):
    """For an expression that is more than its children: names, lambda functions, subqueries."""

    def __call__(self, node: PlanNode, scope: ColumnScope, context: TraceContext, /) -> Value: ...


class ExpressionFamily(NamedTuple):
    """Rules by class name: ``combine`` gets the values of the children, ``scoped`` the node itself."""

    combine: Mapping[str, CombineRule] = {}
    scoped: Mapping[str, ScopedRule] = {}


def computed_from(node: PlanNode, values: list[Value]) -> Value:
    """The default rule: computed from its children."""
    return CombinedValue(ValuePart(value) for value in values)


def first_value(node: PlanNode, values: list[Value]) -> Value:
    """The value of the first child, unchanged."""
    return values[0] if values else CombinedValue()


def conditional_parts(*values: Value) -> list[ValuePart]:
    return [ValuePart(value, DependencyKind.CONDITIONAL) for value in values]


def branch_parts(*values: Value) -> list[ValuePart]:
    """Values one of which is taken unchanged."""
    return [ValuePart(value, through=True) for value in values]
