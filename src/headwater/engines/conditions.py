"""Parses a condition in SQL from a user, checks it against an allow-list, and generates it from the tree for the engine
that runs it. The text of the user never reaches an engine.

The list says what is allowed, not what is forbidden: columns, literals, comparisons, AND, OR, NOT, arithmetic, IN,
BETWEEN, LIKE, IS, CAST to plain types, and a few functions that depend on their arguments alone.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, NoReturn

from headwater.engines.sql import Sql, checked_text
from headwater.engines.values import spark_literal
from headwater.errors import ConditionRefused, shorten
from headwater.formats.openlineage.text import is_storable

if TYPE_CHECKING:
    from sqlglot import Token, exp

Dialect = Literal["spark", "duckdb"]
MAX_CONDITION_LENGTH = 10_000
_MAX_NODES = 2_000
ALLOWED_FUNCTIONS = (
    *("abs", "ceil", "coalesce", "contains", "date", "day", "endswith", "floor", "hour", "length", "lower", "month"),
    *("nullif", "round", "startswith", "substring", "to_date", "trim", "upper", "year"),
)
ALLOWED_TYPES = (
    *("bigint", "boolean", "char", "date", "decimal", "double", "float", "int", "smallint", "string", "timestamp"),
    *("timestamp_ntz", "tinyint", "varchar"),
)


@dataclass(frozen=True)
class ParsedCondition:
    columns: tuple[str, ...]
    """The columns in it, each once. A field of a column counts as the column."""
    spark: str
    duckdb: str

    @property
    def sql(self) -> Sql:
        """For DuckDB."""
        return checked_text(self.duckdb)


def read_condition(text: str, dialect: Dialect = "spark") -> ParsedCondition:
    """Parse a condition in ``dialect``. Raises :class:`ConditionRefused`."""
    if len(text) > MAX_CONDITION_LENGTH:
        _refuse(f"It is longer than {MAX_CONDITION_LENGTH:,} characters.")
    if not is_storable(text):
        _refuse("It contains a NUL or half a surrogate pair.")
    try:
        return _read(text, dialect)
    except RecursionError:
        _refuse("It is nested too deeply.")


def _read(text: str, dialect: Dialect) -> ParsedCondition:
    from sqlglot import exp

    tree = _parse(list(_join_doubled_quotes(_tokens(text, dialect), text)), text, dialect)
    for number, node in enumerate(tree.walk()):
        if number >= _MAX_NODES:
            _refuse(f"It has more than {_MAX_NODES:,} parts.")
        _check(node)
    if not isinstance(tree.unnest(), _boolean_kinds()):
        _refuse("It is a value, not a condition that is true or false.", _text_of(tree))
    columns = dict.fromkeys(column.parts[0].name for column in tree.find_all(exp.Column))
    return ParsedCondition(tuple(columns), _for_spark(tree), _for_duckdb(tree, dialect))


def refuse_unknown_columns(columns: Iterable[str], known: Sequence[str], dataset: str) -> None:
    """``known`` is empty if no event has named the dataset's columns; then the engine checks them."""
    lower_names = {name.lower() for name in known}
    for column in columns:
        if known and column.lower() not in lower_names:
            reason = f"Column '{shorten(column)}' is not in {shorten(dataset)}. Columns: {', '.join(known)}."
            raise ConditionRefused(reason, column)


def _refuse(reason: str, culprit: str | None = None) -> NoReturn:
    raise ConditionRefused(reason, culprit)


def _tokens(text: str, dialect: Dialect) -> list[Token]:
    import sqlglot
    from sqlglot import TokenType

    # sqlglot would print on stderr what this function refuses anyway.
    logging.getLogger("sqlglot").setLevel(logging.ERROR)
    try:
        tokens = sqlglot.tokenize(text, read=dialect)
    except sqlglot.errors.SqlglotError as error:
        _refuse(f"It cannot be parsed: {str(error).partition(chr(10))[0]}.")
    for token in tokens:
        if token.comments or token.token_type is TokenType.HINT:
            _refuse("It contains a comment.", token.comments[0].strip() if token.comments else "/*+")
        if token.token_type is TokenType.SEMICOLON:
            _refuse("Only a single condition is allowed.", ";")
    return tokens


def _join_doubled_quotes(tokens: Sequence[Token], text: str) -> Iterator[Token]:
    """`'it''s'` is one literal with a quote in it, as in standard SQL; older Spark versions read two literals."""
    from sqlglot import Token, TokenType

    last: Token | None = None
    for token in tokens:
        if last is None:
            last = token
        elif token.token_type is not TokenType.STRING or last.token_type is not TokenType.STRING:
            yield last
            last = token
        elif token.start == last.end + 1 and text[token.start] == text[last.end]:
            join_sql = f"{last.text}{text[last.end]}{token.text}"
            last = Token(TokenType.STRING, join_sql, last.line, last.col, last.start, token.end)
        else:
            _refuse("There is no operator between two texts.", token.text)
    if last is not None:
        yield last


def _parse(tokens: list[Token], text: str, dialect: Dialect) -> exp.Expr:
    import sqlglot
    from sqlglot import exp

    try:
        trees = sqlglot.Dialect.get_or_raise(dialect).parser().parse_into(exp.Condition, tokens, text)
    except sqlglot.errors.ParseError as error:
        details = error.errors[0] if error.errors else {}
        _refuse("It cannot be parsed from this position on.", details.get("highlight"))
    if len(trees) != 1 or trees[0] is None:
        _refuse("It is empty.")
    return trees[0]


