"""Which strings can be stored and returned unchanged."""

from __future__ import annotations

import re

# A lone surrogate has no UTF-8 form, and PostgreSQL text cannot hold NUL.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

UNSTORABLE_REASON = "holds a NUL or half a surrogate pair, which no database text can"


# How either is written in JSON; a pair of surrogates, which is fine, looks the same, and either half can be alone.
_SUSPICIOUS = re.compile(rb"\\u(0000|[dD][89a-fA-F])")


def may_be_unstorable(body: bytes) -> bool:
    """Whether a JSON text can contain an unstorable string at all: one search instead of one per string."""
    return _SUSPICIOUS.search(body) is not None


def is_storable(text: str) -> bool:
    return _UNSTORABLE.search(text) is None
