"""Renders an expression as SQL.

A column that is itself an expression is written out, so that `total * 2` over `sum(x) AS total` reads `sum(x) * 2`; one
whose expression is long keeps its name, with an ellipsis: written out, fifty steps of `x + x` would be a text of 2^50
columns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from headwater.plan.sqltext import text as binds
from headwater.plan.sqltext.names import DEFAULTS, function_name, quote_identifier, type_name
from headwater.plan.sqltext.text import SqlText
from headwater.plan.tree import PlanNode, fold
from headwater.plan.types import field_of, fixed_choice, type_of

if TYPE_CHECKING:
    from headwater.plan.context import TraceContext
    from headwater.plan.relation import ColumnScope

_MAX_INLINED_LENGTH = 200
"""The longest expression that is written in place of a column's name."""


def render(node: PlanNode, scope: ColumnScope, context: TraceContext) -> SqlText:
    def whole(node: PlanNode) -> SqlText | None:
        if node.name in _SUBQUERIES:
            return _subquery(node, scope, context)
        if node.name == "OuterReference":
            inner = node.tree("e")
            return render(inner, scope, context) if inner is not None else SqlText("?")
        if node.name == "AttributeReference":
            return _reference(node, scope, context)
        if node.name == "NamedLambdaVariable":
            return SqlText(_variable(node))
        if node.name == "LambdaFunction":
            return _lambda(node, scope, context)
        if node.name == "WindowExpression" and len(node.children) == 2:
            return _window(node, scope, context)
        if "replacement" in node.fields and node.name not in _RULES:
            # The function as it was called; its only child is what Spark runs instead.
            return _call(function_name(node.name), [render(tree, scope, context) for tree in node.other_trees()])
        return None

    return fold(node, whole, _combine)


def _combine(node: PlanNode, parts: list[SqlText]) -> SqlText:
    rule = _RULES.get(node.name)
    if rule is not None:
        return rule(node, parts)
    if node.name in _OPERATORS and len(parts) == 2:
        return _binary(node, parts)
    if node.name in ("Rand", "Randn"):  # the seed, which differs in each run unless the user chose it
        parts = []
    defaults = DEFAULTS.get(node.name, ())
    if defaults and tuple(part.sql for part in parts[-len(defaults) :]) == defaults:
        parts = parts[: -len(defaults)]
    return _call(function_name(node.name), parts)


def _binary(node: PlanNode, parts: list[SqlText]) -> SqlText:
    sign, binding = _OPERATORS[node.name]
    left, right = node.children
    # Spark casts one side to the other's type implicitly, and would again.
    if left.name == "Cast" and right.name != "Cast":
        parts = [_uncast(parts[0]), parts[1]]
    elif right.name == "Cast" and left.name != "Cast":
        parts = [parts[0], _uncast(parts[1])]
    tighter = binding if sign in ("AND", "OR", "+", "*") else binding + 1
    return SqlText(f"{parts[0].within(binding)} {sign} {parts[1].within(tighter)}", binding)


def _call(name: str, parts: list[SqlText]) -> SqlText:
    return SqlText(f"{name}({', '.join(part.sql for part in parts)})")


def _reference(node: PlanNode, scope: ColumnScope, context: TraceContext) -> SqlText:
    name = quote_identifier(node.text("name") or "?")
    column = scope.find(node.expr_id)
    if column is None:
        return SqlText(name)
    if column.home is not None:
        if column.name not in context.ambiguous and not scope.is_ambiguous(column.name):
            return SqlText(name)
        qualifier = (node.text("qualifier") or "").strip("[]").rsplit(", ", 1)[-1]
        if not qualifier or qualifier.startswith("__auto_generated"):
            qualifier = column.home
        return SqlText(f"{quote_identifier(qualifier)}.{name}" if qualifier else name)
    if column.text is None:
        return SqlText(name)
    return column.text if len(column.text.sql) <= _MAX_INLINED_LENGTH else SqlText(f"{name}…")


