"""A line of the spool: the kind of event, its run, and the event as it will be sent.

The kind and the run come first so that the runs that never ended are found without parsing events. The checksum tells a
complete line from one that a killed process or a power cut left half written.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from zlib import crc32

_ENDS = frozenset({"COMPLETE", "FAIL", "ABORT"})


class FrameKind(Enum):
    START = b"S"
    END = b"T"
    OTHER = b"E"
    STILL_OPEN = b"N"
    """Not an event: a run that started in a segment that has been removed. The body is its START, without facets."""
    CLOSED = b"C"
    """Not an event: the process closed its log on purpose, so nothing is sent about the runs that it left open."""

    @property
    def is_event(self) -> bool:
        return self in (FrameKind.START, FrameKind.END, FrameKind.OTHER)


@dataclass(frozen=True, slots=True)
class Frame:
    kind: FrameKind
    run_id: str | None
    body: bytes

    def line(self) -> bytes:
        content = b"\t".join((self.kind.value, json.dumps(self.run_id).encode(), self.body))
        return b"%08x\t%b\n" % (crc32(content), content)


def read_frame(line: bytes) -> Frame | None:
    """None if the line is damaged or from a later version."""
    checksum, _, content = line.removesuffix(b"\n").partition(b"\t")
    if checksum != b"%08x" % crc32(content):
        return None
    try:
        kind, run_id, body = content.split(b"\t", 2)
        return Frame(FrameKind(kind), json.loads(run_id), body)
    except ValueError:  # written by a later version of this code
        return None


def frame_of(event: Mapping[str, object]) -> Frame:
    """Raises what `json` raises if the event is not JSON."""
    body = json.dumps(event, separators=(",", ":"), allow_nan=False).encode()
    run, event_type = event.get("run"), event.get("eventType")
    run_id = run.get("runId") if isinstance(run, dict) else None
    if not isinstance(run_id, str):
        return Frame(FrameKind.OTHER, None, body)
    if event_type == "START":
        return Frame(FrameKind.START, run_id, body)
    return Frame(FrameKind.END if event_type in _ENDS else FrameKind.OTHER, run_id, body)
