"""Which strings can be stored and answered back as they came."""

from __future__ import annotations

import re

# A lone surrogate has no UTF-8 form, and PostgreSQL text cannot hold NUL.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

UNSTORABLE_REASON = "holds a NUL or half a surrogate pair, which no database text can"


def storable(text: str) -> bool:
    return _UNSTORABLE.search(text) is None
