"""What came of an export, an import or a check of a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Exported:
    path: str
    format: str
    counts: Mapping[str, int]
    """By kind: how many nodes, edges and other elements, or events."""
    cycles: tuple[tuple[str, ...], ...] = ()
    """Ways that lead back to where they begin. Their datasets were exported version by version."""


@dataclass(frozen=True)
class Imported:
    path: str
    format: str
    counts: Mapping[str, int]
    events: int
    """How many events the store was given."""
    duplicates: int
    """How many of them it had already."""


@dataclass(frozen=True)
class RuleBroken:
    code: str
    rule: str
    element: str
    reason: str


@dataclass(frozen=True)
class Validated:
    path: str
    format: str
    counts: Mapping[str, int]
    problems: tuple[RuleBroken, ...]
    truncated: bool
    """There are more than those listed."""

    @property
    def sound(self) -> bool:
        return not self.problems
