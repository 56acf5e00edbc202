"""Generators: explode and its kin, LATERAL VIEW, table functions over columns.

A row appears once for each element, so what is exploded also decides how often the other columns appear: as with any
lateral join, that is JOIN on the whole.
"""

from __future__ import annotations

from collections.abc import Sequence

from headwater.plan.context import Context
from headwater.plan.expressions.family import branches
from headwater.plan.flow import Field, Kind, Mix, Part, Said, Value
from headwater.plan.operators.family import Family, scope_of
from headwater.plan.relation import Column, Relation, Scope, attributes, decides
from headwater.plan.sqltext.text import shortened
from headwater.plan.tree import Node
from headwater.plan.types import field_names, type_of


def _generate(node: Node, inputs: Sequence[Relation], outer: Scope | None, context: Context) -> Relation:
    scope = scope_of(node, inputs, outer)
    generator = node.tree("generator")
    while generator is not None and generator.name == "GeneratorOuter":
        generator = generator.children[0]
    if generator is None:
        context.gap(node.name, "its generator is not in the plan's JSON", rows=True)
        return inputs[0]
    output = attributes(node.trees("generatorOutput"))
    given = [context.value(child, scope) for child in generator.children]
    text = context.text(generator, scope)
    values = _outputs(generator, given, len(output))
    made = [
        Column(attribute.expr_id, attribute.name, value, text, attribute.type, attribute.nullable)
        for attribute, value in zip(output, values, strict=True)
    ]
    relation = inputs[0].with_columns(made)
    if _always_as_many(generator):
        return relation
    return relation.with_whole(decides(Kind.JOIN, *(Said(shortened(text), value) for value in given)))


def _always_as_many(generator: Node) -> bool:
    """Whether every row becomes the same number of rows, whatever it holds."""
    if generator.name in ("Stack", "JsonTuple"):
        return True
    return any(child.name in ("CreateArray", "CreateMap") for child in generator.children)


def _outputs(generator: Node, given: list[Value], count: int) -> list[Value]:
    anything = Mix(Part(value) for value in given)
    if generator.name in ("Explode", "PosExplode"):
        position = [anything] if generator.name == "PosExplode" else []
        if count - len(position) == 1:  # an array; a map gives a key and a value
            return [*position, Mix(branches(given[0]))]
    elif generator.name == "Inline":
        names = field_names(type_of(generator.children[0])) or given[0].names()
        if names is not None and len(names) == count:
            return [Mix(branches(Field(given[0], name))) for name in names]
    elif generator.name == "Stack":
        rows = generator.children[0].fields.get("value")
        if isinstance(rows, str) and rows.isdigit() and -(-(len(given) - 1) // int(rows)) == count:
            return [Mix(branches(*given[1 + at :: count])) for at in range(count)]
    return [anything] * count


FAMILY: Family = {"Generate": _generate}
