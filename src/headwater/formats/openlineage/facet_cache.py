"""Facets that were found sound before.

A job says much the same of its datasets in every event. A facet that was checked once need not be checked again, nor
written out again, and is the very same object each time: whoever keeps something about it sees at a glance that it
still holds.
"""

from __future__ import annotations

import json
import marshal
from collections.abc import Mapping
from typing import Any

_MOST_BYTES = 4 * 2**20

Key = tuple[str, str, bytes]


to_json = json.JSONEncoder(separators=(",", ":")).encode


class SoundFacets:
    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._facets: dict[Key, Mapping[str, Any]] = {}
        self._texts: dict[int, tuple[Mapping[str, Any], str]] = {}
        self._most_bytes = most_bytes
        self._bytes = 0

    @staticmethod
    def key(room: str, name: str, facet: Any) -> Key:
        # Not by ==, for which 1, 1.0 and true are one: a facet is to be told again exactly as it was sent.
        return room, name, marshal.dumps(facet, 2)

    def get(self, key: Key) -> Mapping[str, Any] | None:
        return self._facets.get(key)

    def add(self, key: Key, facet: Mapping[str, Any]) -> None:
        if self._bytes > self._most_bytes:
            self._facets, self._texts, self._bytes = {}, {}, 0
        self._facets[key] = facet
        self._texts[id(facet)] = facet, to_json(facet)
        self._bytes += 2 * len(key[2])

    def text(self, facet: Any) -> str:
        """As compact JSON."""
        known, text = self._texts.get(id(facet), _NOTHING)
        return text if known is facet else to_json(facet)


_NOTHING = object(), ""
