"""Evidence of a run, which its last event carries: the options, and the protocol of what provides it.

As with row capture (row_capture.py), the capture does not compute it: headwater/capturing.py brings the provider.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, TypeVar

from headwater.capture.events.writes import CapturedWrite
from headwater.capture.listener.statistics import Amount
from headwater.errors import HeadwaterError
from headwater.jvm import JavaObject
from headwater.model.expectations import Expectation

_Answer = TypeVar("_Answer")
_log = logging.getLogger("headwater")
CHECKSUMS = ("files", "bytes", "rows")
NOTHING = Amount(0, 0, 0)


@dataclass(frozen=True)
class EvidenceOptions:
    """``checksums``: of the list of files, of their bytes, or of the rows in them. ``ledger``: count what became of
    each row of the inputs. ``grain``: count rows where the plan alone does not show whether a join multiplies them."""

    checksums: str = "files"
    ledger: bool = False
    expectations: tuple[Expectation, ...] = ()
    grain: bool = False
    keys: Collection[frozenset[int]] = ()
    """Column ids that were declared as the key of what is read; a run may add more while it runs."""

    def __post_init__(self) -> None:
        if self.checksums not in CHECKSUMS:
            raise HeadwaterError(f"checksums={self.checksums!r} is not known. There are: {', '.join(CHECKSUMS)}.")

    @property
    def reads_data(self) -> bool:
        """Whether Spark has to read data again."""
        return self.ledger or self.grain or self.checksums != "files"


@dataclass
class DeclaredEvidence:
    """What a run of a declared pipeline adds to the evidence of its writes."""

    options: Mapping[str, object] = field(default_factory=dict)
    functions: Mapping[str, str] = field(default_factory=dict)
    """By node, the hash of its code."""
    design: object = None
    ledger: Mapping[str, object] | None = None


@dataclass(frozen=True)
class EndedWrite:
    """A write that has ended. ``settings``: those of its session that differ from the application's; ``rows``: the
    row capture, if any; ``failed``: nothing was written; ``literals``: whether literals of its query may leave the
    process."""

    execution: JavaObject
    written: CapturedWrite
    started: datetime
    settings: Mapping[str, str]
    rows: Mapping[str, object] | None = None
    failed: bool = False
    literals: str = "keep"


@dataclass(frozen=True)
class EndedRun:
    """A run that has ended. ``parts``: the evidence of its writes; the amounts are sums over all writes, and unknown if
    one is unknown."""

    parts: Sequence[Any]
    """In a form of the provider's own, whose members the provider alone reads."""
    written: Amount = NOTHING
    read: Amount = NOTHING
    declared: DeclaredEvidence | None = None
    partition: str | None = None
    expectations: Sequence[Expectation] = ()
    literals: str = "keep"

    @classmethod
    def of_one(cls, part: object) -> EndedRun:
        """A run of a single write, without expectations."""
        return cls([] if part is None else [part])


class EvidenceProvider(Protocol):
    def steps(self, plan: JavaObject) -> str | None:
        """What the operators of a plan do to columns, as JSON; None if that cannot be read. Asked before a DataFrame is
        cut off from its plan."""
        ...

    def of_write(self, ended: EndedWrite, options: EvidenceOptions) -> object:
        """The evidence of one write, in a form of the provider's own."""
        ...

    def of_stream(self, ended: EndedWrite) -> object:
        """The evidence of a streaming query, by one of its batches. It has no checksums: the query goes on."""
        ...

    def facets(self, ended: EndedRun) -> dict[str, dict[str, object]]:
        """The facets of the run's last event."""
        ...

    def is_over(self) -> bool:
        """Whether Spark has been stopped."""
        ...


class _StopsWithSpark(Protocol):
    def is_over(self) -> bool: ...


def report_unless_stopped(source: _StopsWithSpark, error: Exception, report: Callable[[Exception], None]) -> None:
    """Report an error, unless it follows from Spark having been stopped: then nothing more can be read."""
    if source.is_over():
        _log.debug("Spark was stopped before everything about a write was read: %s", error)
    else:
        report(error)


class OptionalEvidence:
    """Calls the provider, if there is one. An error is passed to ``report`` and the evidence left out: an event is sent
    with or without it."""

    def __init__(self, provider: EvidenceProvider | None, report: Callable[[Exception], None]) -> None:
        self._provider = provider
        self._report = report

    def of_write(self, ended: EndedWrite, options: EvidenceOptions | None) -> object:
        return self._call(lambda provider: provider.of_write(ended, options or EvidenceOptions()))

    def of_stream(self, ended: EndedWrite) -> object:
        return self._call(lambda provider: provider.of_stream(ended))

    def facets(self, ended: EndedRun) -> dict[str, dict[str, object]]:
        return dict(self._call(lambda provider: provider.facets(ended)) or {})

    def _call(self, method: Callable[[EvidenceProvider], _Answer]) -> _Answer | None:
        if self._provider is None:
            return None
        try:
            return method(self._provider)
        except Exception as error:
            report_unless_stopped(self._provider, error, self._report)
            return None
