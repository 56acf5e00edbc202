"""Versions as others name them: by what they are of, when they were written, and by whom."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from headwater.model.names import Dataset


@dataclass(frozen=True, slots=True)
class VersionOf:
    dataset: Dataset
    written_at: datetime
    partition: str | None
    run_id: str | None


@dataclass(frozen=True, slots=True)
class RunVersions:
    """What one run read and wrote."""

    inputs: list[VersionOf] = field(default_factory=list)
    outputs: list[VersionOf] = field(default_factory=list)
