"""What the commands run on: names in the demo's store, and small stores and events."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import headwater as hw

REPORT = "shop.daily_revenue"
FAILED_RUN = "01a1cd84-e0c0-7783-9526-951d4e4e3b8b"
RUN_A, RUN_B = "01a1cda9-7fc0-77c6-880f-ee4e7971a120", "01a1d2b4-6480-7d27-ae6b-c938176b64c9"


def event(number: int = 0, inputs: Sequence[str] = ("a",), outputs: Sequence[str] = ("b",), **more: Any) -> Any:
    """A run that completed; ``number`` distinguishes it from others."""
    return {
        "eventType": "COMPLETE",
        "eventTime": f"2026-11-01T00:{number // 60:02d}:{number % 60:02d}Z",
        "run": {"runId": f"00000000-0000-4000-8000-{number:012d}"},
        "job": {"namespace": "jobs", "name": f"job{number}"},
        "inputs": [{"namespace": "lake", "name": name} for name in inputs],
        "outputs": [{"namespace": "lake", "name": name} for name in outputs],
        "producer": "https://headwater.example/tests",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        **more,
    }


FIVE = [event(n) for n in range(5)]


def lines(events: Sequence[Any]) -> str:
    return "".join(json.dumps(one) + "\n" for one in events)


def store_with(path: Path, events: Sequence[Any]) -> str:
    url = f"sqlite:///{path / 'store.db'}"
    with hw.connect(url) as lineage:
        lineage.ingest_many(events)
    return url
