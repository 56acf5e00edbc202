"""Asks the keeper of evidence, and goes without where it has no answer: an event is told in any case."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Protocol

from headwater.capture.events.evidence import EvidenceAsked, EvidenceKeeper, RunEnded, WriteEnded

_log = logging.getLogger("headwater")


class _Keeper(Protocol):
    def is_over(self) -> bool: ...


def unless_over(keeper: _Keeper, fault: Exception, report: Callable[[Exception], None]) -> None:
    """A program that has stopped Spark has said what it had to say."""
    if keeper.is_over():
        _log.debug("Spark was stopped before all was known of a write: %s", fault)
    else:
        report(fault)


class Witness:
    """``report`` is told of faults."""

    def __init__(self, keeper: EvidenceKeeper | None, report: Callable[[Exception], None]) -> None:
        self._keeper = keeper
        self._report = report

    def of_write(self, ended: WriteEnded, asked: EvidenceAsked | None) -> Any:
        return self._ask(lambda keeper: keeper.of_write(ended, asked or EvidenceAsked()))

    def of_stream(self, ended: WriteEnded) -> Any:
        return self._ask(lambda keeper: keeper.of_stream(ended))

    def facets(self, ended: RunEnded) -> dict[str, Any]:
        found = self._ask(lambda keeper: keeper.facets(ended))
        return {} if found is None else dict(found)

    def _ask(self, question: Callable[[EvidenceKeeper], Any]) -> Any:
        if self._keeper is None:
            return None
        try:
            return question(self._keeper)
        except Exception as fault:
            unless_over(self._keeper, fault, self._report)
            return None
