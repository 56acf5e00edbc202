"""Names of datasets, jobs, columns and partitions.

A name is an opaque Unicode string: nothing parses it, changes its case or trims it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class _NamedIn:
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True, order=True)
class Dataset(_NamedIn):
    """A dataset as OpenLineage names it."""


@dataclass(frozen=True, slots=True, order=True)
class Job(_NamedIn):
    """A job as OpenLineage names it."""


Endpoint = Dataset | Job
"""An end of a lineage edge: nearly always a dataset, or a job if a producer states one."""


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
