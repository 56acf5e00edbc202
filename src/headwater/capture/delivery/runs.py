"""The runs that have started and not ended, and the event that ends them when their process is dead."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime

from headwater.capture.delivery.frames import Frame, FrameKind, frame_of

_FACET = "https://openlineage.io/spec/facets/1-0-1/ErrorMessageRunFacet.json#/$defs/ErrorMessageRunFacet"
_MESSAGE = "The process ended before the run did."
_KEYS_TO_KEEP = ("producer", "schemaURL", "run", "job")
MAX_OPEN_RUNS = 10_000
"""Runs that never end must not fill the memory; beyond this number the oldest are forgotten."""


class OpenRunTracker:
    """Follows the frames of a log."""

    def __init__(self) -> None:
        self._starts: dict[str, Frame] = {}

    def follow(self, frame: Frame) -> None:
        if frame.kind is FrameKind.CLOSED:
            self._starts.clear()
        elif frame.run_id is None:
            return
        elif frame.kind in (FrameKind.START, FrameKind.STILL_OPEN):
            self._starts[frame.run_id] = frame  # as it is: sending a START must not cost another look into it
        elif frame.kind is FrameKind.END:
            self._starts.pop(frame.run_id, None)
        while len(self._starts) > MAX_OPEN_RUNS:
            del self._starts[next(iter(self._starts))]

    def notes(self) -> list[Frame]:
        """The frames that a new segment begins with, so that the segments before it can be removed."""
        self._starts = {run_id: _essence(start) for run_id, start in self._starts.items()}
        return list(self._starts.values())

    def failures(self) -> list[Frame]:
        """One FAIL for each, with the current time."""
        return [frame_of(_failure(json.loads(note.body))) for note in self.notes()]


def _essence(start: Frame) -> Frame:
    if start.kind is FrameKind.STILL_OPEN:
        return start
    event = json.loads(start.body)
    body = json.dumps({key: event[key] for key in _KEYS_TO_KEEP if key in event}, separators=(",", ":"))
    return Frame(FrameKind.STILL_OPEN, start.run_id, body.encode())


def _failure(start: Mapping[str, object]) -> dict[str, object]:
    error = {
        "_producer": start.get("producer"),
        "_schemaURL": _FACET,
        "message": _MESSAGE,
        "programmingLanguage": "PYTHON",
    }
    run = _member(start, "run")
    facets = {**_member(run, "facets"), "errorMessage": error}
    return {
        "eventType": "FAIL",
        "eventTime": datetime.now(UTC).isoformat(),
        **start,
        "run": {**run, "facets": facets},
    }


def _member(document: Mapping[str, object], name: str) -> Mapping[str, object]:
    value = document.get(name)
    return value if isinstance(value, Mapping) else {}
