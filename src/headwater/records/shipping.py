"""Executors have no headwater: what runs there is sent along with the task, by value."""

from __future__ import annotations

from importlib import import_module
from typing import Any

SENT = (
    "headwater.formats.openlineage.text",
    "headwater.model.records",
    "headwater.records.components",
    "headwater.records.executor",
    "headwater.records.graph",
    "headwater.records.intake",
    "headwater.records.lineages",
    "headwater.records.schemas",
    "headwater.records.walks",
    "headwater.store.record_scan",
)
"""They import nothing of ours but each other."""


def ship() -> None:
    """From here on, what these modules hold is pickled whole and not by its name."""
    from pyspark import cloudpickle

    by_value: Any = cloudpickle.register_pickle_by_value
    for name in SENT:
        by_value(import_module(name))
