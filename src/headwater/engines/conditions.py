"""A condition in SQL that a person wrote: parsed into a tree, checked against an allow-list, and generated from the
tree for the engine that runs it. What was typed never reaches an engine.

The list says what is allowed, not what is forbidden: columns, literals, comparisons, AND, OR, NOT, arithmetic, IN,
BETWEEN, LIKE, IS, CAST to plain types, and a few functions that look at nothing but their arguments.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from headwater.engines.sql import Sql, checked_text
from headwater.engines.values import spark_literal
from headwater.errors import ConditionRefused, shorten
from headwater.formats.openlineage.text import storable

if TYPE_CHECKING:
    from sqlglot import Token, exp

Dialect = Literal["spark", "duckdb"]
MAX_CONDITION_LENGTH = 10_000
_MOST_NODES = 2_000
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
    """Their names, each once; of a field of a column, the column's."""
    spark: str
    duckdb: str

    @property
    def sql(self) -> Sql:
        """For DuckDB."""
        return checked_text(self.duckdb)


def read_condition(text: str, dialect: Dialect = "spark") -> ParsedCondition:
    """``dialect`` is the one that the condition is written in. Raises :class:`ConditionRefused`."""
    if len(text) > MAX_CONDITION_LENGTH:
        _refuse(f"It is longer than {MAX_CONDITION_LENGTH:,} characters.")
    if not storable(text):
        _refuse("It holds what no text in a table can hold.")
    try:
        return _read(text, dialect)
    except RecursionError:
        _refuse("It is nested too deeply.")


def _read(text: str, dialect: Dialect) -> ParsedCondition:
    from sqlglot import exp

    tree = _parsed(list(_with_quotes(_tokens(text, dialect), text)), text, dialect)
    for number, node in enumerate(tree.walk()):
        if number >= _MOST_NODES:
            _refuse(f"It has more than {_MOST_NODES:,} parts.")
        _check(node)
    if not isinstance(tree.unnest(), _booleans()):
        _refuse("It is a value and not a condition, which is true or false.", _told(tree))
    columns = dict.fromkeys(column.parts[0].name for column in tree.find_all(exp.Column))
    return ParsedCondition(tuple(columns), _for_spark(tree), _for_duckdb(tree, dialect))


def refuse_unknown_columns(columns: Iterable[str], known: Sequence[str], dataset: str) -> None:
    """``known``: nothing where nobody has told of its columns; then it is for the engine to say."""
    there = {name.lower() for name in known}
    for column in columns:
        if known and column.lower() not in there:
            reason = f"Column '{shorten(column)}' is not in {shorten(dataset)}. Columns: {', '.join(known)}."
            raise ConditionRefused(reason, column)


def _refuse(reason: str, culprit: str | None = None) -> NoReturn:
    raise ConditionRefused(reason, culprit)


def _tokens(text: str, dialect: Dialect) -> list[Token]:
    import sqlglot
    from sqlglot import TokenType

    # It would say on stderr what is refused here in any case.
    logging.getLogger("sqlglot").setLevel(logging.ERROR)
    try:
        tokens = sqlglot.tokenize(text, read=dialect)
    except sqlglot.errors.SqlglotError as error:
        _refuse(f"It cannot be read: {str(error).partition(chr(10))[0]}.")
    for token in tokens:
        if token.comments or token.token_type is TokenType.HINT:
            _refuse("It holds a comment.", token.comments[0].strip() if token.comments else "/*+")
        if token.token_type is TokenType.SEMICOLON:
            _refuse("It is one condition, and no more statements.", ";")
    return tokens


def _with_quotes(tokens: Sequence[Token], text: str) -> Iterator[Token]:
    """`'it''s'` is one literal with a quote in it, as people write it, though older Sparks take it for two."""
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
            _refuse("Two texts stand side by side.", token.text)
    if last is not None:
        yield last


def _parsed(tokens: list[Token], text: str, dialect: Dialect) -> exp.Expr:
    import sqlglot
    from sqlglot import exp

    try:
        trees = sqlglot.Dialect.get_or_raise(dialect).parser().parse_into(exp.Condition, tokens, text)
    except sqlglot.errors.ParseError as error:
        found = error.errors[0] if error.errors else {}
        _refuse("It cannot be read from here on.", found.get("highlight"))
    if len(trees) != 1 or trees[0] is None:
        _refuse("It is empty.")
    return trees[0]


