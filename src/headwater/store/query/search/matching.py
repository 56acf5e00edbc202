"""How a text fits what is looked for, upper and lower case being the same."""

from __future__ import annotations

import re

from sqlalchemy import ColumnElement

from headwater.model.pages import Match
from headwater.store.access.view import View


def match_in(name: str, whole: str, wanted: str) -> Match | None:
    """By a name, or by that name with all that stands before it; None where neither holds it."""
    name, whole, wanted = name.lower(), whole.lower(), wanted.lower()
    if wanted in (name, whole):
        return Match.EXACT
    if name.startswith(wanted) or whole.startswith(wanted):
        return Match.PREFIX
    if re.search(rf"(?<![^\W_]){re.escape(wanted)}", whole):
        return Match.WORD
    return Match.PIECE if wanted in whole else None


def escaped(text: str) -> str:
    """Escaped by a backslash, for a pattern of LIKE."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def like(view: View, column: ColumnElement[str], pattern: str) -> ColumnElement[bool]:
    """Upper or lower case of ASCII letters: what the databases do by themselves, and therefore quickly."""
    return view.dialect.like(column, pattern)
