"""What waits in a spool, looked at without touching it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from headwater.capture.delivery import cursor as cursors
from headwater.capture.delivery import segments
from headwater.capture.delivery.cursor import Cursor
from headwater.capture.delivery.frames import Frame
from headwater.capture.delivery.lock import Lock
from headwater.capture.delivery.segments import FileSegment
from headwater.capture.delivery.session import LOCK


@dataclass(frozen=True, slots=True)
class Unsent:
    """The events that one process has not brought to one sink."""

    sink: str
    events: int
    since: str | None
    """The time of the first of them, as it says itself."""
    at_work: bool
    """Whether the process lives: then they are on their way."""


def unsent(spool: Path) -> Iterator[Unsent]:
    """Oldest first. An OSError where the spool cannot be read."""
    if not spool.exists():
        return
    for folder in sorted(path for path in spool.iterdir() if path.is_dir()):
        try:
            yield from list(_left(folder))
        except FileNotFoundError:  # delivered and removed while we looked
            continue


def _left(folder: Path) -> Iterator[Unsent]:
    frames = list(_events(folder))
    for path in sorted(folder.glob(f"*{cursors.SUFFIX}")):
        cursor = Cursor.load(path)
        cursor.close()
        waiting = [frame for place, frame in frames if place > cursor.position]
        if waiting:
            yield Unsent(cursor.sink, len(waiting), _time(waiting[0]), _lives(folder))


def _events(folder: Path) -> Iterator[tuple[tuple[int, int], Frame]]:
    for path in sorted(folder.glob(f"*{segments.SUFFIX}")):
        segment = FileSegment(path)
        for frame, end in segment.frames():
            if frame is not None and frame.kind.is_event:
                yield (segment.number, end), frame


def _time(frame: Frame) -> str | None:
    told = json.loads(frame.body).get("eventTime")
    return told if isinstance(told, str) else None


def _lives(folder: Path) -> bool:
    lock = Lock.take(folder / LOCK)
    if lock is None:
        return True
    lock.release()
    return False
