"""Which strings can be stored and returned unchanged."""

from __future__ import annotations

import re

# A lone surrogate has no UTF-8 form, and PostgreSQL text cannot hold NUL.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

UNSTORABLE_REASON = "contains a NUL or half a surrogate pair, which a database cannot store"


# Both as JSON escapes. A complete pair of surrogates, which is valid, matches too.
_SUSPICIOUS = re.compile(rb"\\u(0000|[dD][89a-fA-F])")


def may_be_unstorable(body: bytes) -> bool:
    """Whether a JSON text can contain an unstorable string at all: one search instead of one per string."""
    return _SUSPICIOUS.search(body) is not None


def is_storable(text: str) -> bool:
    return _UNSTORABLE.search(text) is None
