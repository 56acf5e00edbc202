"""Example events that ship with Headwater. `headwater demo` uses `orders.jsonl`."""

from __future__ import annotations

from importlib.resources import files


def orders_events() -> list[bytes]:
    """Return the events of a small shop's daily revenue pipeline, one OpenLineage event each, in order of time."""
    return (files(__name__) / "orders.jsonl").read_bytes().splitlines()
