"""Limits on what an event makes of the graph."""

from __future__ import annotations

import os

from headwater.errors import StoreError, shorten
from headwater.formats.openlineage.flows import MAX_DIRECT_EDGES

DIRECT_EDGES_VARIABLE = "HEADWATER_MAX_DIRECT_EDGES"


def max_direct_edges_of(limit: int | None) -> int:
    """The limit that the caller sets, else that of the environment, else the default."""
    if limit is None:
        text = os.environ.get(DIRECT_EDGES_VARIABLE) or str(MAX_DIRECT_EDGES)
        if not text.isascii() or not text.isdigit():
            raise StoreError(f"{DIRECT_EDGES_VARIABLE} is '{shorten(text)}', which is not a number of edges.")
        limit = int(text)
    if limit < 0:
        raise StoreError(f"The maximum number of direct edges must be 0 or more, not {limit}.")
    return limit
