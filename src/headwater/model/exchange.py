"""Results of an export, an import and a validation of a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class ExportResult:
    path: str
    format: str
    counts: Mapping[str, int]
    """By kind: how many nodes, edges and other elements, or events."""
    cycles: tuple[tuple[str, ...], ...] = ()
    """Cycles in the lineage. The datasets in them were exported version by version."""


@dataclass(frozen=True)
class ImportResult:
    path: str
    format: str
    counts: Mapping[str, int]
    events: int
    """The number of events that the store received."""
    duplicates: int
    """The number of them that it had already."""


@dataclass(frozen=True)
class RuleViolation:
    code: str
    rule: str
    element: str
    reason: str


@dataclass(frozen=True)
class ValidationResult:
    path: str
    format: str
    counts: Mapping[str, int]
    problems: tuple[RuleViolation, ...]
    truncated: bool
    """There are more problems than are listed."""

    @property
    def sound(self) -> bool:
        return not self.problems
