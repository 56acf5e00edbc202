"""Namespaces as the format requires them: URIs. Others are written as a URI, and read back unchanged."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*\Z")
_OURS = "headwater:"


def is_uri(text: str) -> bool:
    return _URI.match(text) is not None


def as_uri(namespace: str) -> str:
    """`s3://lake` unchanged, `shop` as `headwater:shop`. A namespace that starts with `headwater:` is escaped the same
    way."""
    if is_uri(namespace) and not namespace.startswith(_OURS):
        return namespace
    return _OURS + quote(namespace, safe="/:@")


def from_uri(uri: str) -> str:
    return unquote(uri[len(_OURS) :]) if uri.startswith(_OURS) else uri
