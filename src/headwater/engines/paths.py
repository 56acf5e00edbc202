"""Checks which files may be read: local paths below allowed folders."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from headwater.errors import PathNotAllowed

_MAX_PATH_LENGTH = 4_096
_GLOB = str.maketrans({"*": "[*]", "?": "[?]", "[": "[[]"})


def local_path(location: str) -> Path:
    """The path of a location as Spark or a user writes it: a path, or a URI of scheme `file`."""
    if not location or len(location) > _MAX_PATH_LENGTH or "\x00" in location:
        raise PathNotAllowed(location, "it is not a path")
    try:
        location.encode()
        parts = urlsplit(location)
    except ValueError:  # half a surrogate pair; brackets that are not an address
        raise PathNotAllowed(location, "it is not a path") from None
    if not parts.scheme:
        return Path(location)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        raise PathNotAllowed(location, "it is not on this machine")
    path = unquote(parts.path, errors="surrogateescape")
    if not path or "\x00" in path:
        raise PathNotAllowed(location, "it is not a path")
    return Path(path)


def resolve_path(path: Path) -> Path:
    """The absolute path with every symbolic link followed. A path that does not exist is only made absolute."""
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError) as fault:
        raise PathNotAllowed(str(path), "it is not a path") from fault


def require_below(path: Path, roots: Iterable[Path]) -> Path:
    """The resolved path if it is below one of the folders, whatever `..` or symbolic links it has."""
    real = resolve_path(path)
    if not any(real.is_relative_to(resolve_path(root)) for root in roots):
        raise PathNotAllowed(str(path), "it is outside the folders that may be read")
    return real


def parquet_files(folder: Path) -> list[str]:
    """The Parquet files directly in a folder; a link that leads out of it is refused."""
    try:
        with os.scandir(folder) as entries:
            paths = [(entry.path, entry.is_symlink()) for entry in entries if entry.name.endswith(".parquet")]
    except (OSError, ValueError):
        raise PathNotAllowed(str(folder), "there is no such folder") from None
    for path, is_link in paths:
        if is_link:
            require_below(Path(path), [folder])
    return sorted(path for path, _ in paths)


def escape_globs(paths: Sequence[str]) -> list[str]:
    """Paths for DuckDB, which reads `*`, `?` and `[` in a path as a pattern."""
    return [path.translate(_GLOB) for path in paths]
