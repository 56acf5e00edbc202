"""Validates a lineage file against its format, without a store."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from headwater.errors import EventRefused, FileRefused, GraphInvalid
from headwater.exchange.opening import DetectedFormat, LineageFile
from headwater.formats.openlineage.event import read_event
from headwater.formats.wia.elements import ElementKind
from headwater.formats.wia.graph_check import GraphCheck
from headwater.model.exchange import RuleViolation, ValidationResult

MAX_PROBLEMS = 100
EVENTS = "events"


def validate(path: str | Path) -> ValidationResult:
    """Validate a file and return up to a hundred violations.

    A file that cannot be read is refused: :class:`~headwater.errors.FileRefused`.
    """
    opened = LineageFile(Path(path))
    if opened.format is DetectedFormat.OPENLINEAGE:
        return ValidationResult(opened.name, opened.format, {EVENTS: sum(1 for _ in checked_events(opened))}, (), False)
    check = GraphCheck()
    broken = list(islice(_violations(opened, check), MAX_PROBLEMS + 1))
    return ValidationResult(
        opened.name,
        opened.format,
        element_counts(check),
        tuple(map(_problem_of, broken[:MAX_PROBLEMS])),
        len(broken) > MAX_PROBLEMS,
    )


def _violations(opened: LineageFile, check: GraphCheck) -> Iterator[GraphInvalid]:
    for kind, document in opened.elements():
        yield from check.check(kind, document)
    yield from check.finish()


def _problem_of(error: GraphInvalid) -> RuleViolation:
    return RuleViolation(type(error).__name__, error.rule, error.element, error.reason)


def element_counts(check: GraphCheck) -> dict[str, int]:
    return {str(kind): number for kind, number in check.counts.items() if kind is not ElementKind.GRAPH}


def checked_events(opened: LineageFile) -> Iterator[str]:
    """The events of a file. Raises :class:`FileRefused` at the first one that no store would accept."""
    for number, line in opened.events():
        try:
            read_event(line)
        except EventRefused as refusal:
            raise FileRefused(opened.name, f"line {number:,}", str(refusal)) from None
        yield line
