"""The path under which a proxy publishes the server: `headwater serve --root-path /lineage`.

Some proxies remove the path before they forward a request and some do not, so both forms are accepted.
"""

from __future__ import annotations

import re

_PATTERN = re.compile(r"(?:/[A-Za-z0-9._~-]+)+")
OWN_SEGMENTS = frozenset(
    {"api", "assets", "audit", "diff", "explore", "health", "keys", "map", "mark.svg", "metrics", "records", "rows"}
    | {"run", "runs"}
)
"""First segments of the server's own paths; a test compares them with the routes."""
_MAX_LENGTH = 200


def parse_root_path(text: str) -> str:
    """Normalize to a leading and no trailing slash; empty for the root of a host. ValueError if it is not a path."""
    path = text.strip().rstrip("/")
    if not path:
        return ""
    if not _PATTERN.fullmatch(path) or len(path) > _MAX_LENGTH or {".", ".."} & set(path.split("/")):
        raise ValueError(
            f"'{text}' is not a path. Write one like /lineage: letters, digits and . _ ~ - between slashes."
        )
    if path.split("/")[1] in OWN_SEGMENTS:
        raise ValueError(f"'{text}' starts with a path that the server itself uses.")
    return path


def without_root(path: bytes, root: bytes) -> bytes:
    if path == root:
        return b"/"
    return path.removeprefix(root) if path.startswith(root + b"/") else path
