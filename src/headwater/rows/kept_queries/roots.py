"""The locations that a stored plan may read: checked by name before Spark, which would open any of them, sees them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from headwater.errors import KeptPlanRefused, shorten
from headwater.rows.kept_queries.files import read_file_list

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_STORAGE = frozenset(
    {"file", "hdfs", "viewfs", "s3", "s3a", "s3n", "gs", "abfs", "abfss", "wasb", "wasbs", "adl", "dbfs", "oss", "obs"}
    | {"cos", "cosn", "ofs", "o3fs", "maprfs", "alluxio"}
)
"""File systems that Spark jobs write to. `http:`, `ftp:`, `jdbc:` and the like are reached only as a root."""


@dataclass(frozen=True)
class PlanRoots:
    """``roots``: folders and addresses that an operator allows; nothing else is read. Without roots, every file system
    that jobs write to is allowed, or with ``local_only`` only that of this machine."""

    roots: tuple[str, ...] = ()
    local_only: bool = False

    def check(self, facet: Mapping[str, Any]) -> None:
        """Raises KeptPlanRefused, which names the first path that may not be read."""
        folders: dict[str, str | None] = {}
        for path in _paths(facet):
            folder = path.rpartition("/")[0]
            if folder not in folders:
                folders[folder] = self.refusal(path)
            refusal = folders[folder] or (self._link_refusal(path) if self.roots else None)
            if refusal is not None:
                raise KeptPlanRefused(f"it reads {shorten(path)}, {refusal}")

    def refusal(self, path: str) -> str | None:
        """Why a path may not be read, or None."""
        scheme = _scheme(path)
        if ".." in re.split(r"[/\\]", unquote(path)) or ".." in re.split(r"[/\\]", path):
            return "a path with `..` in it"
        if self.roots:
            return None if any(_is_below(path, root) for root in self.roots) else self._outside_roots()
        if self.local_only and (scheme != "file" or _has_host(path)):
            return "which is not on this machine. --rows-root allows more"
        return None if scheme in _STORAGE else f"and kept plans are not read over {scheme}:"

    def _outside_roots(self) -> str:
        return f"which is below none of the allowed roots: {', '.join(map(shorten, self.roots))}"

    def _link_refusal(self, path: str) -> str | None:
        """Refuses symbolic links to files outside the roots."""
        if _scheme(path) != "file" or not os.path.islink(_local_path(path)):
            return None
        real = str(Path(_local_path(path)).resolve())
        return None if any(_is_below(real, root) for root in self.roots) else f"a link. {self._outside_roots()}"


def _paths(facet: Mapping[str, Any]) -> Iterator[str]:
    for source in facet.get("sources") or ():
        yield from _files_of(source)
        if source.get("path") is not None:
            yield source["path"]
    written = facet.get("written") or {}
    yield from _files_of(written)
    if written.get("uri") is not None and "files" in written:
        yield written["uri"]


def _files_of(holder: Mapping[str, Any]) -> Iterable[str]:
    return (file.path for file in read_file_list(holder["files"])) if holder.get("files") is not None else ()


def _scheme(path: str) -> str:
    match = _SCHEME.match(path)
    return match[1].lower() if match else "file"


def _has_host(path: str) -> bool:
    """`file://host/…`, and a path like `//host/…`, which a URL parser reads as one."""
    rest = path.partition(":")[2] if _SCHEME.match(path) else path
    return rest.startswith("//") and not rest.startswith("///")


def _local_path(path: str) -> str:
    rest = path.partition(":")[2] if _SCHEME.match(path) else path
    return "/" + rest.lstrip("/")


def _is_below(path: str, root: str) -> bool:
    if _scheme(path) != _scheme(root):
        return False
    if _scheme(path) != "file":
        return path.rstrip("/") == root.rstrip("/") or path.startswith(root.rstrip("/") + "/")
    if _has_host(path):
        return False
    folder = Path(_local_path(path)).parent.resolve() / Path(_local_path(path)).name
    top = Path(_local_path(root) if _SCHEME.match(root) or root.startswith("/") else os.path.abspath(root)).resolve()
    return folder.is_relative_to(top)
