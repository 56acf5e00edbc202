"""Removes literals from SQL text, and values from error messages.

Literals are recognised as by Spark's lexer: strings in either quotes, numbers, and comments, which are removed. Names,
keywords, functions, `null`, `true` and `false`, and the sizes of types stay.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from headwater.errors import HeadwaterError
from headwater.redaction.shapes import MARK, is_secret_column

MODES = ("keep", "mask", "drop")
PLACEHOLDER = "?"

_TOKENS = re.compile(
    r"(?P<size>\b(?:decimal|dec|numeric|char|character|varchar)\s{0,20}+\(\s{0,20}+\d{1,9}\s{0,20}+(?:,\s{0,20}+-?\d{1,9}\s{0,20}+)?\))"
    r"|(?P<hint>/\*\+(?:(?!\*/).)*+(?:\*/)?)"
    r"|(?P<comment>--[^\n]*+|/\*(?:(?!\*/).)*+(?:\*/)?)"
    r"|(?P<name>`(?:[^`]|``)*+`?)"
    r"|(?P<raw>\br(?:'[^']*+'?|\"[^\"]*+\"?))"
    r"|(?P<text>(?:\b[xbn])?(?:'(?:[^'\\]|\\.|'')*+'?|\"(?:[^\"\\]|\\.|\"\")*+\"?))"
    r"|(?P<word>[^\W\d][\w$]*+(?:\#\d{1,12}L?)?)"
    r"|(?P<number>(?:\d[\d_]*+(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?\w*+)",
    re.I | re.S,
)
_CONDITION = re.compile(r"\[[A-Z][A-Z0-9_]{2,80}(?:\.[A-Z0-9_]{2,80}){0,3}\]")
_CLASS = re.compile(r"\s*+(?P<name>[A-Za-z_$][\w$]{0,120}+(?:\.[A-Za-z_$][\w$]{0,120}+){0,12}+)\s*+(?=:|\Z)")
_STATE = re.compile(r"SQLSTATE: ?\w{5}\b")
_FRAME = re.compile(
    r"\s*+(?:at [\w$.<>/]++\([\w$.]*+(?::\d++)?\)|File \"[^\"\n]*+\", line \d++(?:, in [\w<>.]++)?)\s*+"
)
WITHOUT_VALUES = "(its text is left out: it may quote values)"


def check_mode(literals: str) -> str:
    if literals not in MODES:
        raise HeadwaterError(f"literals={literals!r} is not known. There are: {', '.join(MODES)}.")
    return literals


def mask_literals(sql: str) -> str:
    """SQL with a placeholder for each literal."""
    return _TOKENS.sub(_mask_token, sql)


def _mask_token(match: re.Match[str]) -> str:
    kind = match.lastgroup
    if kind in ("text", "raw", "number"):
        return PLACEHOLDER
    return " " if kind == "comment" else match[0]


def without_strings(column: str, sql: str) -> str:
    """The expression of a column, without text literals if the column has the name of a secret: `'…' AS password`."""
    return _TOKENS.sub(_redact_string, sql) if is_secret_column(column) else sql


def _redact_string(match: re.Match[str]) -> str:
    return f"'{MARK}'" if match.lastgroup in ("text", "raw") else match[0]


def remove_literals(sql: str | None, literals: str) -> str | None:
    """SQL text as ``literals`` permits it: unchanged, masked, or None."""
    if sql is None or literals == "keep":
        return sql
    return mask_literals(sql) if literals == "mask" else None


def message_without_values(message: str) -> str:
    """The class of the error and Spark's error condition. The rest of the message may quote a row or a query."""
    kind = _CLASS.match(message)
    parts = [kind["name"] if kind else "Error", *dict.fromkeys(_CONDITION.findall(message)[:3])]
    parts += dict.fromkeys(_STATE.findall(message)[:1])
    return f"{' '.join(parts)} {WITHOUT_VALUES}"


def stack_without_values(trace: str | None) -> str | None:
    """The frames of a stack trace: neither the messages between them, nor lines of source code."""
    if trace is None:
        return None
    return "\n".join(line for line in trace.splitlines() if _FRAME.fullmatch(line)) or None


_SAFE_FIELDS = frozenset(
    {
        *("is", "children", "name", "dataType", "nullable", "exprId", "joinType", "command", "kind", "target"),
        *("output", "reads", "direction", "nullOrdering", "sameOrderExpressions", "isDistinct", "mode", "resultId"),
        *("failOnError", "ansiEnabled", "evalMode", "behind", "plan", "projectList", "child", "left", "right"),
        *("condition", "aggregateExpressions", "groupingExpressions", "query", "table", "class", "all", "byName"),
        *("numPartitions", "allowMissingCol", "pipeline", "namespace", "nodes", "edges", "reader", "function", "key"),
        *("on", "by", "how", "schema", "format", "partition_by", "options", "retries", "on_error", "mapper"),
    }
)
"""Of a plan as a document, and of a declared pipeline, the fields that contain no value of the user's."""


def mask_design(value: object) -> object:
    """A plan as a document (plan/shape.py) with a placeholder for each value in it: text and numbers count as values,
    except in fields that are known to contain none."""
    if isinstance(value, Mapping):
        return {key: _mask_field(key, item) for key, item in value.items()}
    if isinstance(value, list):
        return [mask_design(item) for item in value]
    return value


def _mask_field(name: str, value: object) -> object:
    if name in _SAFE_FIELDS or isinstance(value, Mapping) or value is None or isinstance(value, bool):
        return mask_design(value)
    if isinstance(value, list):
        return [PLACEHOLDER if isinstance(item, str | int | float) else mask_design(item) for item in value]
    return PLACEHOLDER
