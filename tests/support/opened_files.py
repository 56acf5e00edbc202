"""The files of some folders that any process opens, writes or removes, as Linux reports them (inotify).

Reading a file in C leaves no trace in Python, and code that reads a canary may not report it.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

_OPENED, _CHANGED = 0x20, 0x002 | 0x004 | 0x040 | 0x080 | 0x100 | 0x200
_HEAD = struct.Struct("iIII")


class OpenedFiles:
    """Watches ``folders`` recursively, from the beginning of the block."""

    def __init__(self, folders: Iterable[Path]) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        assert self._descriptor >= 0, os.strerror(ctypes.get_errno())
        self._watched: dict[int, Path] = {}
        for top in folders:
            for folder in (top, *(path for path in top.rglob("*") if path.is_dir() and not path.is_symlink())):
                number = libc.inotify_add_watch(self._descriptor, os.fsencode(folder), _OPENED | _CHANGED)
                assert number >= 0, os.strerror(ctypes.get_errno())
                self._watched[number] = folder
        self._read()

    @staticmethod
    def why_not() -> str | None:
        return None if sys.platform == "linux" else "inotify is Linux's"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)

    def since_last(self) -> set[str]:
        """The paths that were opened or changed since the last call."""
        return self._read()

    def _read(self) -> set[str]:
        paths: set[str] = set()
        while True:
            try:
                events = os.read(self._descriptor, 1 << 16)
            except BlockingIOError:
                return paths
            place = 0
            while place < len(events):
                watch, _mask, _cookie, size = _HEAD.unpack_from(events, place)
                name = events[place + _HEAD.size : place + _HEAD.size + size].rstrip(b"\0")
                folder = self._watched.get(watch, Path("more than could be counted"))
                paths.add(str(folder / os.fsdecode(name)))
                place += _HEAD.size + size
