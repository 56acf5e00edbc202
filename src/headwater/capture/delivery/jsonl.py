"""Events appended to a JSON Lines file that other processes may write as well."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from headwater.capture.delivery.files import append_whole, open_file
from headwater.capture.delivery.lock import waiting_lock
from headwater.capture.delivery.sink import SinkDown

_CHUNK = 64 * 1024


class EventFileSink:
    batch = 500

    def __init__(self, path: Path) -> None:
        self._path = path
        self.name = path.as_uri()

    def deliver(self, events: Sequence[bytes]) -> None:
        lines = b"".join(event + b"\n" for event in events)
        with self._open() as file:
            _repair_last_line(file)
            append_whole(file, lines)

    def mark(self) -> int:
        with self._open() as file:
            return _repair_last_line(file)  # first, or else what comes next would begin before the mark

    def count_delivered(self, events: Sequence[bytes], mark: int) -> int:
        """Compares with what was appended since ``mark``. Lines of other processes may be in between."""
        try:
            with self._path.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                file.seek(mark if mark <= size else 0)  # shorter than it was: the file was started anew
                count = 0
                for line in file:
                    if count < len(events) and line.removesuffix(b"\n") == events[count]:
                        count += 1
                return count
        except FileNotFoundError:
            return 0
        except OSError as error:
            raise SinkDown(f"{self._path}: {error.strerror}") from None

    @contextmanager
    def _open(self) -> Iterator[int]:
        """Opened each time: the file may have been moved away, and a new one is to be started."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            file = open_file(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
            try:
                if not stat.S_ISREG(os.fstat(file).st_mode):
                    raise SinkDown(f"{self._path} is not an ordinary file")
                with waiting_lock(file):
                    yield file
            finally:
                os.close(file)
        except OSError as error:
            raise SinkDown(f"{self._path}: {error.strerror}") from None


def _repair_last_line(file: int) -> int:
    """The size of the file, after its last line has been completed or removed.

    This process holds the lock, so no other one is in the middle of a line: an event without its end was left by a
    process that was killed while it wrote, and still has that event in its spool. Any other last line stays.
    """
    size = os.fstat(file).st_size
    start, tail = size, b""
    while start > 0 and b"\n" not in tail:
        start = max(0, start - _CHUNK)
        tail = _read(file, start, size)
    tail = tail.rpartition(b"\n")[2]
    if not tail:
        return size
    if tail.startswith(b"{") and not _is_json(tail):
        os.ftruncate(file, size - len(tail))
        return size - len(tail)
    os.write(file, b"\n")
    return size + 1


def _read(file: int, start: int, end: int) -> bytes:
    os.lseek(file, start, os.SEEK_SET)
    return os.read(file, end - start)


def _is_json(text: bytes) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
