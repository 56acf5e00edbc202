"""Functions over a window: keys and order decide, arguments are taken."""

from __future__ import annotations

from headwater.plan.expressions.family import Family, branches, copied, transformed
from headwater.plan.flow import NOTHING, Kind, Mix, Part, Value
from headwater.plan.tree import Node


def _window(node: Node, values: list[Value]) -> Value:
    function, specification = values
    return Mix([Part(function, Kind.IDENTITY, through=True), Part(specification, Kind.WINDOW)])


def _offset(node: Node, values: list[Value]) -> Value:
    """LAG and LEAD: another row's value, or the default."""
    return Mix([*branches(values[0]), *(Part(value) for value in values[1:])])


def _nothing(node: Node, values: list[Value]) -> Value:
    """A rank takes the order's expressions as children, but has no arguments."""
    return NOTHING


FAMILY = Family(
    combine={
        "WindowExpression": _window,
        "WindowSpecDefinition": transformed,
        "Lag": _offset,
        "Lead": _offset,
        "Rank": _nothing,
        "DenseRank": _nothing,
        "PercentRank": _nothing,
        "UnspecifiedFrame": _nothing,
        "SpecifiedWindowFrame": transformed,
        "FrameLessOffsetWindowFunction": copied,
    }
)
