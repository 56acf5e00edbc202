"""JSON responses, in the shapes of `--json`."""

from __future__ import annotations

import json

from fastapi import Response

from headwater.model.plain import plain

_ENCODE = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


def encode_json(value: object) -> bytes:
    """Encode as ASCII: facets may contain what UTF-8 cannot, such as half of a surrogate pair."""
    return _ENCODE(value).encode()


class JsonResponse(Response):
    media_type = "application/json"

    def render(self, content: object) -> bytes:
        return encode_json(plain(content))
