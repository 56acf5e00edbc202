"""The name of a write's job if the user has not named it: after the application and the target.

It is the same in every run: neither a partition's folder nor the time is part of it, nor the location of a folder on a
machine. A write that replaces its target is always the target's one job. An application that appends to a target from
several sources has a job for each, in the order in which they first wrote, since what one appends does not undo what
another has appended.
"""

from __future__ import annotations

from collections.abc import Iterable

from headwater.capture.naming.dataset_ref import DatasetRef

_REPLACING = frozenset({"overwrite", "create", "replace", "view"})
Key = tuple[str, str]


def job_name(application: str, target: DatasetRef) -> str:
    return f"{application}.{target.short_name}"


class JobNames:
    """The job names of one application."""

    def __init__(self, application: str) -> None:
        self._application = application
        self._adding: dict[str, list[frozenset[Key]]] = {}

    def of(self, target: DatasetRef, kind: str, inputs: Iterable[DatasetRef]) -> str:
        name = job_name(self._application, target)
        # By the name, not the location: the location of a table that is being created may be unknown.
        source_sets = self._adding.setdefault(name, [])
        if kind in _REPLACING:
            if not source_sets:
                source_sets.append(frozenset())  # the plain name is taken: a later append is another job
            return name
        sources = frozenset(dataset.key for dataset in inputs)
        if sources not in source_sets:
            source_sets.append(sources)
        index = source_sets.index(sources)
        return name if index == 0 else f"{name}#{index + 1}"
