"""Ids for things that have none: UUIDs that look random and are always the same for the same thing.

A store gets one secret when it is created; an id is a keyed hash of the thing's name. That is equivalent to drawing
each id once and storing it, without a million rows, and works for a read-only export.
"""

from __future__ import annotations

import hashlib
from uuid import UUID


class StableIds:
    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def id(self, *what: str | int | None) -> str:
        """By the name of a thing, in parts: no name can contain NUL, and None is distinct from the empty name."""
        named = "\0".join("\1" if part is None else f"{part}" for part in what)
        drawn = hashlib.blake2b(named.encode(errors="surrogatepass"), digest_size=16, key=self._secret).digest()
        return str(UUID(bytes=drawn, version=4))
