"""Appends events to the log of this process: on disk as long as there is room, else in memory."""

from __future__ import annotations

import time
from pathlib import Path

from headwater.capture.delivery.frames import Frame, FrameKind
from headwater.capture.delivery.notices import Notices
from headwater.capture.delivery.runs import OpenRunTracker
from headwater.capture.delivery.segments import FileSegment, MemorySegment
from headwater.capture.delivery.session import Session

_MAX_SEGMENT_BYTES = 4 * 2**20
_MIN_SEGMENT_BYTES = 16 * 1024
_RETRY_DISK = 0.2
_SIZE_CHECK_INTERVAL = 1.0
_TROUBLE = "spool"


class SpoolJournal:
    """The log of this process."""

    def __init__(self, session: Session, spool: Path, *, limit: int, memory: int, notices: Notices) -> None:
        self.session = session
        self._spool = spool
        self._limit = limit
        self._memory = memory
        self._notices = notices
        self._segment_size = min(_MAX_SEGMENT_BYTES, max(_MIN_SEGMENT_BYTES, limit // 16))
        self._open_runs = OpenRunTracker()
        self._disk_again_at = 0.0
        self._others = 0
        self._looked_at = float("-inf")
        self.write_error: OSError | None = None
        """Why the last event that could not be written could not."""

    def append(self, frame: Frame) -> None:
        with self.session.mutex:
            if self.session.finished:
                raise ValueError("its delivery is closed")
            on_disk = self._to_disk(frame)
            if not on_disk:
                self._to_memory(frame)
            self._open_runs.follow(frame)
            self.session.count_events(1)
        # Not before the mutex is free: a warning runs the job's code.
        if on_disk:
            self._notices.resolved(_TROUBLE, f"The spool {self._spool} can be written again.")
        elif self.write_error is not None:
            self._notices.warn_once(_TROUBLE, spool_unwritable_message(self._spool, self.write_error))

    @property
    def why_not(self) -> str:
        """Why events could not be written to disk."""
        if self.session.folder is None:
            return "there is no folder for it"
        return (self.write_error and self.write_error.strerror) or "its files were removed"

    def failures(self) -> list[Frame]:
        """The FAIL events of the runs that are open now."""
        with self.session.mutex:
            return self._open_runs.failures()

    def close(self) -> None:
        """Record that this process ended on purpose, for the process that takes over its undelivered events."""
        with self.session.mutex:
            if isinstance(self.session.last, FileSegment) and self._open_runs.notes():
                self._to_disk(Frame(FrameKind.CLOSED, None, b""))

    # -- disk -------------------------------------------------------------------------------------

    def _to_disk(self, frame: Frame) -> bool:
        if self.session.folder is None or time.monotonic() < self._disk_again_at:
            return False
        line = frame.line()
        try:
            self._segment_for(len(line)).append(line, 1 if frame.kind.is_event else 0)
        except OSError as error:
            self._disk_again_at = time.monotonic() + _RETRY_DISK
            self.write_error = error
            return False
        return True

    def _segment_for(self, size: int) -> FileSegment:
        last = self.session.last
        if isinstance(last, FileSegment) and last.length < self._segment_size and self._fits(size):
            return last
        notes = self._open_runs.notes()
        notes_size = sum(len(note.line()) for note in notes)
        freed = last.length if isinstance(last, FileSegment) and self.session.passed_by_all(last) else 0
        if not self._fits(size + notes_size - freed):
            raise OSError(None, f"it holds {self._limit:,} bytes, which is its limit")
        return self.session.add_file(notes)

    def _fits(self, size: int) -> bool:
        """Within the limit for all processes. The size of the others is read once a second: it is nearly right."""
        now = time.monotonic()
        if now >= self._looked_at + _SIZE_CHECK_INTERVAL:
            self._others, self._looked_at = self._size_of_others(), now
        return self.session.size + self._others + size <= self._limit

    def _size_of_others(self) -> int:
        total = 0
        for folder in self._spool.iterdir():
            if folder != self.session.folder and folder.is_dir():
                try:
                    total += sum(path.stat().st_size for path in folder.iterdir())
                except OSError:  # just removed, or not for us to see
                    continue
        return total

    # -- memory -----------------------------------------------------------------------------------

    def _to_memory(self, frame: Frame) -> None:
        """Bounded: beyond the limit the oldest events are dropped, which a working sink has taken long ago."""
        last = self.session.last
        segment = last if isinstance(last, MemorySegment) else self.session.add_memory()
        segment.append(frame.body)
        pieces = [piece for piece in self.session.segments if isinstance(piece, MemorySegment)]
        excess = sum(piece.size for piece in pieces) - self._memory
        for piece in pieces:
            while excess > 0 and piece.size > 0:
                before = piece.size
                piece.give_up_oldest()
                excess -= before - piece.size


def spool_unwritable_message(spool: Path, error: OSError) -> str:
    return (
        f"The spool {spool} cannot be written ({error.strerror}): events are held in memory, and dropped where a sink "
        "does not take them in time."
    )
