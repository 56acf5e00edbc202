"""JSON in answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

JsonValue = Any
"""A JSON value in an answer, as somebody sent it: its shape is known to its producer, and to the caller who asks for
it. `Any`, so that a caller writes ``run.run_facets["parent"]["run"]`` as with any other parsed JSON. Headwater's own
code takes what others sent as ``object``, and checks it."""
JsonObject = Mapping[str, JsonValue]
