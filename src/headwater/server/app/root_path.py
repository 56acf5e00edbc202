"""The path below which a proxy shows the server: `headwater serve --root-path /lineage`.

Proxies differ in whether they remove it before they pass a request on, so both forms of an address are taken.
"""

from __future__ import annotations

import re

_PATTERN = re.compile(r"(?:/[A-Za-z0-9._~-]+)+")
OWN_SEGMENTS = frozenset(
    {"api", "assets", "audit", "diff", "explore", "health", "keys", "map", "mark.svg", "metrics", "records", "rows"}
    | {"run", "runs"}
)
"""What the server's own addresses begin with; a test compares it with the routes."""
_MAX_LENGTH = 200


def parse_root_path(text: str) -> str:
    """With a slash at its beginning and none at its end; empty at the top of a host. ValueError if it cannot be one."""
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
