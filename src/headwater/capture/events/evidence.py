"""What a run says for itself when it ends: how much is asked, and who finds it out.

As with row lineage (rowkeeping.py), the capture does not know how: whoever switches it on brings the keeper along.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from headwater.capture.events.writes import Written
from headwater.capture.listener.statistics import Amount
from headwater.errors import HeadwaterError
from headwater.model.expectations import Expectation

CHECKSUMS = ("files", "bytes", "rows")
NOTHING = Amount(0, 0, 0)


@dataclass(frozen=True)
class EvidenceAsked:
    """``checksums``: of the list of files, of their bytes, or of the rows in them. ``ledger``: what became of each row
    of the inputs. ``grain``: rows are counted where the plan alone does not tell whether they are multiplied."""

    checksums: str = "files"
    ledger: bool = False
    expectations: tuple[Expectation, ...] = ()
    grain: bool = False
    keys: Collection[frozenset[int]] = ()
    """The ids of columns that were declared to be the key of what is read; there may be more as a run goes on."""

    def __post_init__(self) -> None:
        if self.checksums not in CHECKSUMS:
            raise HeadwaterError(f"checksums={self.checksums!r} is not known. There are: {', '.join(CHECKSUMS)}.")

    @property
    def reads_data(self) -> bool:
        """Whether Spark has more to do than it had for the job."""
        return self.ledger or self.grain or self.checksums != "files"


@dataclass
class Declared:
    """What a run of a declared pipeline says of itself, beyond what its writes show."""

    options: Mapping[str, Any] = field(default_factory=dict)
    functions: Mapping[str, str] = field(default_factory=dict)
    """By node, the hash of its code."""
    design: Any = None
    ledger: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class WriteEnded:
    """A write that is over. ``settings`` are those of its session that differ from the application's; ``rows`` is what
    was kept for questions about rows, if anything was; ``failed``: nothing was written; ``literals``: whether those of
    its query may leave the process."""

    execution: Any
    written: Written
    started: datetime
    settings: Mapping[str, str]
    rows: Mapping[str, Any] | None = None
    failed: bool = False
    literals: str = "keep"


@dataclass(frozen=True)
class RunEnded:
    """A run that is over. ``parts`` are what the keeper said of its writes; the amounts are of all of them, and what is
    not known of one is not known of all."""

    parts: Sequence[Any]
    written: Amount = NOTHING
    read: Amount = NOTHING
    declared: Declared | None = None
    partition: str | None = None
    expectations: Sequence[Expectation] = ()
    literals: str = "keep"

    @classmethod
    def of_one(cls, part: Any | None) -> RunEnded:
        """A write that is a run by itself; of which nothing is promised."""
        return cls([] if part is None else [part])


class EvidenceKeeper(Protocol):
    def steps(self, plan: Any) -> str | None:
        """What is to be known of a plan that a frame is being cut off from; None if that cannot be found out."""
        ...

    def of_write(self, ended: WriteEnded, asked: EvidenceAsked) -> Any:
        """What there is to say of one write; in a form of the keeper's own."""
        ...

    def of_stream(self, ended: WriteEnded) -> Any:
        """The same of a streaming query, by one of its batches: what it has read and written has no state to be
        hashed, as it goes on."""
        ...

    def facets(self, ended: RunEnded) -> dict[str, dict[str, Any]]:
        """What its last event shall say."""
        ...

    def is_over(self) -> bool:
        """Whether Spark has been stopped."""
        ...
