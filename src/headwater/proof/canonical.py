"""Canonical JSON (RFC 8785), and labelled hashes of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

import rfc8785

DIGESTS = ("sha256-rfc8785", "sha256-json")
"""The labels of :func:`digest_of`."""
_LARGEST_EXACT = 2**53 - 1
_in_order = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode
_dumps: Callable[[Any], bytes] = rfc8785.dumps
"""It looks at every value itself, and raises a ``CanonicalizationError`` for one that is not JSON."""


def canonical(value: object) -> str:
    return _dumps(value).decode()


def canonical_bytes(value: object) -> bytes:
    return _dumps(value)


def digest_of(value: object) -> str:
    """`sha256-rfc8785:…`. A value that has no canonical form, such as a whole number beyond 2⁵³ or half a surrogate
    pair, is hashed as Python writes it, with sorted keys and in ASCII, under another label: `sha256-json:…`."""
    return digest_and_preimage(value)[0]


def digest_and_preimage(value: object) -> tuple[str, bytes]:
    """Return the hash of a document, and the hashed text."""
    try:
        label, content = "sha256-rfc8785", _dumps(value)
    except (rfc8785.CanonicalizationError, UnicodeEncodeError):
        label, content = "sha256-json", _in_order(value).encode()
    return f"{label}:{sha256(content).hexdigest()}", content


def canonical_text(text: str) -> str:
    """``text`` with each half of a surrogate pair, which UTF-8 cannot encode, replaced by `?`."""
    return text.encode(errors="replace").decode()


def canonical_scalar(value: object) -> str | int | float | bool | None:
    """``value`` in a form that a certificate can hold: a list, an object or an inexact number becomes JSON text."""
    if isinstance(value, str):
        return canonical_text(value)
    if value is None or isinstance(value, bool | float) or (isinstance(value, int) and abs(value) <= _LARGEST_EXACT):
        return value
    return _in_order(value)


def hashes_by_name(value: object) -> dict[str, str]:
    """Return a mapping of names to `algorithm:hex`. A value in another form is replaced by its hash."""
    if not isinstance(value, Mapping):
        return {}
    return {
        canonical_text(str(name)): canonical_text(stated) if isinstance(stated, str) else digest_of(stated)
        for name, stated in value.items()
    }