def _lambda(node: PlanNode, scope: ColumnScope, context: TraceContext) -> SqlText:
    body = render(node.children[0], scope, context).sql
    names = [_variable(variable) for variable in node.children[1:]]
    if node.flag("hidden"):
        return SqlText(body)
    return SqlText(f"{names[0] if len(names) == 1 else '(' + ', '.join(names) + ')'} -> {body}")


def _variable(node: PlanNode) -> str:
    """PySpark numbers its variables; the same query has to give the same text."""
    return quote_identifier(_NUMBERED.sub(r"\1", node.text("name") or "?"))


def _subquery(node: PlanNode, scope: ColumnScope, context: TraceContext) -> SqlText:
    columns = context.subquery(node, scope).columns
    listed = ", ".join(
        column.text.sql if column.text is not None else quote_identifier(column.name) for column in columns
    )
    sql = f"(SELECT {listed} FROM …)" if len(listed) <= _MAX_INLINED_LENGTH else "(SELECT … FROM …)"
    return SqlText(f"EXISTS {sql}" if node.name == "Exists" else sql)


def _literal(node: PlanNode, parts: list[SqlText]) -> SqlText:
    value, type = node.fields.get("value"), node.fields.get("dataType")
    if value is None:
        return SqlText("NULL")
    text = str(value)
    if type == "binary" or str(type).startswith("interval") or _JAVA_OBJECT.search(text):
        return SqlText("…")  # the JSON does not have it
    if isinstance(type, str) and type in ("date", "timestamp", "timestamp_ntz"):
        return SqlText(f"{type.upper()} '{text}'")
    if isinstance(type, str) and (type.startswith("decimal") or type in _NUMERIC):
        return SqlText(text, binds.SIGN if text.startswith("-") else binds.ATOM)
    return SqlText("'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'")


def _cast(node: PlanNode, parts: list[SqlText]) -> SqlText:
    """Spark casts literals implicitly, and the JSON does not state whether a cast is the user's."""
    target = node.fields.get("dataType")
    if node.children[0].name == "Literal" or type_of(node.children[0]) == target:
        return parts[0]
    return SqlText(f"CAST({parts[0].sql} AS {type_name(target)})", inner=parts[0])


def _uncast(text: SqlText) -> SqlText:
    return text.inner or text


def _of_bytes(node: PlanNode, parts: list[SqlText]) -> SqlText:
    """Spark casts text to binary implicitly for a hash."""
    bare = [
        _uncast(part) if child.name == "Cast" and child.fields.get("dataType") == "binary" else part
        for child, part in zip(node.children, parts, strict=True)
    ]
    return _call(function_name(node.name), bare)


def _concat(node: PlanNode, parts: list[SqlText]) -> SqlText:
    """`a || b || c` is concat within concat."""
    pieces = [
        part.sql.removeprefix("concat(").removesuffix(")") if child.name == "Concat" else part.sql
        for child, part in zip(node.children, parts, strict=True)
    ]
    return SqlText(f"concat({', '.join(pieces)})")


def _if(node: PlanNode, parts: list[SqlText]) -> SqlText:
    chosen = fixed_choice(node)
    return parts[chosen] if chosen is not None else _call("if", parts)


def _coalesce(node: PlanNode, parts: list[SqlText]) -> SqlText:
    return parts[0] if len(parts) == 1 else _call("coalesce", parts)


def _rank(node: PlanNode, parts: list[SqlText]) -> SqlText:
    """Its children are the window's order, not arguments."""
    return _call(function_name(node.name), [])


def _case(node: PlanNode, parts: list[SqlText]) -> SqlText:
    pairs = zip(parts[0::2], parts[1::2], strict=False)
    words = [f"WHEN {condition.sql} THEN {value.sql}" for condition, value in pairs]
    if len(parts) % 2:
        words.append(f"ELSE {parts[-1].sql}")
    return SqlText(f"CASE {' '.join(words)} END")


