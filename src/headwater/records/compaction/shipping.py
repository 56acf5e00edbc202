"""Executors have no headwater: what runs there is sent along with the task, by value."""

from __future__ import annotations

from importlib import import_module
from typing import Any

SHIPPED_MODULES = (
    "headwater.formats.openlineage.text",
    "headwater.model.records",
    "headwater.records.tracing.components",
    "headwater.records.executor",
    "headwater.records.tracing.graph",
    "headwater.records.intake.requests",
    "headwater.records.tracing.kernel",
    "headwater.records.archive.schemas",
    "headwater.records.tracing.walks",
    "headwater.store.records.scan",
)
"""They import nothing of ours but each other."""


def register_shipped_modules() -> None:
    """From here on, what these modules hold is pickled whole and not by its name."""
    from pyspark import cloudpickle

    by_value: Any = cloudpickle.register_pickle_by_value
    for name in SHIPPED_MODULES:
        by_value(import_module(name))
