"""A line of the spool: what kind of event it is, of which run, and the event as it will be sent.

The kind and the run stand in front so that finding the runs that never ended needs no event to be parsed. The checksum
tells a whole line from one that a killed process or a power cut left half written.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from typing import Any
from zlib import crc32

_ENDS = frozenset({"COMPLETE", "FAIL", "ABORT"})


class Kind(Enum):
    START = b"S"
    END = b"T"
    OTHER = b"E"
    STILL_OPEN = b"N"
    """Not an event: a run that began in a segment which is no longer kept. What it was is the body."""
    CLOSED = b"C"
    """Not an event: the process closed its log on purpose, so nothing is to be said about the runs it left."""

    @property
    def is_event(self) -> bool:
        return self in (Kind.START, Kind.END, Kind.OTHER)


@dataclass(frozen=True, slots=True)
class Frame:
    kind: Kind
    run_id: str | None
    body: bytes

    def line(self) -> bytes:
        content = b"\t".join((self.kind.value, json.dumps(self.run_id).encode(), self.body))
        return b"%08x\t%b\n" % (crc32(content), content)


def read_frame(line: bytes) -> Frame | None:
    """None where the line is damaged or not for us to understand."""
    checksum, _, content = line.removesuffix(b"\n").partition(b"\t")
    if checksum != b"%08x" % crc32(content):
        return None
    try:
        kind, run_id, body = content.split(b"\t", 2)
        return Frame(Kind(kind), json.loads(run_id), body)
    except ValueError:  # written by a later version of this code
        return None


def frame_of(event: dict[str, Any]) -> Frame:
    """Raises what `json` raises where the event is not JSON."""
    body = json.dumps(event, separators=(",", ":"), allow_nan=False).encode()
    run, event_type = event.get("run"), event.get("eventType")
    run_id = run.get("runId") if isinstance(run, dict) else None
    if not isinstance(run_id, str):
        return Frame(Kind.OTHER, None, body)
    if event_type == "START":
        return Frame(Kind.START, run_id, body)
    return Frame(Kind.END if event_type in _ENDS else Kind.OTHER, run_id, body)