def _struct(node: PlanNode, parts: list[SqlText]) -> SqlText:
    """`struct(a, b + 1 AS c)` rather than named_struct with its names as literals."""
    if any(name.name != "Literal" for name in node.children[0::2]):
        return _call("named_struct", parts)
    fields = []
    for name, value in zip(node.children[0::2], parts[1::2], strict=True):
        field = quote_identifier(str(name.fields.get("value")))
        fields.append(value.sql if value.sql.rsplit(".", 1)[-1] == field else f"{value.sql} AS {field}")
    return SqlText(f"struct({', '.join(fields)})")


def _aggregate(node: PlanNode, parts: list[SqlText]) -> SqlText:
    call = parts[0].sql
    if node.flag("isDistinct"):
        call = call.replace("(", "(DISTINCT ", 1)
    return SqlText(f"{call} FILTER (WHERE {parts[1].sql})" if len(parts) > 1 else call)


def _count(node: PlanNode, parts: list[SqlText]) -> SqlText:
    everything = len(node.children) == 1 and node.children[0].name == "Literal"
    return SqlText("count(*)") if everything else _call("count", parts)


def _window(node: PlanNode, scope: ColumnScope, context: TraceContext) -> SqlText:
    function, specification = node.children
    words = []
    for word, field in (("PARTITION BY", "partitionSpec"), ("ORDER BY", "orderSpec")):
        keys = [render(key, scope, context).sql for key in specification.trees(field)]
        words += [f"{word} {', '.join(keys)}"] if keys else []
    frame = specification.tree("frameSpecification")
    # A rank or a lag has an implicit frame.
    if frame is not None and frame.name == "SpecifiedWindowFrame" and function.name == "AggregateExpression":
        text = render(frame, scope, context).sql
        if text != (_UP_TO_HERE if specification.trees("orderSpec") else _EVERYTHING):
            words.append(text)
    return SqlText(f"{render(function, scope, context).sql} OVER ({' '.join(words)})")


def _frame(node: PlanNode, parts: list[SqlText]) -> SqlText:
    bounds = [_bound(child, part) for child, part in zip(node.children, parts, strict=True)]
    return SqlText(
        f"{'ROWS' if node.object_name('frameType') == 'RowFrame' else 'RANGE'} BETWEEN {' AND '.join(bounds)}"
    )


def _bound(node: PlanNode, part: SqlText) -> str:
    if node.name in _BOUNDS:
        return _BOUNDS[node.name]
    return f"{part.sql.removeprefix('-')} {'PRECEDING' if part.sql.startswith('-') else 'FOLLOWING'}"


def _order(node: PlanNode, parts: list[SqlText]) -> SqlText:
    return SqlText(parts[0].sql + (" DESC" if node.object_name("direction") == "Descending" else ""))


def _update_fields(node: PlanNode, parts: list[SqlText]) -> SqlText:
    return _call("update_fields", parts)


def _with_field(node: PlanNode, parts: list[SqlText]) -> SqlText:
    return SqlText(f"{parts[0].sql} AS {quote_identifier(node.text('name') or '?')}")


def _field(node: PlanNode, parts: list[SqlText]) -> SqlText:
    name = field_of(node)
    return SqlText(f"{parts[0].within(binds.ATOM)}.{quote_identifier(name) if name else '?'}")


def _in(node: PlanNode, parts: list[SqlText]) -> SqlText:
    listed = ", ".join(part.sql for part in parts[1:]) or "…"
    return SqlText(f"{parts[0].within(binds.BITS)} IN ({listed})", binds.COMPARISON)


def _in_subquery(node: PlanNode, parts: list[SqlText]) -> SqlText:
    values = [part.sql for part in parts[:-1]]
    left = values[0] if len(values) == 1 else f"({', '.join(values)})"
    return SqlText(f"{left} IN {parts[-1].sql}", binds.COMPARISON)


def _first(node: PlanNode, parts: list[SqlText]) -> SqlText:
    return parts[0] if parts else SqlText(function_name(node.name) + "()")


def _udf(node: PlanNode, parts: list[SqlText]) -> SqlText:
    return _call(node.text("name") or node.text("udfName") or "udf", parts)


def _with_common(node: PlanNode, parts: list[SqlText]) -> SqlText:
    return parts[0]


def _item(node: PlanNode, parts: list[SqlText]) -> SqlText:
    return SqlText(f"{parts[0].within(binds.ATOM)}[{parts[1].sql}]")