def _check(node: exp.Expr) -> None:
    from sqlglot import exp

    if type(node) not in _allowed():
        _refuse_kind(node)
    strange = {name for name, value in node.args.items() if value not in (None, False, [])} - _allowed()[type(node)]
    if strange:
        _refuse("It is written in a way that is not taken here.", _told(node))
    if isinstance(node, exp.DataType) and node.this not in _types():
        _refuse(f"A value can be cast to: {', '.join(ALLOWED_TYPES)}.", _told(node))
    if isinstance(node, exp.Like | exp.ILike) and not node.expression.is_string:
        _refuse("What a text is like is written as a literal.", _told(node))
    if isinstance(node, exp.In) and not node.expressions and not node.args.get("query"):
        _refuse("IN takes a list of values.", _told(node))
    if isinstance(node, exp.Is) and not isinstance(node.expression, exp.Null | exp.Boolean):
        _refuse("IS takes NULL, TRUE or FALSE.", _told(node))


def _refuse_kind(node: exp.Expr) -> NoReturn:
    from sqlglot import exp

    if isinstance(node, exp.Query | exp.Exists | exp.All | exp.Any):
        _refuse("It asks a query of its own.", _told(node))
    if isinstance(node, exp.Func):
        _refuse(f"Only these functions are taken: {', '.join(ALLOWED_FUNCTIONS)}.", _told(node))
    _refuse(
        "It may hold columns, literals, comparisons, AND, OR, NOT, arithmetic, IN, BETWEEN, LIKE, IS NULL and CAST.",
        _told(node),
    )


@cache
def _allowed() -> dict[type, frozenset[str]]:
    """The kinds of nodes there may be, each with the parts it may have."""
    from sqlglot import exp

    one, two = frozenset({"this"}), frozenset({"this", "expression", "negate"})
    comparing = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Is)
    reckoning = (exp.And, exp.Or, exp.Add, exp.Sub, exp.Mul, exp.Mod, exp.Like, exp.ILike)
    taking_one = (exp.Abs, exp.Lower, exp.Upper, exp.Length, exp.Trim, exp.Year, exp.Month, exp.Day, exp.Hour)
    taking_two = (exp.StartsWith, exp.EndsWith, exp.Contains, exp.Nullif)
    listed: dict[Any, frozenset[str]] = {
        **dict.fromkeys((*comparing, *reckoning, *taking_two), two),
        **dict.fromkeys((exp.Not, exp.Neg, exp.Paren, exp.Boolean, exp.Null, *taking_one), one),
        **dict.fromkeys((exp.Div, exp.DPipe), two | {"safe", "typed"}),
        **dict.fromkeys((exp.Round, exp.Floor, exp.Ceil), one | {"decimals"}),
        **dict.fromkeys((exp.Cast, exp.TryCast), frozenset({"this", "to", "safe"})),
        exp.Column: frozenset({"this", "table", "db", "catalog"}),
        exp.Identifier: frozenset({"this", "quoted"}),
        exp.Literal: frozenset({"this", "is_string"}),
        exp.In: frozenset({"this", "expressions", "query", "negate"}),  # a query is refused for what it is
        exp.Between: frozenset({"this", "low", "high", "negate"}),
        exp.Coalesce: frozenset({"this", "expressions"}),
        exp.Substring: frozenset({"this", "start", "length"}),
        exp.TsOrDsToDate: frozenset({"this", "safe"}),
        exp.DataType: frozenset({"this", "expressions"}),
        exp.DataTypeParam: one,
    }
    return listed


@cache
def _booleans() -> tuple[type, ...]:
    """What can be true or false. Of a column, or a cast, the engine knows."""
    from sqlglot import exp

    comparing = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Is)
    other = (exp.Like, exp.ILike, exp.In, exp.Between, exp.StartsWith, exp.EndsWith, exp.Contains)
    return (exp.And, exp.Or, exp.Not, exp.Boolean, exp.Column, exp.Cast, *comparing, *other)


@cache
def _types() -> frozenset[Any]:
    from sqlglot import exp

    return frozenset(exp.DataType.build(name, dialect="spark").this for name in ALLOWED_TYPES)


def _for_spark(tree: exp.Expr) -> str:
    from sqlglot import exp

    def told(node: exp.Expr) -> exp.Expr:
        # Written by us, whatever sqlglot thinks that Spark reads in a literal; a `Var` it writes as it stands.
        return exp.Var(this=spark_literal(str(node.this))) if isinstance(node, exp.Literal) and node.is_string else node

    return _sql(tree.transform(told), "spark")


def _for_duckdb(tree: exp.Expr, dialect: Dialect) -> str:
    from sqlglot import exp

    tree = exp.Paren(this=tree.copy())  # so that everything has something above it
    for like in list(tree.find_all(exp.Like, exp.ILike)):
        if dialect == "spark" and "\\" in like.expression.name:  # which Spark takes for an escape without being told
            like.replace(exp.Escape(this=like.copy(), expression=exp.Literal.string("\\")))
    return _sql(tree.this, "duckdb")


def _sql(tree: exp.Expr, dialect: str) -> str:
    return tree.sql(dialect=dialect, identify=True, comments=False)


def _told(node: exp.Expr) -> str:
    return node.sql(dialect="spark", comments=False)
