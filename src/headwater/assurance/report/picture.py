"""The ledger as a picture: the rows of each source flow into those processed, filtered and errored.

Each source has its own scale. A band that is there is never thinner than can be seen, so numbers stand beside.
"""

from __future__ import annotations

from collections.abc import Iterator

from headwater.assurance.report.markup import Html, join_parts, tag
from headwater.assurance.report.shapes import LedgerAccount

_WIDTH, _LEFT, _RIGHT = 720, 190, 470
_TALL, _THIN, _LINE = 90, 3, 30


def picture(account: LedgerAccount) -> Html | None:
    """Return nothing if the counts are missing."""
    flows = [flow for flow in _flows(account) if flow[1]]
    if account.read is None or not flows:
        return None
    total = max(account.read, sum(count for _, count, _ in flows))
    heights = [max(_THIN, _TALL * count / total) for _, count, _ in flows]
    tops, bottom = _tops(heights)
    left_tall = sum(heights)
    left_top = max(0.0, (bottom - left_tall) / 2)
    parts = [tag("rect", x=_LEFT - 10, y=round(left_top, 1), width=10, height=round(left_tall, 1), class_="read")]
    start = left_top
    for (name, count, kind), tall, top in zip(flows, heights, tops, strict=True):
        parts += [_band(start, top, tall, kind), *_label(name, count, total, kind, top, tall)]
        start += tall
    middle = round(left_top + left_tall / 2, 1)
    parts += [
        _text(_LEFT - 18, middle - 4, f"{account.read:,}", "number end"),
        _text(_LEFT - 18, middle + 12, "rows read", "dim end"),
    ]
    description = ", ".join(f"{count:,} {name}" for name, count, _ in flows)
    return tag(
        "svg",
        *parts,
        viewBox=f"0 0 {_WIDTH} {round(bottom + 2)}",
        role="img",
        aria_label=f"{account.source}: {account.read:,} rows read, {description}",
    )


def _flows(account: LedgerAccount) -> Iterator[tuple[str, int, str]]:
    """Label, count, and the style of a band."""
    yield "processed", account.processed or 0, "processed"
    yield "filtered", account.filtered or 0, "filtered"
    yield "errored", account.errored or 0, "errored"
    missing = account.missing or 0
    if missing > 0:
        yield "not accounted for", missing, "lost"


def _tops(heights: list[float]) -> tuple[list[float], float]:
    """Return the positions of the bands on the right, each with room for its label, and the end of the last one."""
    tops, at = [], 2.0
    for tall in heights:
        room = max(tall, float(_LINE))
        tops.append(at + (room - tall) / 2)
        at += room + 4
    return tops, at


def _band(start: float, end: float, tall: float, kind: str) -> Html:
    middle = (_LEFT + _RIGHT) / 2
    there = f"M{_LEFT} {start:.1f}C{middle} {start:.1f} {middle} {end:.1f} {_RIGHT} {end:.1f}"
    back = f"V{end + tall:.1f}C{middle} {end + tall:.1f} {middle} {start + tall:.1f} {_LEFT} {start + tall:.1f}Z"
    return tag("path", d=there + back, class_=f"band {kind}")


def _label(name: str, count: int, total: int, kind: str, top: float, tall: float) -> Iterator[Html]:
    yield tag("rect", x=_RIGHT, y=round(top, 1), width=10, height=round(tall, 1), class_=kind)
    middle = round(top + tall / 2, 1)
    yield _text(_RIGHT + 18, middle - 2, f"{count:,}", "number")
    yield _text(_RIGHT + 18, middle + 12, f"{name}, {_share(count, total)}", "dim")


def _share(count: int, total: int) -> str:
    """Format a share; rounding never gives 0 % or 100 %."""
    if count == total:
        return "100 %"
    return f"{min(max(100 * count / total, 0.01), 99.99):.2f} %"


def _text(x: float, y: float, words: str, class_: str) -> Html:
    return tag("text", words, x=x, y=y, class_=class_)


def pictures(accounts: list[LedgerAccount], most: int = 20) -> Html:
    drawn = [
        tag("figure", tag("figcaption", tag("code", account.source)), image)
        for account in accounts[:most]
        if (image := picture(account)) is not None
    ]
    return join_parts(drawn)