def _check(node: exp.Expr) -> None:
    from sqlglot import exp

    if type(node) not in _allowed_kinds():
        _refuse_kind(node)
    unexpected = {name for name, value in node.args.items() if value not in (None, False, [])} - _allowed_kinds()[
        type(node)
    ]
    if unexpected:
        _refuse("This form is not allowed.", _text_of(node))
    if isinstance(node, exp.DataType) and node.this not in _allowed_types():
        _refuse(f"A value can be cast to: {', '.join(ALLOWED_TYPES)}.", _text_of(node))
    if isinstance(node, exp.Like | exp.ILike) and not node.expression.is_string:
        _refuse("LIKE takes a literal pattern.", _text_of(node))
    if isinstance(node, exp.In) and not node.expressions and not node.args.get("query"):
        _refuse("IN takes a list of values.", _text_of(node))
    if isinstance(node, exp.Is) and not isinstance(node.expression, exp.Null | exp.Boolean):
        _refuse("IS takes NULL, TRUE or FALSE.", _text_of(node))


def _refuse_kind(node: exp.Expr) -> NoReturn:
    from sqlglot import exp

    if isinstance(node, exp.Query | exp.Exists | exp.All | exp.Any):
        _refuse("It contains a subquery.", _text_of(node))
    if isinstance(node, exp.Func):
        _refuse(f"Allowed functions: {', '.join(ALLOWED_FUNCTIONS)}.", _text_of(node))
    _refuse(
        "Allowed are columns, literals, comparisons, AND, OR, NOT, arithmetic, IN, BETWEEN, LIKE, IS NULL and CAST.",
        _text_of(node),
    )


@cache
def _allowed_kinds() -> dict[type, frozenset[str]]:
    """The allowed kinds of nodes, each with its allowed parts."""
    from sqlglot import exp

    unary, binary = frozenset({"this"}), frozenset({"this", "expression", "negate"})
    comparisons = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Is)
    operators = (exp.And, exp.Or, exp.Add, exp.Sub, exp.Mul, exp.Mod, exp.Like, exp.ILike)
    unary_functions = (exp.Abs, exp.Lower, exp.Upper, exp.Length, exp.Trim, exp.Year, exp.Month, exp.Day, exp.Hour)
    binary_functions = (exp.StartsWith, exp.EndsWith, exp.Contains, exp.Nullif)
    allowed: dict[type, frozenset[str]] = {
        **dict.fromkeys((*comparisons, *operators, *binary_functions), binary),
        **dict.fromkeys((exp.Not, exp.Neg, exp.Paren, exp.Boolean, exp.Null, *unary_functions), unary),
        **dict.fromkeys((exp.Div, exp.DPipe), binary | {"safe", "typed"}),
        **dict.fromkeys((exp.Round, exp.Floor, exp.Ceil), unary | {"decimals"}),
        **dict.fromkeys((exp.Cast, exp.TryCast), frozenset({"this", "to", "safe"})),
        exp.Column: frozenset({"this", "table", "db", "catalog"}),
        exp.Identifier: frozenset({"this", "quoted"}),
        exp.Literal: frozenset({"this", "is_string"}),
        exp.In: frozenset({"this", "expressions", "query", "negate"}),  # a query is refused as a node of its own
        exp.Between: frozenset({"this", "low", "high", "negate"}),
        exp.Coalesce: frozenset({"this", "expressions"}),
        exp.Substring: frozenset({"this", "start", "length"}),
        exp.TsOrDsToDate: frozenset({"this", "safe"}),
        exp.DataType: frozenset({"this", "expressions"}),
        exp.DataTypeParam: unary,
    }
    return allowed


@cache
def _boolean_kinds() -> tuple[type, ...]:
    """The kinds that can be true or false. For a column or a cast only the engine knows."""
    from sqlglot import exp

    comparisons = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Is)
    other = (exp.Like, exp.ILike, exp.In, exp.Between, exp.StartsWith, exp.EndsWith, exp.Contains)
    return (exp.And, exp.Or, exp.Not, exp.Boolean, exp.Column, exp.Cast, *comparisons, *other)


@cache
def _allowed_types() -> frozenset[object]:
    from sqlglot import exp

    return frozenset(exp.DataType.build(name, dialect="spark").this for name in ALLOWED_TYPES)


def _for_spark(tree: exp.Expr) -> str:
    from sqlglot import exp

    def with_spark_literals(node: exp.Expr) -> exp.Expr:
        # Quoted here, whatever sqlglot assumes about Spark's literals: it writes a `Var` unchanged.
        return exp.Var(this=spark_literal(str(node.this))) if isinstance(node, exp.Literal) and node.is_string else node

    return _sql(tree.transform(with_spark_literals), "spark")


def _for_duckdb(tree: exp.Expr, dialect: Dialect) -> str:
    from sqlglot import exp

    tree = exp.Paren(this=tree.copy())  # so that every node has a parent
    for like in list(tree.find_all(exp.Like, exp.ILike)):
        if dialect == "spark" and "\\" in like.expression.name:  # Spark's default escape character
            like.replace(exp.Escape(this=like.copy(), expression=exp.Literal.string("\\")))
    return _sql(tree.this, "duckdb")


def _sql(tree: exp.Expr, dialect: str) -> str:
    return tree.sql(dialect=dialect, identify=True, comments=False)


def _text_of(node: exp.Expr) -> str:
    return node.sql(dialect="spark", comments=False)
