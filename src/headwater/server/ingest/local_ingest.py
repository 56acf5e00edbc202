"""Parses and stores events of several requests together; each request gets the result of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from threading import Lock
from typing import Protocol

from headwater.errors import EventRefused, HeadwaterError, NamespaceRefused
from headwater.formats.openlineage.event import Event, read_event
from headwater.formats.openlineage.many import read_events
from headwater.model.answers import Receipt
from headwater.model.audit import Actor
from headwater.store.access.visibility import Visibility
from headwater.store.fold.shared_commits import Submission
from headwater.store.store import Store

LARGE_BYTES = 100_000
"""Bodies above this size are read and stored one at a time: both take long, and each would slow down the other."""
_PORTION_EVENTS = 500
_PORTION_BYTES = 2**20


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
        """Store a body with a list of events: all that are valid. Several transactions may store them."""


class LocalIngest:
    """Stores events in this process."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._large = Lock()

    def events(self, bodies: Sequence[ReceivedBody]) -> list[IngestResult]:
        is_large = any(len(body.content) > LARGE_BYTES for body in bodies)
        with self._large if is_large else nullcontext():
            submissions = [self._submission(body) for body in bodies]
            self._store.store_all([item for item in submissions if isinstance(item, Submission)])
        return [_result_of(item) if isinstance(item, Submission) else item for item in submissions]

    def batch(self, body: ReceivedBody) -> BatchResult:
        with self._large if len(body.content) > LARGE_BYTES else nullcontext():
            return self._batch(body)

    def _batch(self, body: ReceivedBody) -> BatchResult:
        parsed = read_events(body.content)
        result = BatchResult(len(parsed))
        result.refused += [(index, str(item)) for index, item in enumerate(parsed) if isinstance(item, EventRefused)]
        events = [(index, item) for index, item in enumerate(parsed) if isinstance(item, Event)]
        store = self._store.visible_to(body.visibility)
        for portion in event_portions(events):
            try:
                result.receipts += store.take([event for _, event in portion], actor=body.actor)
            except NamespaceRefused:
                self._one_by_one(store, portion, body.actor, result)
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


def event_portions(events: Sequence[tuple[int, Event]]) -> Iterator[list[tuple[int, Event]]]:
    """Events that one transaction stores, while other writers wait."""
    portion: list[tuple[int, Event]] = []
    size = 0
    for index, event in events:
        if portion and (len(portion) == _PORTION_EVENTS or size + len(event.body) > _PORTION_BYTES):
            yield portion
            portion, size = [], 0
        portion.append((index, event))
        size += len(event.body)
    if portion:
        yield portion


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
