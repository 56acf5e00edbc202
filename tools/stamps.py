"""Stamps: what was installed into an environment, by the digests of the files that decided it."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

from tools.paths import BUILD_LOCK, POSTGRES_LOCK, ROOT
from tools.venvs import Venv

# "packages", "project", "page", an extra lock's name: digests; "postgres": bool; "missing": {part: reason}
Stamp = dict[str, Any]


def packages_digest(venv: Venv) -> str:
    """Of all that decides what is in a venv: the locks, the Python, and the place, which its scripts name."""
    digest = hashlib.sha256()
    for part in (sys.version, sys.base_prefix, str(ROOT)):
        digest.update(part.encode() + b"\0")
    for lock in (BUILD_LOCK, venv.lock, POSTGRES_LOCK, venv.java_lock):
        digest.update(file_digest(lock).encode() + b"\0")
    return digest.hexdigest()


def file_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def read_stamp(venv: Venv) -> Stamp:
    try:
        stamp = json.loads(venv.stamp.read_text())
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def write_stamp(venv: Venv, stamp: Stamp) -> None:
    unfinished = venv.stamp.with_suffix(".new")
    unfinished.write_text(json.dumps(stamp, indent=2, sort_keys=True) + "\n")
    unfinished.replace(venv.stamp)
