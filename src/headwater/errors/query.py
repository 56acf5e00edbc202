"""Events that are refused, and queries that cannot be answered."""

from __future__ import annotations

from collections.abc import Sequence

from headwater.errors.base import HeadwaterError, listing, shorten


class EventRefused(HeadwaterError):
    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"Event refused at {shorten(path)}: {reason}")


class ProvenanceInvalid(HeadwaterError):
    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"Provenance refused: {reason}.")


class PlanUnreadable(HeadwaterError):
    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"The Spark plan cannot be read: {reason}")


class QueryError(HeadwaterError):
    """A query cannot be answered."""


class UnknownDataset(QueryError):
    def __init__(self, asked: str, closest: Sequence[str]) -> None:
        self.asked = asked
        self.closest = tuple(closest)
        hint = listing("Closest", closest, "The store holds no datasets yet.")
        super().__init__(f"Dataset '{shorten(asked)}' is not known. {hint}")


class AmbiguousDataset(QueryError):
    def __init__(self, asked: str, candidates: Sequence[str]) -> None:
        self.asked = asked
        self.candidates = tuple(candidates)
        super().__init__(
            f"'{shorten(asked)}' matches {len(candidates)} datasets. Add the namespace. "
            + listing("Candidates", candidates, "")
        )


class UnknownColumn(QueryError):
    def __init__(self, asked: str, dataset: str, columns: Sequence[str]) -> None:
        self.asked = asked
        self.columns = tuple(columns)
        hint = listing("Columns", columns, "No columns are recorded for it.")
        super().__init__(f"Column '{shorten(asked)}' is not in {shorten(dataset)}. {hint}")


class UnknownPartition(QueryError):
    def __init__(self, asked: str, dataset: str, partitions: Sequence[str]) -> None:
        self.asked = asked
        self.partitions = tuple(partitions)
        hint = listing("Latest partitions", partitions, "No partitions are recorded for it.")
        super().__init__(f"Partition '{shorten(asked)}' is not in {shorten(dataset)}. {hint}")


class UnknownRun(QueryError):
    def __init__(self, asked: str, closest: Sequence[str]) -> None:
        self.asked = asked
        self.closest = tuple(closest)
        hint = listing("Closest", closest, "The store holds no runs yet.")
        super().__init__(f"Run '{shorten(asked)}' is not known. {hint}")


class UnknownRoot(QueryError):
    def __init__(self, asked: str, closest: Sequence[str]) -> None:
        self.asked = asked
        self.closest = tuple(closest)
        hint = listing("Closest", closest, "The store holds no records yet.")
        super().__init__(f"Root '{shorten(asked)}' is not known. {hint}")


class NoEvidence(QueryError):
    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        super().__init__(f"The store has no evidence of run '{shorten(run_id)}'.")


class UnknownJob(QueryError):
    def __init__(self, asked: str, closest: Sequence[str]) -> None:
        self.asked = asked
        self.closest = tuple(closest)
        hint = listing("Closest", closest, "The store holds no jobs yet.")
        super().__init__(f"Job '{shorten(asked)}' is not known. {hint}")


class UnknownEvent(QueryError):
    def __init__(self, asked: str) -> None:
        self.asked = asked
        super().__init__(f"There is no event with the digest '{shorten(asked)}'.")


class ConditionRefused(QueryError):
    """``culprit`` is the part of the condition that is refused, if it is one part."""

    def __init__(self, reason: str, culprit: str | None = None) -> None:
        self.reason = reason
        self.culprit = culprit
        named = "" if culprit is None else f" ({shorten(culprit)})"
        super().__init__(f"The condition is refused{named}. {reason}")
