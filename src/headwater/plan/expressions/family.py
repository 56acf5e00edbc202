"""What a family of expressions provides: rules by Catalyst's class names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from headwater.plan.context import Context
from headwater.plan.flow import Kind, Mix, Part, Value
from headwater.plan.relation import Scope
from headwater.plan.tree import Node


class Combine(Protocol):
    """From the values of an expression's children to its own."""

    def __call__(self, node: Node, values: list[Value], /) -> Value: ...


class Look(Protocol):
    """For an expression that is more than its children: names, lambda functions, subqueries."""

    def __call__(self, node: Node, scope: Scope, context: Context, /) -> Value: ...


class Family(NamedTuple):
    combine: Mapping[str, Combine] = {}
    look: Mapping[str, Look] = {}


def transformed(node: Node, values: list[Value]) -> Value:
    """The rule for all that has none of its own: made of its children, in a way nobody looks into."""
    return Mix(Part(value) for value in values)


def copied(node: Node, values: list[Value]) -> Value:
    """The value of the first child itself."""
    return values[0] if values else Mix()


def conditions(*values: Value) -> list[Part]:
    return [Part(value, Kind.CONDITIONAL) for value in values]


def branches(*values: Value) -> list[Part]:
    """Values one of which is taken as it is."""
    return [Part(value, through=True) for value in values]
