"""Every error Headwater raises, one tree.

    HeadwaterError
    ├── EventRefused            an event cannot be taken; names the JSON path and the reason
    ├── PlanUnreadable          a Spark plan's JSON is not what Spark writes; names what is wrong
    ├── QueryError              the question cannot be answered as asked
    │   ├── UnknownDataset      lists the closest names
    │   ├── AmbiguousDataset    lists the datasets the short name fits
    │   ├── UnknownColumn       lists the columns that exist
    │   ├── UnknownPartition    lists the partitions that exist
    │   └── UnknownRun          lists the closest run ids
    └── StoreError              the database behind the store
        ├── StoreUrlInvalid     the address itself is wrong
        ├── StoreMissing        nothing is there
        ├── StoreUnavailable    it is there but does not answer, or has gone
        ├── StoreReadOnly       it answers but takes no writes
        ├── StoreNotOurs        it is a database, but not a Headwater store
        ├── StoreOutdated       older than this code: `headwater db upgrade`
        ├── StoreTooNew         newer than this code: upgrade Headwater
        └── AuditBroken         the audit log does not add up; names the first entry that fails

The command line prints ``str(error)`` as its one line, so a message names the culprit and what exists.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = [
    "AmbiguousDataset",
    "AuditBroken",
    "EventRefused",
    "HeadwaterError",
    "PlanUnreadable",
    "QueryError",
    "StoreError",
    "StoreMissing",
    "StoreNotOurs",
    "StoreOutdated",
    "StoreReadOnly",
    "StoreTooNew",
    "StoreUnavailable",
    "StoreUrlInvalid",
    "UnknownColumn",
    "UnknownDataset",
    "UnknownPartition",
    "UnknownRun",
]

_SHOWN_NAME_LENGTH = 120


def shorten(text: str) -> str:
    """A name fit for a one-line message: control characters escaped, the middle of a long one elided."""
    printable = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    if len(printable) <= _SHOWN_NAME_LENGTH:
        return printable
    keep = _SHOWN_NAME_LENGTH // 2 - 1
    return f"{printable[:keep]}…{printable[-keep:]}"


def _listing(label: str, names: Sequence[str], empty: str) -> str:
    return f"{label}: {', '.join(shorten(n) for n in names)}." if names else empty


class HeadwaterError(Exception):
    """The base of every error raised here."""


class EventRefused(HeadwaterError):
    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"Event refused at {shorten(path)}: {reason}")


class PlanUnreadable(HeadwaterError):
    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"The Spark plan cannot be read: {reason}")


class QueryError(HeadwaterError):
    """A question that cannot be answered as asked."""


class UnknownDataset(QueryError):
    def __init__(self, asked: str, closest: Sequence[str]) -> None:
        self.asked = asked
        self.closest = tuple(closest)
        hint = _listing("Closest", closest, "The store holds no datasets yet.")
        super().__init__(f"Dataset '{shorten(asked)}' is not known. {hint}")


class AmbiguousDataset(QueryError):
    def __init__(self, asked: str, candidates: Sequence[str]) -> None:
        self.asked = asked
        self.candidates = tuple(candidates)
        super().__init__(
            f"'{shorten(asked)}' fits {len(candidates)} datasets; name one with its namespace. "
            + _listing("Candidates", candidates, "")
        )


class UnknownColumn(QueryError):
    def __init__(self, asked: str, dataset: str, columns: Sequence[str]) -> None:
        self.asked = asked
        self.columns = tuple(columns)
        hint = _listing("Columns", columns, "No columns are recorded for it.")
        super().__init__(f"Column '{shorten(asked)}' is not in {shorten(dataset)}. {hint}")


class UnknownPartition(QueryError):
    def __init__(self, asked: str, dataset: str, partitions: Sequence[str]) -> None:
        self.asked = asked
        self.partitions = tuple(partitions)
        hint = _listing("Latest partitions", partitions, "No partitions are recorded for it.")
        super().__init__(f"Partition '{shorten(asked)}' is not in {shorten(dataset)}. {hint}")


class UnknownRun(QueryError):
    def __init__(self, asked: str, closest: Sequence[str]) -> None:
        self.asked = asked
        self.closest = tuple(closest)
        hint = _listing("Closest", closest, "The store holds no runs yet.")
        super().__init__(f"Run '{shorten(asked)}' is not known. {hint}")


class StoreError(HeadwaterError):
    """Something about the database behind the store."""


class StoreUrlInvalid(StoreError):
    pass


class StoreMissing(StoreError):
    pass


class StoreUnavailable(StoreError):
    pass


class StoreReadOnly(StoreError):
    pass


class StoreNotOurs(StoreError):
    pass


class StoreOutdated(StoreError):
    pass


class StoreTooNew(StoreError):
    pass


class AuditBroken(StoreError):
    def __init__(self, seq: int, reason: str) -> None:
        self.seq = seq
        self.reason = reason
        super().__init__(f"The audit log does not hold at entry {seq}: {reason}")
