"""Canonical JSON (RFC 8785), and labelled hashes of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import rfc8785

DIGESTS = ("sha256-rfc8785", "sha256-json")
"""The labels of :func:`digest_of`."""
_LARGEST_EXACT = 2**53 - 1
_in_order = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode


def canonical(value: Any) -> str:
    return rfc8785.dumps(value).decode()


def digest_of(value: Any) -> str:
    """`sha256-rfc8785:…`. What has no canonical form, like whole numbers beyond 2⁵³ and halves of characters, is hashed
    as Python writes it with sorted keys in ASCII, and labelled so."""
    return digest_and_preimage(value)[0]


def digest_and_preimage(value: Any) -> tuple[str, bytes]:
    """Return the hash of a document, and the hashed text."""
    try:
        label, content = "sha256-rfc8785", rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, UnicodeEncodeError):
        label, content = "sha256-json", _in_order(value).encode()
    return f"{label}:{sha256(content).hexdigest()}", content


def canonical_text(text: str) -> str:
    """``text`` with what no UTF-8 can hold replaced."""
    return text.encode(errors="replace").decode()


def canonical_scalar(value: Any) -> str | int | float | bool | None:
    """``value`` as a certificate can hold it; what is not one value, or no exact number, as JSON text."""
    if isinstance(value, str):
        return canonical_text(value)
    if value is None or isinstance(value, bool | float) or (isinstance(value, int) and abs(value) <= _LARGEST_EXACT):
        return value
    return _in_order(value)


def hashes_by_name(value: Any) -> dict[str, str]:
    """Return a mapping of names to `algorithm:hex`. A value in another form is replaced by its hash."""
    if not isinstance(value, Mapping):
        return {}
    return {
        canonical_text(str(name)): canonical_text(one) if isinstance(one, str) else digest_of(one)
        for name, one in value.items()
    }
