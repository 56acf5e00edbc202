"""Generators: explode and similar functions, LATERAL VIEW, table functions over columns.

A row occurs once for each element, so what is exploded also decides how often the other columns occur: as with any
lateral join, that is JOIN on the whole.
"""

from __future__ import annotations

from collections.abc import Sequence

from headwater.plan.context import TraceContext
from headwater.plan.expressions.family import branch_parts
from headwater.plan.flow import CombinedValue, DependencyKind, FieldAccess, Value, ValuePart, ValueWithSql
from headwater.plan.operators.family import OperatorFamily, scope_of
from headwater.plan.relation import ColumnScope, Relation, RelationColumn, read_attributes, row_dependency
from headwater.plan.sqltext.text import shorten_sql
from headwater.plan.tree import PlanNode
from headwater.plan.types import field_names, type_of


def _generate(node: PlanNode, inputs: Sequence[Relation], outer: ColumnScope | None, context: TraceContext) -> Relation:
    scope = scope_of(node, inputs, outer)
    generator = node.tree("generator")
    while generator is not None and generator.name == "GeneratorOuter":
        generator = generator.children[0]
    if generator is None:
        context.gap(node.name, "its generator is not in the plan's JSON", rows=True)
        return inputs[0]
    output = read_attributes(node.trees("generatorOutput"))
    arguments = [context.value(child, scope) for child in generator.children]
    text = context.text(generator, scope)
    values = _outputs(generator, arguments, len(output))
    made = [
        RelationColumn(attribute.expr_id, attribute.name, value, text, attribute.type, attribute.nullable)
        for attribute, value in zip(output, values, strict=True)
    ]
    relation = inputs[0].with_columns(made)
    if _always_as_many(generator):
        return relation
    return relation.with_whole(
        row_dependency(DependencyKind.JOIN, *(ValueWithSql(shorten_sql(text), value) for value in arguments))
    )


def _always_as_many(generator: PlanNode) -> bool:
    """Whether every row becomes the same number of rows, whatever it contains."""
    if generator.name in ("Stack", "JsonTuple"):
        return True
    return any(child.name in ("CreateArray", "CreateMap") for child in generator.children)


def _outputs(generator: PlanNode, arguments: list[Value], count: int) -> list[Value]:
    any_argument = CombinedValue(ValuePart(value) for value in arguments)
    if generator.name in ("Explode", "PosExplode"):
        position = [any_argument] if generator.name == "PosExplode" else []
        if count - len(position) == 1:  # an array; a map gives a key and a value
            return [*position, CombinedValue(branch_parts(arguments[0]))]
    elif generator.name == "Inline":
        names = field_names(type_of(generator.children[0])) or arguments[0].names()
        if names is not None and len(names) == count:
            return [CombinedValue(branch_parts(FieldAccess(arguments[0], name))) for name in names]
    elif generator.name == "Stack":
        rows = generator.children[0].fields.get("value")
        if isinstance(rows, str) and rows.isdigit() and -(-(len(arguments) - 1) // int(rows)) == count:
            return [CombinedValue(branch_parts(*arguments[1 + index :: count])) for index in range(count)]
    return [any_argument] * count


FAMILY: OperatorFamily = {"Generate": _generate}
