"""The name of a write's job if the user has not named it: after the application and the target.

It is the same in every run: neither a partition's folder nor the time is part of it, nor the location of a folder on a
machine. A write that replaces its target is always the target's one job. Each statement that adds to a target, or
changes some of its rows, has a job of its own, in the order in which they first wrote: what one of them writes does not
undo what another has written. A statement in a loop is one statement.
"""

from __future__ import annotations

from collections.abc import Hashable

from headwater.capture.naming.dataset_ref import DatasetRef


def job_name(application: str, target: DatasetRef) -> str:
    return f"{application}.{target.short_name}"


class JobNames:
    """The job names of one application."""

    def __init__(self, application: str) -> None:
        self._application = application
        self._statements: dict[str, list[Hashable]] = {}

    def of(self, target: DatasetRef, statement: Hashable) -> str:
        """``statement`` is the same for writes of one statement; None: it replaces the target."""
        name = job_name(self._application, target)
        # By the name, not the location: the location of a table that is being created may be unknown.
        statements = self._statements.setdefault(name, [])
        if statement is None:
            if not statements:
                statements.append(None)  # the plain name is taken: a later append is another job
            return name
        if statement not in statements:
            statements.append(statement)
        index = statements.index(statement)
        return name if index == 0 else f"{name}#{index + 1}"
