"""Two texts that are mostly one: `⟦these words¦or those⟧` in between."""

from __future__ import annotations

import re

_EITHER = re.compile("⟦([^¦⟧]*)¦([^⟧]*)⟧")


def either(first: str, second: str) -> str:
    return f"⟦{first}¦{second}⟧"


def both(text: str) -> tuple[str, str]:
    return _EITHER.sub(r"\1", text), _EITHER.sub(r"\2", text)
