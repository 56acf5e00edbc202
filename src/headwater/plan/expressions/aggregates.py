"""Aggregate functions, in a GROUP BY and over a window alike."""

from __future__ import annotations

from headwater.plan.expressions.family import Family, branches, conditions, transformed
from headwater.plan.flow import Kind, Mix, Part, Value
from headwater.plan.tree import Node

_GROUPED_AGGREGATE = (202, 203, 215, 216)
"""Python's numbers for UDFs over a whole group or window: pandas and, since Spark 4.1, Arrow."""


def _aggregate(node: Node, values: list[Value]) -> Value:
    """The FILTER clause decides for this column alone which rows it takes."""
    return Mix([Part(values[0], Kind.AGGREGATION, through=True), *conditions(*values[1:])])


def _element(node: Node, values: list[Value]) -> Value:
    """One value, or a list of values, as they are: their fields can still be told apart."""
    return Mix([*branches(values[0]), *(Part(value) for value in values[1:])])


def _pivot_first(node: Node, values: list[Value]) -> Value:
    """PIVOT: of several rows the value of the one that has the column's key."""
    return Mix([*conditions(values[0]), *(Part(value) for value in values[1:])])


def _python(node: Node, values: list[Value]) -> Value:
    if node.number("evalType") in _GROUPED_AGGREGATE:
        return Mix(Part(value, Kind.AGGREGATION) for value in values)
    return transformed(node, values)


FAMILY = Family(
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
