"""Choices: the condition is INDIRECT, the possible values are DIRECT."""

from __future__ import annotations

from headwater.plan.context import TraceContext
from headwater.plan.expressions.family import ExpressionFamily, branch_parts, computed_from, conditional_parts
from headwater.plan.flow import CombinedValue, Value, ValuePart
from headwater.plan.relation import ColumnScope, RelationColumn
from headwater.plan.tree import PlanNode
from headwater.plan.types import fixed_choice


def _if(node: PlanNode, values: list[Value]) -> Value:
    """Spark's own rewrite of UPDATE leaves `IF(true, new, old)` if there was no condition."""
    chosen = fixed_choice(node)
    if chosen is not None:
        return values[chosen]
    return CombinedValue([*conditional_parts(values[0]), *branch_parts(*values[1:])])


def _null_if(node: PlanNode, values: list[Value]) -> Value:
    return CombinedValue([*conditional_parts(values[0]), *branch_parts(*values[1:])])


def _case(node: PlanNode, values: list[Value]) -> Value:
    """Condition, value, condition, value …, and maybe an ELSE."""
    paired = len(values) - len(values) % 2
    return CombinedValue(
        [*conditional_parts(*values[0:paired:2]), *branch_parts(*values[1:paired:2], *values[paired:])]
    )


def _coalesce(node: PlanNode, values: list[Value]) -> Value:
    """Whether a value is null decides whether it is chosen."""
    if len(values) == 1:
        return computed_from(node, values)
    return CombinedValue([*conditional_parts(*values), *branch_parts(*values)])


def _with(node: PlanNode, scope: ColumnScope, context: TraceContext) -> Value:
    """An expression with parts named in advance. The JSON omits their ids: a reference may be any of them."""
    definitions = [context.value(definition, scope) for definition in node.children[1:]]
    common = definitions[0] if len(definitions) == 1 else CombinedValue(ValuePart(value) for value in definitions)
    return context.value(node.children[0], scope.with_columns([RelationColumn(COMMON, "", common)]))


def _common(node: PlanNode, scope: ColumnScope, context: TraceContext) -> Value:
    column = scope.find(COMMON)
    return column.value if column is not None else context.gap(node.name, "it refers to nothing")


COMMON = -1
"""Stands for the missing id; no column has it."""

FAMILY = ExpressionFamily(
    combine={
        "If": _if,
        "CaseWhen": _case,
        "Coalesce": _coalesce,
        "NaNvl": _coalesce,
        "NullIfResult": _null_if,
    },
    scoped={"With": _with, "CommonExpressionRef": _common},
)
