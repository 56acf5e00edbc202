"""Versions of datasets, identified by the dataset, the time of the write and the run."""

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
    """The versions that one run read and wrote."""

    inputs: list[VersionOf] = field(default_factory=list)
    outputs: list[VersionOf] = field(default_factory=list)
