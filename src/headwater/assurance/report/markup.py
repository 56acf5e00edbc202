"""Builds HTML. Everything that these functions did not build is text and is escaped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape

_MAX_TEXT = 400
_MAX_WORD = 24


class Html(str):
    """Markup, as opposed to text."""

    __slots__ = ()


Part = Html | str | int | None
"""Content of markup: markup unchanged, anything else escaped, None omitted."""


def escape_invisible(text: str) -> str:
    """Escape invisible characters, and those that reverse the text direction."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def as_html(part: Part) -> Html:
    if isinstance(part, Html):
        return part
    return Html("" if part is None else escape(escape_invisible(str(part))))


def join_parts(parts: Iterable[Part], separator: str = "") -> Html:
    return Html(separator.join(map(as_html, parts)))


def tag(name: str, *parts: Part, **attributes: str | int | float | None) -> Html:
    """``class_`` is the attribute class, and `aria_label` is aria-label. One of None is left out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(escape_invisible(str(value)))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Html(f"<{name}{written}>{join_parts(parts)}</{name}>")


def table(headings: Sequence[str], rows: Iterable[Sequence[Part]]) -> Html:
    head = tag("tr", *(tag("th", heading, scope="col") for heading in headings))
    body = [tag("tr", *map(_cell, row)) for row in rows]
    return tag("div", tag("table", tag("thead", head), tag("tbody", *body)), class_="scroll")


def _cell(part: Part) -> Html:
    """Return a cell that breaks only words that are too long for the page."""
    text = "" if part is None or isinstance(part, Html) else str(part)
    long = any(len(word) > _MAX_WORD for word in text.split())
    return tag("td", part, class_="long" if long else None)


def facts(rows: Iterable[tuple[str, Part]]) -> Html:
    """A name and a value a line; those without a value are left out."""
    lines = [join_parts([tag("dt", name), tag("dd", value)]) for name, value in rows if value is not None]
    return tag("dl", *lines)


def code(text: object) -> Html:
    return tag("code", str(text))


def lines(text: str) -> Html:
    """Text of several lines, as it is."""
    shown = "\n".join(escape(escape_invisible(line)) for line in text.expandtabs(4).splitlines())
    return Html(f"<pre>{shown}</pre>")


def absent_note(words: str) -> Html:
    return tag("p", words, class_="absent")


def mark(holds: bool | None, words: str) -> Html:
    """A state in colour, sign and word: none of them alone."""
    sign, kind = {True: ("✓", "good"), False: ("✕", "bad"), None: ("○", "open")}[holds]
    return tag("span", tag("span", sign, aria_hidden="true"), " ", words, class_=f"mark {kind}")


def count_of(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def words(value: object) -> str:
    """A value of any shape in one line; what is long is cut."""
    if value is None:
        return "—"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 1]}…"
