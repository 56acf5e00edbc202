"""Options and findings of the checks of `headwater doctor`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

LOW_SPACE = 2**30
"""Free bytes at a store below which the check warns."""


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
    """What to do, if the status is not ok."""


@dataclass(frozen=True, slots=True)
class DoctorOptions:
    store: str
    spool: Path
    spark: bool = False
    """Whether to run a job on Spark."""
    patience: float = 180.0
    """Maximum seconds for that job."""
    room: int = LOW_SPACE


class Check(Protocol):
    def __call__(self, options: DoctorOptions, /) -> Iterator[Finding]: ...


def ok(check: str, found: str) -> Finding:
    return Finding(check, CheckStatus.OK, found)


def warning(check: str, found: str, remedy: str) -> Finding:
    return Finding(check, CheckStatus.WARNING, found, remedy)


def failed(check: str, found: str, remedy: str) -> Finding:
    return Finding(check, CheckStatus.FAILED, found, remedy)
