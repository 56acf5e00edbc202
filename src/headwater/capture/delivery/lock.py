"""Locks that the operating system releases when their process dies, however it dies.

A process id would not do: it means nothing across containers, and is reused.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from headwater.capture.delivery.files import open_file

if sys.platform == "win32":
    import msvcrt

    _FAR = 2**31 - 2  # what is locked cannot be read by others there, so it is a byte that no file has

    def _lock(file: int, *, wait: bool) -> None:
        os.lseek(file, _FAR, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)

    def _unlock(file: int) -> None:
        os.lseek(file, _FAR, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(file: int, *, wait: bool) -> None:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _unlock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)


class Lock:
    """Shows that a process is alive: held from :meth:`take` until it is released or the process is dead."""

    def __init__(self, file: int) -> None:
        self._file: int | None = file

    @classmethod
    def take(cls, path: Path, *, create: bool = False) -> Self | None:
        """None if another process holds it, permission is missing, or the file does not exist (any more)."""
        try:
            file = open_file(path, os.O_RDWR | (os.O_CREAT | os.O_EXCL if create else 0))
        except (FileNotFoundError, FileExistsError, PermissionError):
            return None
        try:
            _lock(file, wait=False)
            # Its last owner may have removed it between our opening it and our locking it.
            if os.fstat(file).st_ino == os.stat(path).st_ino:
                return cls(file)
        except (
            BlockingIOError,
            FileNotFoundError,
            PermissionError,
        ):  # PermissionError is what Windows raises for BlockingIOError
            pass
        except BaseException:  # a file system without locks, for one
            os.close(file)
            raise
        os.close(file)
        return None

    def release(self) -> None:
        if self._file is not None:
            _unlock(self._file)
            self.forget()

    def forget(self) -> None:
        """In a forked child: close its copy and leave the lock to the parent."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


@contextmanager
def waiting_lock(file: int) -> Iterator[None]:
    """Hold the lock of an open file; if the file system has no locks, go on without."""
    try:
        _lock(file, wait=True)
    except OSError:
        yield
        return
    try:
        yield
    finally:
        _unlock(file)
