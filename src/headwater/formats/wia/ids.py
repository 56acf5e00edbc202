"""Ids of what has none yet: UUIDs that look random to everybody and are always the same for the same thing.

A store is given one secret, once, when it is made; an id is drawn from it and from what the thing is called. That is
what minting each id once and keeping it would come to, without a million rows that say so, and a reader can export.
"""

from __future__ import annotations

import hashlib
from uuid import UUID


class Mint:
    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def id(self, *what: str | int | None) -> str:
        """By the name of a thing, in parts: no name can hold NUL, and none is not the empty one."""
        named = "\0".join("\1" if part is None else f"{part}" for part in what)
        drawn = hashlib.blake2b(named.encode(errors="surrogatepass"), digest_size=16, key=self._secret).digest()
        return str(UUID(bytes=drawn, version=4))
