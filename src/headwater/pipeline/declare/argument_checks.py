"""Run-time checks of argument types, for callers without a type checker."""

from __future__ import annotations


def is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def is_whole(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def is_duration(value: object) -> bool:
    """In seconds."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")
