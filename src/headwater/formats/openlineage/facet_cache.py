"""A cache of valid facets.

The events of a job repeat most of their facets. A facet that was checked once is neither checked nor serialized again,
and is the same object each time: code that caches something about it can compare identities.
"""

from __future__ import annotations

import json
import marshal
from collections.abc import Mapping

from headwater.model.json_types import JsonValue

_MAX_BYTES = 4 * 2**20

Key = tuple[str, str, bytes]


to_json = json.JSONEncoder(separators=(",", ":")).encode


class FacetCache:
    def __init__(self, most_bytes: int = _MAX_BYTES) -> None:
        self._facets: dict[Key, Mapping[str, object]] = {}
        self._texts: dict[int, tuple[object, str]] = {}
        self._most_bytes = most_bytes
        self._bytes = 0

    @staticmethod
    def key(owner: str, name: str, facet: JsonValue) -> Key:
        # Not by ==, for which 1, 1.0 and true are equal: a facet is returned exactly as it was sent.
        return owner, name, marshal.dumps(facet, 2)

    def get(self, key: Key) -> Mapping[str, object] | None:
        return self._facets.get(key)

    def add(self, key: Key, facet: Mapping[str, object]) -> None:
        if self._bytes > self._most_bytes:
            self._facets, self._texts, self._bytes = {}, {}, 0
        self._facets[key] = facet
        self._texts[id(facet)] = facet, to_json(facet)
        self._bytes += 2 * len(key[2])

    def text(self, facet: object) -> str:
        """As compact JSON."""
        cached, text = self._texts.get(id(facet), _NOTHING)
        return text if cached is facet else to_json(facet)


_NOTHING = object(), ""
