"""Choices: what decides is INDIRECT, what may be taken is DIRECT."""

from __future__ import annotations

from headwater.plan.context import Context
from headwater.plan.expressions.family import Family, branches, conditions, transformed
from headwater.plan.flow import Mix, Part, Value
from headwater.plan.relation import Column, Scope
from headwater.plan.tree import Node
from headwater.plan.types import fixed_choice


def _if(node: Node, values: list[Value]) -> Value:
    """Spark's own rewrite of UPDATE leaves `IF(true, new, old)` where there was no condition."""
    chosen = fixed_choice(node)
    if chosen is not None:
        return values[chosen]
    return Mix([*conditions(values[0]), *branches(*values[1:])])


def _null_if(node: Node, values: list[Value]) -> Value:
    return Mix([*conditions(values[0]), *branches(*values[1:])])


def _case(node: Node, values: list[Value]) -> Value:
    """Condition, value, condition, value …, and maybe an ELSE."""
    paired = len(values) - len(values) % 2
    return Mix([*conditions(*values[0:paired:2]), *branches(*values[1:paired:2], *values[paired:])])


def _coalesce(node: Node, values: list[Value]) -> Value:
    """Whether a value is null decides whether it is the one."""
    if len(values) == 1:
        return transformed(node, values)
    return Mix([*conditions(*values), *branches(*values)])


def _with(node: Node, scope: Scope, context: Context) -> Value:
    """An expression with parts named beforehand. The JSON omits their ids: a reference may be any of them."""
    definitions = [context.value(definition, scope) for definition in node.children[1:]]
    common = definitions[0] if len(definitions) == 1 else Mix(Part(value) for value in definitions)
    return context.value(node.children[0], scope.binding([Column(COMMON, "", common)]))


def _common(node: Node, scope: Scope, context: Context) -> Value:
    column = scope.find(COMMON)
    return column.value if column is not None else context.gap(node.name, "it refers to nothing")


COMMON = -1
"""Stands for the missing id; no column has it."""

FAMILY = Family(
    combine={
        "If": _if,
        "CaseWhen": _case,
        "Coalesce": _coalesce,
        "NaNvl": _coalesce,
        "NullIfResult": _null_if,
    },
    look={"With": _with, "CommonExpressionRef": _common},
)
