"""Higher-order functions: a lambda's variables are the elements of the collection it is called on."""

from __future__ import annotations

from collections.abc import Sequence

from headwater.plan.context import TraceContext
from headwater.plan.expressions.family import ExpressionFamily, branch_parts, conditional_parts
from headwater.plan.flow import NO_SOURCE, CombinedValue, DependencyKind, Value, ValuePart
from headwater.plan.relation import ColumnScope, RelationColumn
from headwater.plan.tree import PlanNode


def _apply(function: PlanNode, arguments: Sequence[Value], scope: ColumnScope, context: TraceContext) -> Value:
    """A lambda's value. It may omit variables at the end, as most do with the index."""
    if function.name != "LambdaFunction":
        return context.value(function, scope)
    variables = function.children[1:]
    bound = [
        RelationColumn(variable.expr_id, variable.text("name") or "", value)
        for variable, value in zip(variables, arguments, strict=False)
        if variable.expr_id is not None
    ]
    return context.value(function.children[0], scope.with_columns(bound))


def _elements(array: Value) -> Value:
    return CombinedValue(branch_parts(array))


def _ignored_array(function: PlanNode, array: Value, index: int = 0) -> list[ValuePart]:
    """The array, if the function ignores its elements: it still decides the number of results, or of iterations."""
    variables = function.children[1:]
    element = variables[index].expr_id if len(variables) > index else None
    todo = list(function.children[:1])
    while todo:
        node = todo.pop()
        if node.name == "NamedLambdaVariable" and node.expr_id == element:
            return []
        todo += node.children
    return conditional_parts(array)


def _transform(node: PlanNode, scope: ColumnScope, context: TraceContext) -> Value:
    array, function = context.value(node.children[0], scope), node.children[1]
    body = _apply(function, (_elements(array), NO_SOURCE), scope, context)
    return CombinedValue([*branch_parts(body), *_ignored_array(function, array)])


def _filter(node: PlanNode, scope: ColumnScope, context: TraceContext) -> Value:
    array = context.value(node.children[0], scope)
    return CombinedValue(
        [
            *branch_parts(array),
            *conditional_parts(_apply(node.children[1], (_elements(array), NO_SOURCE), scope, context)),
        ]
    )


def _holds(node: PlanNode, scope: ColumnScope, context: TraceContext) -> Value:
    array, function = context.value(node.children[0], scope), node.children[1]
    body = _apply(function, (_elements(array), NO_SOURCE), scope, context)
    return CombinedValue([ValuePart(body), *_ignored_array(function, array)])


def _sort(node: PlanNode, scope: ColumnScope, context: TraceContext) -> Value:
    array = context.value(node.children[0], scope)
    element = _elements(array)
    return CombinedValue(
        [*branch_parts(array), *conditional_parts(_apply(node.children[1], (element, element), scope, context))]
    )


def _zip(node: PlanNode, scope: ColumnScope, context: TraceContext) -> Value:
    left, right = (context.value(child, scope) for child in node.children[:2])
    body = _apply(node.children[2], (_elements(left), _elements(right)), scope, context)
    return CombinedValue(
        [*branch_parts(body), *_ignored_array(node.children[2], left), *_ignored_array(node.children[2], right, 1)]
    )


def _aggregate(node: PlanNode, scope: ColumnScope, context: TraceContext) -> Value:
    """The accumulator is the zero value or a result of the function: a value that refers to itself."""
    array, zero = (context.value(child, scope) for child in node.children[:2])
    accumulator = CombinedValue([ValuePart(zero, DependencyKind.IDENTITY, through=True)])
    merged = _apply(node.children[2], (accumulator, _elements(array)), scope, context)
    accumulator.parts.append(ValuePart(merged, DependencyKind.TRANSFORMATION, through=True))
    finished = _apply(node.children[3], (accumulator,), scope, context)
    return CombinedValue([*branch_parts(finished), *_ignored_array(node.children[2], array, 1)])


def _any(node: PlanNode, scope: ColumnScope, context: TraceContext) -> Value:
    """Over maps, and unknown functions: any variable may be any argument."""
    arguments = [context.value(child, scope) for child in node.children if child.name != "LambdaFunction"]
    variable = CombinedValue(ValuePart(value) for value in arguments)
    bodies = [
        _apply(child, [variable] * (len(child.children) - 1), scope, context)
        for child in node.children
        if child.name == "LambdaFunction"
    ]
    return CombinedValue(ValuePart(value) for value in (*arguments, *bodies))


FAMILY = ExpressionFamily(
    scoped={
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
