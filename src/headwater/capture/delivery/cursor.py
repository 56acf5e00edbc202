"""The position of one sink in one log.

A cursor is a file of one short line, overwritten in place: it needs no new space, so it can still be moved when the
disk is full, and a write that small is done completely or not at all, whenever its process is killed. It is not synced
to disk: the kernel keeps it when the process dies. After a power cut it may be out of date.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import NamedTuple, Self
from zlib import crc32

from headwater.capture.delivery.files import open_file

SUFFIX = ".cursor"
_NO_MARK = -1


class Position(NamedTuple):
    segment: int
    offset: int


BEGINNING = Position(0, 0)


class Cursor:
    def __init__(self, sink: str, file: int | None, position: Position = BEGINNING, mark: int | None = None) -> None:
        self.sink = sink
        self.position = position
        self.within = 0
        """The number of events before it in its segment."""
        self.waiting = 0
        """The number of events after it."""
        self.dropped = 0
        self.mark = mark
        """The sink's position before it was offered the next events; None while nothing was offered."""
        self._file = file

    @classmethod
    def create(cls, folder: Path, sink: str) -> Self:
        path = folder / (hashlib.sha256(sink.encode(errors="surrogatepass")).hexdigest()[:16] + SUFFIX)
        cursor = cls(sink, open_file(path, os.O_RDWR | os.O_CREAT | os.O_EXCL))
        cursor.save()
        assert cursor._file is not None
        os.write(cursor._file, sink.encode(errors="surrogatepass") + b"\n")
        return cursor

    @classmethod
    def load(cls, path: Path) -> Self:
        """The file's second line is the sink's name."""
        file = open_file(path, os.O_RDWR)
        line, _, rest = os.read(file, 64 * 1024).partition(b"\n")
        sink = rest.removesuffix(b"\n").decode(errors="surrogatepass")
        content, _, checksum = line.rpartition(b" ")
        if checksum != b"%08x" % crc32(content):  # a power cut: better an event twice than never
            return cls(sink, file)
        segment, offset, mark = map(int, content.split())
        return cls(sink, file, Position(segment, offset), None if mark == _NO_MARK else mark)

    def save(self) -> None:
        if self._file is not None:
            mark = _NO_MARK if self.mark is None else self.mark
            content = b"%020d %020d %+020d" % (*self.position, mark)
            os.lseek(self._file, 0, os.SEEK_SET)
            os.write(self._file, b"%b %08x\n" % (content, crc32(content)))

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
