"""Functions over a window: keys and order are INDIRECT, arguments are DIRECT."""

from __future__ import annotations

from headwater.plan.expressions.family import ExpressionFamily, branch_parts, computed_from, first_value
from headwater.plan.flow import NO_SOURCE, CombinedValue, DependencyKind, Value, ValuePart
from headwater.plan.tree import PlanNode


def _window(node: PlanNode, values: list[Value]) -> Value:
    function, specification = values
    return CombinedValue(
        [ValuePart(function, DependencyKind.IDENTITY, through=True), ValuePart(specification, DependencyKind.WINDOW)]
    )


def _offset(node: PlanNode, values: list[Value]) -> Value:
    """LAG and LEAD: another row's value, or the default."""
    return CombinedValue([*branch_parts(values[0]), *(ValuePart(value) for value in values[1:])])


def _nothing(node: PlanNode, values: list[Value]) -> Value:
    """A rank has the order's expressions as children, but no arguments."""
    return NO_SOURCE


FAMILY = ExpressionFamily(
    combine={
        "WindowExpression": _window,
        "WindowSpecDefinition": computed_from,
        "Lag": _offset,
        "Lead": _offset,
        "Rank": _nothing,
        "DenseRank": _nothing,
        "PercentRank": _nothing,
        "UnspecifiedFrame": _nothing,
        "SpecifiedWindowFrame": computed_from,
        "FrameLessOffsetWindowFunction": first_value,
    }
)
