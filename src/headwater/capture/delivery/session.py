"""The log of one process in the spool: a folder of its own, with segments, a cursor for each sink, and a lock.

    spool/01794783600000000000-5f3a91c2/
        lock                    held while the process is alive
        000000000001.log        segments, oldest first; removed when every sink has passed them
        9f86d081884c7d65.cursor one for each sink

The process that holds the lock owns the folder: the one that created it or, after its death, the one that took it over.
The folder is removed with the last event that was waiting in it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import Self

from headwater.capture.delivery import cursor as cursors
from headwater.capture.delivery import segments
from headwater.capture.delivery.cursor import Cursor, Position
from headwater.capture.delivery.frames import Frame
from headwater.capture.delivery.lock import Lock
from headwater.capture.delivery.runs import OpenRunTracker
from headwater.capture.delivery.segments import FileSegment, MemorySegment, Segment

LOCK = "lock"
_MAX_BYTES = 4 * 2**20
_TRIES = 50


@dataclass(frozen=True, slots=True)
class Batch:
    events: list[bytes]
    end: Position


class Session:
    """Thread-safe, as long as each sink is read by one thread."""

    def __init__(
        self,
        folder: Path | None,
        lock: Lock | None,
        sinks: Iterable[Cursor],
        segments_on_disk: Sequence[FileSegment] = (),
    ) -> None:
        self.folder = folder
        self.mutex = RLock()
        self.segments: list[Segment] = list(segments_on_disk)
        self.cursors = {cursor.sink: cursor for cursor in sinks}
        self.finished = False
        self._lock = lock
        # Beyond every cursor, too: one may have been in a memory segment, which no process takes over.
        used_numbers = [segment.number for segment in segments_on_disk] + [
            cursor.position.segment for cursor in self.cursors.values()
        ]
        self._next_number = max(used_numbers, default=0) + 1

    @classmethod
    def begin(cls, spool: Path, sinks: Iterable[str]) -> Self:
        """A new one, or an OSError if the spool cannot be written."""
        for _ in range(_TRIES):
            # The names sort by age, so that the dead are taken over in the order in which they lived.
            folder = spool / f"{time.time_ns():020d}-{os.urandom(4).hex()}"
            folder.mkdir(mode=0o700, parents=True)
            try:
                lock = Lock.take(folder / LOCK, create=True)
            except OSError:
                _remove(folder, None)
                raise
            if lock is not None:  # else another process removed the folder, still empty, as a leftover
                return cls(folder, lock, _new_cursors(folder, lock, sinks))
        raise OSError(None, "no folder in it can be locked", str(spool))

    @classmethod
    def in_memory(cls, sinks: Iterable[str]) -> Self:
        """For a process without a spool."""
        return cls(None, None, [Cursor(sink, None) for sink in sinks])

    @classmethod
    def take_over(cls, folder: Path, lock: Lock) -> tuple[Self, OpenRunTracker, int]:
        """The log of a dead process, its open runs, and the number of damaged lines."""
        log_segments = [FileSegment(path) for path in sorted(folder.glob(f"*{segments.SUFFIX}"))]
        points = [Cursor.load(path) for path in sorted(folder.glob(f"*{cursors.SUFFIX}"))]
        open_runs, damaged = OpenRunTracker(), 0
        for segment in log_segments:
            for frame, end in segment.frames():
                segment.length = end
                if frame is None:
                    damaged += 1
                    continue
                open_runs.follow(frame)
                if frame.kind.is_event:
                    segment.events += 1
                    for point in points:
                        if (segment.number, end) > point.position:
                            point.waiting += 1
                        elif segment.number == point.position.segment:
                            point.within += 1
        return cls(folder, lock, points, log_segments), open_runs, damaged

    # -- writing ----------------------------------------------------------------------------------

    @property
    def last(self) -> Segment | None:
        return self.segments[-1] if self.segments else None

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(segment.length for segment in self.segments if isinstance(segment, FileSegment))

    def add_file(self, head: Sequence[Frame]) -> FileSegment:
        """A new segment that begins with ``head``. The one before it is sealed."""
        assert self.folder is not None
        segment = FileSegment.create(self.folder, self._next_number)
        try:
            segment.append(b"".join(map(Frame.line, head)), sum(frame.kind.is_event for frame in head))
        except OSError:
            segment.remove()
            raise
        if isinstance(self.last, FileSegment):
            self.last.seal()
        self._add(segment)
        return segment

    def add_memory(self) -> MemorySegment:
        segment = MemorySegment(self._next_number)
        self._add(segment)
        return segment

    def _add(self, segment: Segment) -> None:
        self._next_number += 1
        self.segments.append(segment)
        self._remove_passed_segments()

    def count_events(self, number: int) -> None:
        for cursor in self.cursors.values():
            cursor.waiting += number

    def append_late(self, events: Sequence[Frame]) -> None:
        """Append to the log of a dead process: after its last line, which may be incomplete."""
        if events:
            self.add_file(events)
            self.count_events(len(events))

    # -- reading ----------------------------------------------------------------------------------

    def read(self, sink: str, most_events: int) -> Batch:
        """The next events for the sink. May be empty and still have to be acknowledged."""
        with self.mutex:
            cursor = self.cursors[sink]
            segment = self._segment_at(cursor)
            offset = cursor.position.offset
            if segment is None:
                return Batch([], cursor.position)
            if isinstance(segment, MemorySegment):
                chunk = segment.read(offset, most_events)
                return Batch(chunk.events, Position(segment.number, chunk.end))
        try:
            chunk = segment.read(offset, most_events, _MAX_BYTES)
        except FileNotFoundError:  # another process has removed it
            with self.mutex:
                self._lose(cursor, segment.events - cursor.within)
                cursor.within = segment.events
            return Batch([], Position(segment.number, segment.length))
        return Batch(chunk.events, Position(segment.number, chunk.end))

    def _segment_at(self, cursor: Cursor) -> Segment | None:
        """The segment of the cursor, after moving it past segments that are finished or removed."""
        for segment in self.segments:
            if segment.number < cursor.position.segment:
                continue
            if segment.number > cursor.position.segment:
                cursor.position, cursor.within = Position(segment.number, 0), 0
            if isinstance(segment, MemorySegment) and cursor.position.offset < segment.first:
                self._lose(cursor, segment.first - cursor.position.offset)
                cursor.position = Position(segment.number, segment.first)
            if cursor.position.offset < segment.length or segment is self.last:
                return segment
        return None

    @staticmethod
    def _lose(cursor: Cursor, events: int) -> None:
        cursor.dropped += events
        cursor.waiting -= events

    def acknowledge(self, sink: str, batch: Batch) -> None:
        """The sink has these events, or will never take them. An OSError means that only the cursor on disk is out of
        date."""
        with self.mutex:
            cursor = self.cursors[sink]
            cursor.position = batch.end
            cursor.within += len(batch.events)
            cursor.waiting -= len(batch.events)
            cursor.mark = None
            cursor.save()
            self._remove_passed_segments()
            last = self.last
            if last is not None and cursor.position >= (last.number, last.length):
                self._lose(cursor, cursor.waiting)  # there is no more: whatever we still hoped for was damaged

    def mark(self, sink: str) -> int | None:
        return self.cursors[sink].mark

    def keep_mark(self, sink: str, mark: int) -> None:
        with self.mutex:
            self.cursors[sink].mark = mark
            self.cursors[sink].save()

    def waiting(self, sink: str) -> int:
        return self.cursors[sink].waiting

    def given_up(self, sink: str) -> int:
        """Events that were dropped from memory and that the cursor has not reached yet."""
        with self.mutex:
            segment, offset = self.cursors[sink].position
            return sum(
                max(0, piece.first - (offset if piece.number == segment else 0))
                for piece in self.segments
                if isinstance(piece, MemorySegment) and piece.number >= segment
            )

    # -- giving back ------------------------------------------------------------------------------

    def passed_by_all(self, segment: Segment) -> bool:
        end = Position(segment.number, segment.length)
        return all(cursor.position >= end for cursor in self.cursors.values())

    def _remove_passed_segments(self) -> None:
        """Remove what every sink has passed.

        The newest file stays: it has the runs that are open.
        """
        files = [segment for segment in self.segments if isinstance(segment, FileSegment)]
        remaining: list[Segment] = []
        for segment in self.segments:
            if not self.passed_by_all(segment) or segment is self.last or (files and segment is files[-1]):
                remaining.append(segment)
            elif isinstance(segment, FileSegment):
                segment.remove()
        self.segments = remaining
        slowest = min((cursor.position for cursor in self.cursors.values()), default=None)
        if isinstance(self.last, MemorySegment) and slowest is not None and slowest.segment == self.last.number:
            while self.last.first < slowest.offset:
                self.last.give_up_oldest()

    def finish(self, *, keep: bool = False) -> None:
        """Close the log: it is removed if nothing waits in it, else left to the next process."""
        with self.mutex:
            if self.finished:
                return
            self.finished = True
            for segment in self.segments:
                if isinstance(segment, FileSegment):
                    segment.seal()
                else:
                    for cursor in self.cursors.values():  # no process takes over memory
                        self._lose(cursor, self._undelivered(cursor, segment))
            self.segments = [segment for segment in self.segments if isinstance(segment, FileSegment)]
            for cursor in self.cursors.values():
                cursor.close()
            if self.folder is not None and self._lock is not None:
                if not keep and all(cursor.waiting == 0 for cursor in self.cursors.values()):
                    _remove(self.folder, self._lock)
                self._lock.release()

    @staticmethod
    def _undelivered(cursor: Cursor, segment: MemorySegment) -> int:
        if cursor.position.segment > segment.number:
            return 0
        return segment.length - (cursor.position.offset if cursor.position.segment == segment.number else 0)

    def forget(self) -> None:
        """In a forked child: close everything, since it belongs to the parent."""
        for segment in self.segments:
            if isinstance(segment, FileSegment):
                segment.seal()
        for cursor in self.cursors.values():
            cursor.close()
        if self._lock is not None:
            self._lock.forget()


def _new_cursors(folder: Path, lock: Lock, sinks: Iterable[str]) -> list[Cursor]:
    created: list[Cursor] = []
    try:
        for sink in sinks:
            created.append(Cursor.create(folder, sink))  # noqa: PERF401 - those that were made are to be closed
    except OSError:
        for cursor in created:
            cursor.close()
        _remove(folder, lock)
        lock.release()
        raise
    return created


def _remove(folder: Path, lock: Lock | None) -> None:
    with suppress(OSError):  # what stays behind is empty, and the next process removes it
        for path in folder.iterdir():
            if path.name != LOCK:
                path.unlink()
        if sys.platform == "win32" and lock is not None:  # an open file cannot be removed there
            lock.release()
        os.unlink(folder / LOCK)
        folder.rmdir()
