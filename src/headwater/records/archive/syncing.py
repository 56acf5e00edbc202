"""On disk, and not only on its way: hot rows may go once the archive has them."""

from __future__ import annotations

import os
from collections.abc import Iterable


def sync(path: str) -> None:
    """A file, or a folder: what it is called is written there."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def sync_files(root: str, paths: Iterable[str]) -> None:
    """Files below ``root``, and all folders between the two, which may be new as well."""
    folders: set[str] = {root}
    for path in paths:
        sync(f"{root}/{path}")
        above = path.rpartition("/")[0]
        while above:
            folders.add(f"{root}/{above}")
            above = above.rpartition("/")[0]
    for folder in sorted(folders, reverse=True):
        sync(folder)
