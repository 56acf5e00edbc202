"""Events read and stored, for many senders at once; each hears what became of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from headwater.errors import EventRefused, HeadwaterError, NamespaceRefused
from headwater.formats.openlineage.event import Event, read_event
from headwater.formats.openlineage.many import read_events
from headwater.model.answers import Receipt
from headwater.model.audit import Actor
from headwater.store.access.visibility import Veil
from headwater.store.fold.shared_commits import Submission
from headwater.store.store import Store


@dataclass(frozen=True, slots=True)
class ReceivedBody:
    """The body of a request, and whose it is."""

    body: bytes
    actor: Actor
    veil: Veil | None


@dataclass(slots=True)
class BatchResult:
    """What became of a list of events."""

    received: int
    receipts: list[Receipt] = field(default_factory=list)
    refused: list[tuple[int, str]] = field(default_factory=list)
    """By their index, with the reason."""


IngestResult = Receipt | Exception


class Ingest(Protocol):
    """When a call returns, what it has receipts for is on disk."""

    def events(self, sent: Sequence[ReceivedBody]) -> list[IngestResult]:
        """One event each. What is wrong with one costs no other."""

    def many(self, sent: ReceivedBody) -> BatchResult:
        """A list of events: each that can be taken, together."""


class LocalIngest:
    """In this process."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def events(self, sent: Sequence[ReceivedBody]) -> list[IngestResult]:
        asked = [self._submission(one) for one in sent]
        self._store.store_all([one for one in asked if isinstance(one, Submission)])
        return [_result_of(one) if isinstance(one, Submission) else one for one in asked]

    def many(self, sent: ReceivedBody) -> BatchResult:
        found = read_events(sent.body)
        told = BatchResult(len(found))
        told.refused += [(index, str(event)) for index, event in enumerate(found) if isinstance(event, EventRefused)]
        events = [(index, event) for index, event in enumerate(found) if isinstance(event, Event)]
        store = self._store.through(sent.veil)
        try:
            told.receipts += store.take([event for _, event in events], actor=sent.actor)
        except NamespaceRefused:
            self._one_by_one(store, events, sent.actor, told)
        told.refused.sort()
        return told

    def _one_by_one(self, store: Store, events: Sequence[tuple[int, Event]], actor: Actor, told: BatchResult) -> None:
        for index, event in events:
            try:
                told.receipts += store.take([event], actor=actor)
            except NamespaceRefused as refusal:
                told.refused.append((index, str(refusal)))

    def _submission(self, sent: ReceivedBody) -> Submission | Exception:
        try:
            return self._store.through(sent.veil).submission([read_event(sent.body)], actor=sent.actor)
        except Exception as error:  # whatever it is, it is told to whoever sent the event
            return error


def _result_of(submission: Submission) -> IngestResult:
    if submission.error is None:
        return submission.result()[0]
    if isinstance(submission.error, Exception):
        return submission.error
    raise submission.error


def is_refusal(outcome: IngestResult) -> bool:
    """Whether it is the event that was wrong."""
    return isinstance(outcome, EventRefused | NamespaceRefused)


def is_expected(error: Exception) -> bool:
    """Whether it is an error that was foreseen, and says what it is about."""
    return isinstance(error, HeadwaterError)
