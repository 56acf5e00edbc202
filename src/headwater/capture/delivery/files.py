"""Writes files by their descriptor, so that the kernel has what is written at once, and not this process's memory."""

from __future__ import annotations

import os
from pathlib import Path

_BINARY = getattr(os, "O_BINARY", 0)  # Windows would write another line break than it was given


def open_file(path: Path, flags: int, mode: int = 0o600) -> int:
    return os.open(path, flags | _BINARY, mode)


def append_whole(file: int, data: bytes) -> None:
    """Everything or, with an OSError, nothing."""
    size = os.fstat(file).st_size
    try:
        written = os.write(file, data)
        while written < len(data):  # a full disk takes a part first and fails at the next call
            written += os.write(file, data[written:])
    except OSError:
        os.ftruncate(file, size)
        raise
