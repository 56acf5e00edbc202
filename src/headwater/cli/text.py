"""Formats text for a terminal: escaped names, times, durations, counts."""

from __future__ import annotations

from datetime import datetime, timedelta


def printable(text: str) -> str:
    """Return the text in one line, with control and invisible characters escaped."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def elide(text: str, limit: int = 200) -> str:
    """Shorten a long text; ``--json`` prints it whole."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def moment(at: datetime | None) -> str:
    """Format a time in UTC, to the second; the heading or sentence around it says UTC."""
    return "" if at is None else at.replace(tzinfo=None).isoformat(sep=" ", timespec="seconds")


def elapsed(started: datetime | None, ended: datetime | None) -> str:
    if started is None or ended is None:
        return ""
    return duration(ended - started)


def duration(span: timedelta) -> str:
    """Two units at most: `450 ms`, `12.3 s`, `3 min 20 s`, `2 h`, `3 d 4 h`."""
    seconds = span.total_seconds()
    if seconds < 0:
        return f"-{duration(-span)}"
    if seconds < 1:
        return f"{round(seconds * 1000)} ms"
    if seconds < 60:
        return f"{seconds:.1f} s".replace(".0 ", " ")
    for size, unit, smaller, smaller_unit in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if seconds >= size:
            whole, rest = divmod(int(seconds), size)
            remainder = rest // smaller
            return f"{whole} {unit}" + (f" {remainder} {smaller_unit}" if remainder else "")
    raise AssertionError(seconds)


def count_of(number: int, one: str, many: str | None = None) -> str:
    """`1 dataset`, `12 datasets`, `1,200 datasets`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
