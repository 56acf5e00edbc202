"""Which code is running: the script, its repository and commit."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit


@dataclass(frozen=True)
class CodeLocation:
    url: str
    path: str
    repository: str | None = None
    commit: str | None = None
    branch: str | None = None


def script_file() -> Path | None:
    """The script or the zip file that was started; None for a program that no file holds: of a shell, a notebook, `-c`
    or standard input, where Python may name one that does not exist."""
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    if not isinstance(script, str):
        return None
    try:
        path = Path(script).resolve()
        return next((file for file in (path, *path.parents) if file.is_file()), None)
    except (OSError, ValueError):  # the working directory is gone
        return None


def running_code() -> CodeLocation | None:
    """The script that was started; None if there is no file. Outside of a git repository only its path."""
    path = script_file()
    if path is None:
        return None
    top = _git(path.parent, "rev-parse", "--show-toplevel")
    if top is None:
        return CodeLocation(path.as_uri(), str(path))
    relative_path = (
        path.relative_to(Path(top).resolve()).as_posix() if path.is_relative_to(Path(top).resolve()) else str(path)
    )
    repository = _git(path.parent, "config", "--get", "remote.origin.url")
    return CodeLocation(
        path.as_uri(),
        relative_path,
        None if repository is None else _without_secrets(repository),
        _git(path.parent, "rev-parse", "HEAD"),
        _git(path.parent, "rev-parse", "--abbrev-ref", "HEAD"),
    )


def is_changed(folder: Path) -> bool | None:
    """Whether the repository has uncommitted changes to tracked files; None if git does not tell."""
    status = _git(folder, "status", "--porcelain", "--untracked-files=no", empty="")
    return None if status is None else bool(status)


def _git(folder: Path, *arguments: str, empty: str | None = None) -> str | None:
    """The output of git; ``empty`` if it is empty, None if git cannot be run."""
    try:
        result = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=5, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return result.stdout.strip() or empty if result.returncode == 0 else None


def _without_secrets(url: str) -> str:
    """A remote may carry a token: `https://user:token@host/repository`."""
    parts = urlsplit(url)
    if not parts.scheme or "@" not in parts.netloc:
        return url
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
