"""Ships modules to executors, where headwater is not installed: cloudpickle sends their code with each task."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType

SHIPPED_MODULES = (
    "headwater.formats.openlineage.text",
    "headwater.model.record_schema",
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
"""They import nothing of headwater but each other."""


def register_shipped_modules() -> None:
    """Have cloudpickle send the functions and classes of these modules by value, not by name."""
    from pyspark import cloudpickle

    register: Callable[[ModuleType], None] = cloudpickle.register_pickle_by_value
    for name in SHIPPED_MODULES:
        register(import_module(name))
