"""The position at which a list continues: after the last item that was shown, not after a number of items. Inserts
do not shift it.

A cursor is the position itself, in the order of the list. It is opaque to clients, and not secret.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, UnaryExpression, and_, or_
from sqlalchemy.sql import operators

from headwater.errors import QueryError
from headwater.formats.openlineage.text import is_storable
from headwater.model.pages import Page

Position = tuple[Any, ...]
"""Whatever a list is ordered by. Of what kinds the values are is checked by :func:`decode`."""
Item = TypeVar("Item")


def page(found: Sequence[Item], limit: int, position: Callable[[Item], Position]) -> Page[Item]:
    """Of one more than ``limit``, which shows whether there is a next page."""
    items = tuple(found[:limit])
    return Page(items, encode(position(items[-1])) if len(found) > limit and items else None)


def encode(position: Position) -> str:
    return urlsafe_b64encode(json.dumps(position, separators=(",", ":")).encode()).decode().rstrip("=")


def decode(cursor: str | None, *kinds: type) -> Position | None:
    """The position in ``cursor``; None without one."""
    if cursor is None:
        return None
    try:
        values = json.loads(urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4)))
        fits = isinstance(values, list) and len(values) == len(kinds)
        if fits and all(_is(value, kind) for value, kind in zip(values, kinds, strict=True)):
            return tuple(values)
    except (ValueError, RecursionError):
        pass
    raise QueryError("This cursor is not one that this list has given.")


def _is(value: object, kind: type) -> bool:
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63
    return isinstance(value, kind) and (not isinstance(value, str) or is_storable(value))


def beyond(
    position: Position, *columns: ColumnElement[int] | ColumnElement[str] | ColumnElement[bytes]
) -> ColumnElement[bool]:
    """What comes after a position, where rows are ordered by these columns, each `.desc()` or not."""
    cases: list[ColumnElement[bool]] = []
    equal: list[ColumnElement[bool]] = []
    for column, value in zip(columns, position, strict=True):
        down = isinstance(column, UnaryExpression) and column.modifier is operators.desc_op
        bare = column.element if isinstance(column, UnaryExpression) else column
        cases.append(and_(*equal, bare < value if down else bare > value))
        equal.append(bare == value)
    return or_(*cases)
