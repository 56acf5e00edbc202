"""What a write's job is called when nobody has named it: after the application and what it writes.

The same in every run: a partition's folder and the time are no part of it, nor where on a machine a folder lies. A
write that replaces all there was is always the output's one job; an application that adds to an output from several
sources has a job for each, in the order in which they first wrote, since what one adds does not undo what another has
added.
"""

from __future__ import annotations

from collections.abc import Iterable

from headwater.capture.naming.dataset_ref import Place

_REPLACING = frozenset({"overwrite", "create", "replace", "view"})
Key = tuple[str, str]


def job_name(application: str, target: Place) -> str:
    return f"{application}.{target.short_name}"


class JobNames:
    """Of one application."""

    def __init__(self, application: str) -> None:
        self._application = application
        self._adding: dict[str, list[frozenset[Key]]] = {}

    def of(self, target: Place, kind: str, inputs: Iterable[Place]) -> str:
        name = job_name(self._application, target)
        # By the name, not the place: that of a table which is being made may not be known yet.
        known = self._adding.setdefault(name, [])
        if kind in _REPLACING:
            if not known:
                known.append(frozenset())  # the plain name is taken: what is added later is another job
            return name
        sources = frozenset(place.key for place in inputs)
        if sources not in known:
            known.append(sources)
        turn = known.index(sources)
        return name if turn == 0 else f"{name}#{turn + 1}"
