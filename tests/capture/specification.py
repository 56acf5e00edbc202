"""Whether an event is what OpenLineage says an event is."""

from __future__ import annotations

import json

from headwater.formats.openlineage.event import read_event
from tests.capture.telling import Json


def problems(event: Json) -> list[str]:
    """What our own reader finds wrong; what the published schemas say is asked in test_specification.py."""
    return [f"{problem.path}: {problem.reason}" for problem in read_event(json.dumps(event).encode()).problems]