def _postfix(words: str) -> Callable[[PlanNode, list[SqlText]], SqlText]:
    return lambda node, parts: SqlText(f"{parts[0].within(binds.BITS)} {words}", binds.COMPARISON)


_SUBQUERIES = frozenset({"ScalarSubquery", "Exists", "ListQuery", "LateralSubquery"})
_NUMBERED = re.compile(r"\A([a-z])_\d+\Z")
_JAVA_OBJECT = re.compile(r"@[0-9a-f]+\Z")
_NUMERIC = frozenset({"integer", "long", "short", "byte", "double", "float", "boolean"})
_UP_TO_HERE = "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
_EVERYTHING = "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
"""The default frames, with and without an order."""
_BOUNDS = {
    "UnboundedPreceding": "UNBOUNDED PRECEDING",
    "UnboundedFollowing": "UNBOUNDED FOLLOWING",
    "CurrentRow": "CURRENT ROW",
}
_OPERATORS = {
    "Or": ("OR", binds.OR),
    "And": ("AND", binds.AND),
    "EqualTo": ("=", binds.COMPARISON),
    "EqualNullSafe": ("<=>", binds.COMPARISON),
    "LessThan": ("<", binds.COMPARISON),
    "LessThanOrEqual": ("<=", binds.COMPARISON),
    "GreaterThan": (">", binds.COMPARISON),
    "GreaterThanOrEqual": (">=", binds.COMPARISON),
    "RLike": ("RLIKE", binds.COMPARISON),
    "Like": ("LIKE", binds.COMPARISON),
    "BitwiseAnd": ("&", binds.BITS),
    "BitwiseOr": ("|", binds.BITS),
    "BitwiseXor": ("^", binds.BITS),
    "Add": ("+", binds.SUM),
    "Subtract": ("-", binds.SUM),
    "Multiply": ("*", binds.PRODUCT),
    "Divide": ("/", binds.PRODUCT),
    "IntegralDivide": ("DIV", binds.PRODUCT),
    "Remainder": ("%", binds.PRODUCT),
}
_RULES: Mapping[str, Callable[[PlanNode, list[SqlText]], SqlText]] = {
    "AggregateExpression": _aggregate,
    "Alias": _first,
    "AnsiCast": _cast,
    "CaseWhen": _case,
    "Cast": _cast,
    "CommonExpressionRef": lambda node, parts: SqlText("…"),
    "Coalesce": _coalesce,
    "Concat": _concat,
    "Count": _count,
    **dict.fromkeys(("Base64", "Crc32", "Md5", "Sha1", "Sha2"), _of_bytes),
    **dict.fromkeys(("DenseRank", "PercentRank", "Rank"), _rank),
    "CreateNamedStruct": _struct,
    "DropField": lambda node, parts: SqlText(f"DROP {quote_identifier(node.text('name') or '?')}"),
    "GetArrayItem": _item,
    "GetArrayStructFields": _field,
    "GetMapValue": _item,
    "GetStructField": _field,
    "If": _if,
    "In": _in,
    "InSet": _in,
    "InSubquery": _in_subquery,
    "IsNotNull": _postfix("IS NOT NULL"),
    "IsNull": _postfix("IS NULL"),
    "KnownNotNull": _first,
    "KnownNullable": _first,
    "Literal": _literal,
    "Not": lambda node, parts: SqlText(f"NOT {parts[0].within(binds.NOT)}", binds.NOT),
    "PromotePrecision": _first,
    "PythonUDAF": _udf,
    "PythonUDF": _udf,
    "PythonUDTF": _udf,
    "SQLScalarFunction": _first,
    "ScalaUDF": _udf,
    "SortOrder": _order,
    "SpecifiedWindowFrame": _frame,
    "TempResolvedColumn": _first,
    "UnaryMinus": lambda node, parts: SqlText(f"-{parts[0].within(binds.SIGN)}", binds.SIGN),
    "UpdateFields": _update_fields,
    "With": _with_common,
    "WithField": _with_field,
}
