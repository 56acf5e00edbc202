"""Records, and lineage in files."""

from __future__ import annotations

from collections.abc import Sequence

from headwater.errors.base import HeadwaterError, shorten

_MAX_PATH_STEPS = 20


class RecordsError(HeadwaterError):
    """The record ledger or its archive failed."""


class ArchiveMoved(RecordsError):
    def __init__(self, compaction: str) -> None:
        self.compaction = compaction
        super().__init__(f"Compaction {compaction} cannot be committed: another compaction committed first.")


class ArchiveUnusable(RecordsError):
    pass


class ExchangeError(HeadwaterError):
    """A lineage file is invalid or cannot be read."""


class FileRefused(ExchangeError):
    """``place`` is the line, element or byte, as precisely as it is known."""

    def __init__(self, file: str, place: str | None, reason: str) -> None:
        self.file = file
        self.place = place
        self.reason = reason
        where = "" if place is None else f", {place}"
        super().__init__(f"{shorten(file)}{where}: {shorten(reason)}.")


class FormatTooNew(ExchangeError):
    def __init__(self, file: str, version: str, known: str) -> None:
        self.version = version
        super().__init__(
            f"{shorten(file)} has format version {shorten(version)}; this Headwater reads {known} and later minor "
            "versions. Upgrade Headwater."
        )


class GraphInvalid(ExchangeError):
    """``rule`` is the name of the violated rule, ``element`` the element that violates it, like `edge c3d4e5f6-…`."""

    rule = "structure"

    def __init__(self, element: str, reason: str) -> None:
        self.element = element
        self.reason = reason
        super().__init__(f"{shorten(element)} breaks the rule '{self.rule}': {reason}.")


class IdNotUnique(GraphInvalid):
    rule = "uniqueness"


class ReferenceDangling(GraphInvalid):
    rule = "referential integrity"


class TimestampInvalid(GraphInvalid):
    rule = "timestamps"


class FieldMissing(GraphInvalid):
    rule = "required fields"


class GraphCyclic(GraphInvalid):
    """``path`` starts and ends with the same node."""

    rule = "acyclic"

    def __init__(self, element: str, path: Sequence[str]) -> None:
        self.path = tuple(path)
        super().__init__(element, f"it leads back to itself: {_path(path)}")


def _path(path: Sequence[str]) -> str:
    if len(path) <= _MAX_PATH_STEPS:
        return " → ".join(map(shorten, path))
    half = _MAX_PATH_STEPS // 2
    shown = [*map(shorten, path[:half]), f"… {len(path) - 2 * half} more …", *map(shorten, path[-half:])]
    return " → ".join(shown)


class NamespaceInvalid(GraphInvalid):
    rule = "namespace format"


class StructureInvalid(GraphInvalid):
    pass
