"""Keys: a fixed-length stand-in for names of any length.

Parts are told apart by NUL, which no stored name can hold, so ("a", "b/c") and ("a/b", "c") never share a key.
"""

from __future__ import annotations

import hashlib

from headwater.model.names import Endpoint, Job


def key_of(*parts: str) -> bytes:
    return hashlib.sha256("\0".join(parts).encode(errors="surrogatepass")).digest()


def endpoint_key(endpoint: Endpoint) -> bytes:
    room = "job" if isinstance(endpoint, Job) else "dataset"
    return key_of(room, endpoint.namespace, endpoint.name)
