"""The parts of a log: files, and parts in memory where no file could be written."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from headwater.capture.delivery.files import append_whole, open_file
from headwater.capture.delivery.frames import Frame, read_frame

SUFFIX = ".log"


@dataclass(frozen=True, slots=True)
class Chunk:
    events: list[bytes]
    end: int
    """The offset to continue reading from."""


class FileSegment:
    """Lines in a file. One process appends; any of its threads reads the complete lines."""

    def __init__(self, path: Path, file: int | None = None, length: int = 0, events: int = 0) -> None:
        self.number = int(path.name.removesuffix(SUFFIX))
        self.path = path
        self.length = length
        self.events = events
        self._file = file

    @classmethod
    def create(cls, folder: Path, number: int) -> Self:
        path = folder / f"{number:012d}{SUFFIX}"
        return cls(path, open_file(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL))

    def append(self, lines: bytes, events: int) -> None:
        """Everything or, with an OSError, nothing.

        Written, not synced: what the kernel has taken survives this process. Only a power cut could undo it; to guard
        against that, each event would wait milliseconds for the disk.
        """
        assert self._file is not None
        if os.fstat(self._file).st_nlink == 0:
            raise FileNotFoundError(None, "the file was removed", str(self.path))
        append_whole(self._file, lines)
        self.length = os.fstat(self._file).st_size
        self.events += events

    def frames(self) -> Iterator[tuple[Frame | None, int]]:
        """Every complete line, or None for a damaged one, and its end offset. An incomplete last line is left out."""
        end = 0
        with self.path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    return
                end += len(line)
                yield read_frame(line), end

    def read(self, offset: int, most_events: int, most_bytes: int) -> Chunk:
        events: list[bytes] = []
        size = 0
        with self.path.open("rb") as file:
            file.seek(offset)
            while offset < self.length and len(events) < most_events and size < most_bytes:
                line = file.readline()
                if not line:
                    break
                offset += len(line)
                frame = read_frame(line)
                if frame is not None and frame.kind.is_event:
                    events.append(frame.body)
                    size += len(frame.body)
        return Chunk(events, offset)

    def seal(self) -> None:
        """Nothing more will be appended."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def remove(self) -> None:
        self.seal()
        self.path.unlink(missing_ok=True)


class MemorySegment:
    """Events that did not fit on disk. An offset counts events; the oldest may have been dropped."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.first = 0
        self.size = 0
        self._bodies: deque[bytes] = deque()

    @property
    def length(self) -> int:
        return self.first + len(self._bodies)

    @property
    def events(self) -> int:
        return self.length

    def append(self, body: bytes) -> None:
        self._bodies.append(body)
        self.size += len(body)

    def give_up_oldest(self) -> None:
        self.size -= len(self._bodies.popleft())
        self.first += 1

    def read(self, offset: int, most_events: int) -> Chunk:
        start = offset - self.first
        events = [self._bodies[i] for i in range(start, min(start + most_events, len(self._bodies)))]
        return Chunk(events, offset + len(events))


Segment = FileSegment | MemorySegment
