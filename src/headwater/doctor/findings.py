"""What is asked of an installation, and what one look at it finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

LOW_SPACE = 2**30
"""Bytes free at a store below which it is time to make room."""


class CheckStatus(StrEnum):
    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Finding:
    check: str
    sign: CheckStatus
    found: str
    remedy: str | None = None
    """What to do, where it is not ok."""


@dataclass(frozen=True, slots=True)
class DoctorOptions:
    store: str
    spool: Path
    spark: bool = False
    """Whether a job is to be tried on Spark."""
    patience: float = 180.0
    """Seconds that it may take."""
    room: int = LOW_SPACE


class Check(Protocol):
    def __call__(self, asked: DoctorOptions, /) -> Iterator[Finding]: ...


def ok(check: str, found: str) -> Finding:
    return Finding(check, CheckStatus.OK, found)


def warning(check: str, found: str, remedy: str) -> Finding:
    return Finding(check, CheckStatus.WARNING, found, remedy)


def failed(check: str, found: str, remedy: str) -> Finding:
    return Finding(check, CheckStatus.FAILED, found, remedy)
