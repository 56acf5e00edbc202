"""Lists what waits in a spool, without changing it."""

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
class UnsentEvents:
    """The events that one process has not delivered to one sink."""

    sink: str
    events: int
    since: str | None
    """The `eventTime` of the first of them."""
    at_work: bool
    """Whether the process is alive: then they are being delivered."""


def unsent_events(spool: Path) -> Iterator[UnsentEvents]:
    """Oldest first. An OSError if the spool cannot be read."""
    if not spool.exists():
        return
    for folder in sorted(path for path in spool.iterdir() if path.is_dir()):
        try:
            yield from list(_unsent_in(folder))
        except FileNotFoundError:  # delivered and removed while we looked
            continue


def _unsent_in(folder: Path) -> Iterator[UnsentEvents]:
    frames = list(_events(folder))
    for path in sorted(folder.glob(f"*{cursors.SUFFIX}")):
        cursor = Cursor.load(path)
        cursor.close()
        waiting = [frame for position, frame in frames if position > cursor.position]
        if waiting:
            yield UnsentEvents(cursor.sink, len(waiting), _event_time(waiting[0]), _is_alive(folder))


def _events(folder: Path) -> Iterator[tuple[tuple[int, int], Frame]]:
    for path in sorted(folder.glob(f"*{segments.SUFFIX}")):
        segment = FileSegment(path)
        for frame, end in segment.frames():
            if frame is not None and frame.kind.is_event:
                yield (segment.number, end), frame


def _event_time(frame: Frame) -> str | None:
    event_time = json.loads(frame.body).get("eventTime")
    return event_time if isinstance(event_time, str) else None


def _is_alive(folder: Path) -> bool:
    lock = Lock.take(folder / LOCK)
    if lock is None:
        return True
    lock.release()
    return False
