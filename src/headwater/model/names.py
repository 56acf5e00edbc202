"""What things are called: datasets, jobs, columns and partitions.

Names are data. They are opaque strings from end to end and may hold anything a Unicode string can, so nothing
here parses, folds or caches them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Dataset:
    """A dataset as OpenLineage names it."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True, order=True)
class Job:
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


Endpoint = Dataset | Job
"""What a lineage edge can start from or end in: nearly always a dataset; a job where a producer says so."""


@dataclass(frozen=True, slots=True, order=True)
class Column:
    dataset: Dataset
    name: str

    def __str__(self) -> str:
        return f"{self.dataset}#{self.name}"


@dataclass(frozen=True, slots=True, order=True)
class Partition:
    dataset: Dataset
    name: str

    def __str__(self) -> str:
        return f"{self.dataset}@{self.name}"
