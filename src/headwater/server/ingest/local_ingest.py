"""Parses and stores events of several requests together; each request gets the result of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from headwater.errors import EventRefused, HeadwaterError, NamespaceRefused
from headwater.formats.openlineage.event import Event, read_event
from headwater.formats.openlineage.many import read_events
from headwater.model.answers import Receipt
from headwater.model.audit import Actor
from headwater.store.access.visibility import Visibility
from headwater.store.fold.shared_commits import Submission
from headwater.store.store import Store


@dataclass(frozen=True, slots=True)
class ReceivedBody:
    """The body of a request, its sender, and the namespaces that the sender may write."""

    content: bytes
    actor: Actor
    visibility: Visibility


@dataclass(slots=True)
class BatchResult:
    """The result of a list of events."""

    received: int
    receipts: list[Receipt] = field(default_factory=list)
    refused: list[tuple[int, str]] = field(default_factory=list)
    """Index and reason of each."""


IngestResult = Receipt | Exception


class Ingest(Protocol):
    """Stores events. When a call returns, the events with receipts are on disk."""

    def events(self, bodies: Sequence[ReceivedBody]) -> list[IngestResult]:
        """Store bodies of one event each. An invalid event does not affect the others."""

    def batch(self, body: ReceivedBody) -> BatchResult:
        """Store a body with a list of events: all that are valid, together."""


class LocalIngest:
    """Stores events in this process."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def events(self, bodies: Sequence[ReceivedBody]) -> list[IngestResult]:
        submissions = [self._submission(body) for body in bodies]
        self._store.store_all([item for item in submissions if isinstance(item, Submission)])
        return [_result_of(item) if isinstance(item, Submission) else item for item in submissions]

    def batch(self, body: ReceivedBody) -> BatchResult:
        parsed = read_events(body.content)
        result = BatchResult(len(parsed))
        result.refused += [(index, str(item)) for index, item in enumerate(parsed) if isinstance(item, EventRefused)]
        events = [(index, item) for index, item in enumerate(parsed) if isinstance(item, Event)]
        store = self._store.visible_to(body.visibility)
        try:
            result.receipts += store.take([event for _, event in events], actor=body.actor)
        except NamespaceRefused:
            self._one_by_one(store, events, body.actor, result)
        result.refused.sort()
        return result

    def _one_by_one(self, store: Store, events: Sequence[tuple[int, Event]], actor: Actor, result: BatchResult) -> None:
        for index, event in events:
            try:
                result.receipts += store.take([event], actor=actor)
            except NamespaceRefused as refusal:
                result.refused.append((index, str(refusal)))

    def _submission(self, body: ReceivedBody) -> Submission | Exception:
        try:
            return self._store.visible_to(body.visibility).submission([read_event(body.content)], actor=body.actor)
        except Exception as error:  # any error is reported to the sender of this event
            return error


def _result_of(submission: Submission) -> IngestResult:
    if submission.error is None:
        return submission.result()[0]
    if isinstance(submission.error, Exception):
        return submission.error
    raise submission.error


def is_refusal(result: IngestResult) -> bool:
    """Whether the event was refused."""
    return isinstance(result, EventRefused | NamespaceRefused)


def is_expected(error: Exception) -> bool:
    """Whether the error is one of Headwater's own, whose text is meant for the client."""
    return isinstance(error, HeadwaterError)
