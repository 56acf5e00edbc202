"""Higher-order functions: a lambda's variables are the elements of the collection it is called on."""

from __future__ import annotations

from collections.abc import Sequence

from headwater.plan.context import Context
from headwater.plan.expressions.family import Family, branches, conditions
from headwater.plan.flow import NOTHING, Kind, Mix, Part, Value
from headwater.plan.relation import Column, Scope
from headwater.plan.tree import Node


def _apply(function: Node, arguments: Sequence[Value], scope: Scope, context: Context) -> Value:
    """A lambda's value. It may leave off variables at the end, as most do with the index."""
    if function.name != "LambdaFunction":
        return context.value(function, scope)
    variables = function.children[1:]
    bound = [
        Column(variable.expr_id, variable.text("name") or "", value)
        for variable, value in zip(variables, arguments, strict=False)
        if variable.expr_id is not None
    ]
    return context.value(function.children[0], scope.binding(bound))


def _elements(array: Value) -> Value:
    return Mix(branches(array))


def _ignored(function: Node, array: Value, place: int = 0) -> list[Part]:
    """The array, where the function ignores its elements: there are still as many results, or rounds."""
    variables = function.children[1:]
    element = variables[place].expr_id if len(variables) > place else None
    todo = list(function.children[:1])
    while todo:
        node = todo.pop()
        if node.name == "NamedLambdaVariable" and node.expr_id == element:
            return []
        todo += node.children
    return conditions(array)


def _transform(node: Node, scope: Scope, context: Context) -> Value:
    array, function = context.value(node.children[0], scope), node.children[1]
    body = _apply(function, (_elements(array), NOTHING), scope, context)
    return Mix([*branches(body), *_ignored(function, array)])


def _filter(node: Node, scope: Scope, context: Context) -> Value:
    array = context.value(node.children[0], scope)
    return Mix([*branches(array), *conditions(_apply(node.children[1], (_elements(array), NOTHING), scope, context))])


def _holds(node: Node, scope: Scope, context: Context) -> Value:
    array, function = context.value(node.children[0], scope), node.children[1]
    body = _apply(function, (_elements(array), NOTHING), scope, context)
    return Mix([Part(body), *_ignored(function, array)])


def _sort(node: Node, scope: Scope, context: Context) -> Value:
    array = context.value(node.children[0], scope)
    element = _elements(array)
    return Mix([*branches(array), *conditions(_apply(node.children[1], (element, element), scope, context))])


def _zip(node: Node, scope: Scope, context: Context) -> Value:
    left, right = (context.value(child, scope) for child in node.children[:2])
    body = _apply(node.children[2], (_elements(left), _elements(right)), scope, context)
    return Mix([*branches(body), *_ignored(node.children[2], left), *_ignored(node.children[2], right, 1)])


def _aggregate(node: Node, scope: Scope, context: Context) -> Value:
    """The accumulator is the zero and whatever the function made of it: a value that refers to itself."""
    array, zero = (context.value(child, scope) for child in node.children[:2])
    accumulator = Mix([Part(zero, Kind.IDENTITY, through=True)])
    merged = _apply(node.children[2], (accumulator, _elements(array)), scope, context)
    accumulator.parts.append(Part(merged, Kind.TRANSFORMATION, through=True))
    finished = _apply(node.children[3], (accumulator,), scope, context)
    return Mix([*branches(finished), *_ignored(node.children[2], array, 1)])


def _any(node: Node, scope: Scope, context: Context) -> Value:
    """Over maps, and functions not known here: any variable may be anything that was given."""
    given = [context.value(child, scope) for child in node.children if child.name != "LambdaFunction"]
    variable = Mix(Part(value) for value in given)
    bodies = [
        _apply(child, [variable] * (len(child.children) - 1), scope, context)
        for child in node.children
        if child.name == "LambdaFunction"
    ]
    return Mix(Part(value) for value in (*given, *bodies))


FAMILY = Family(
    look={
        "ArrayTransform": _transform,
        "ArrayFilter": _filter,
        "ArrayExists": _holds,
        "ArrayForAll": _holds,
        "ArraySort": _sort,
        "ZipWith": _zip,
        "ArrayAggregate": _aggregate,
        **dict.fromkeys(["MapFilter", "MapZipWith", "TransformKeys", "TransformValues"], _any),
    }
)
