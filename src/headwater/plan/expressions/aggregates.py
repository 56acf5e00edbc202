"""Aggregate functions, in a GROUP BY and over a window alike."""

from __future__ import annotations

from headwater.plan.expressions.family import ExpressionFamily, branch_parts, computed_from, conditional_parts
from headwater.plan.flow import CombinedValue, DependencyKind, Value, ValuePart
from headwater.plan.tree import PlanNode

_GROUPED_AGGREGATE = (202, 203, 215, 216)
"""Spark's `evalType` of Python functions over a whole group or window: pandas and, since Spark 4.1, Arrow."""


def _aggregate(node: PlanNode, values: list[Value]) -> Value:
    """The FILTER clause selects rows for this column alone."""
    return CombinedValue(
        [ValuePart(values[0], DependencyKind.AGGREGATION, through=True), *conditional_parts(*values[1:])]
    )


def _element(node: PlanNode, values: list[Value]) -> Value:
    """One value, or a list of values, unchanged: their fields stay distinguishable."""
    return CombinedValue([*branch_parts(values[0]), *(ValuePart(value) for value in values[1:])])


def _pivot_first(node: PlanNode, values: list[Value]) -> Value:
    """PIVOT: the value of the row that has the column's key."""
    return CombinedValue([*conditional_parts(values[0]), *(ValuePart(value) for value in values[1:])])


def _python(node: PlanNode, values: list[Value]) -> Value:
    if node.number("evalType") in _GROUPED_AGGREGATE:
        return CombinedValue(ValuePart(value, DependencyKind.AGGREGATION) for value in values)
    return computed_from(node, values)


FAMILY = ExpressionFamily(
    combine={
        "AggregateExpression": _aggregate,
        "CollectList": _element,
        "First": _element,
        "Last": _element,
        "AnyValue": _element,
        "PivotFirst": _pivot_first,
        "PythonUDF": _python,
        "PythonUDAF": _python,
    }
)
