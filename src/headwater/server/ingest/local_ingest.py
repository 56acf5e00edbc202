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
from headwater.store.access.visibility import Visibility
from headwater.store.fold.shared_commits import Submission
from headwater.store.store import Store


@dataclass(frozen=True, slots=True)
class Sent:
    """The body of a request, and whose it is."""

    body: bytes
    actor: Actor
    visibility: Visibility


@dataclass(slots=True)
class Many:
    """What became of a list of events."""

    received: int
    receipts: list[Receipt] = field(default_factory=list)
    refused: list[tuple[int, str]] = field(default_factory=list)
    """By their index, with the reason."""


Outcome = Receipt | Exception


class Storing(Protocol):
    """When a call returns, what it has receipts for is on disk."""

    def events(self, sent: Sequence[Sent]) -> list[Outcome]:
        """One event each. What is wrong with one costs no other."""

    def many(self, sent: Sent) -> Many:
        """A list of events: each that can be taken, together."""


class Here:
    """In this process."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def events(self, sent: Sequence[Sent]) -> list[Outcome]:
        asked = [self._submission(one) for one in sent]
        self._store.store_all([one for one in asked if isinstance(one, Submission)])
        return [_outcome(one) if isinstance(one, Submission) else one for one in asked]

    def many(self, sent: Sent) -> Many:
        found = read_events(sent.body)
        told = Many(len(found))
        told.refused += [(index, str(event)) for index, event in enumerate(found) if isinstance(event, EventRefused)]
        events = [(index, event) for index, event in enumerate(found) if isinstance(event, Event)]
        store = self._store.visible_to(sent.visibility)
        try:
            told.receipts += store.take([event for _, event in events], actor=sent.actor)
        except NamespaceRefused:
            self._one_by_one(store, events, sent.actor, told)
        told.refused.sort()
        return told

    def _one_by_one(self, store: Store, events: Sequence[tuple[int, Event]], actor: Actor, told: Many) -> None:
        for index, event in events:
            try:
                told.receipts += store.take([event], actor=actor)
            except NamespaceRefused as refusal:
                told.refused.append((index, str(refusal)))

    def _submission(self, sent: Sent) -> Submission | Exception:
        try:
            return self._store.visible_to(sent.visibility).submission([read_event(sent.body)], actor=sent.actor)
        except Exception as error:  # whatever it is, it is told to whoever sent the event
            return error


def _outcome(submission: Submission) -> Outcome:
    if submission.error is None:
        return submission.result()[0]
    if isinstance(submission.error, Exception):
        return submission.error
    raise submission.error


def is_refusal(outcome: Outcome) -> bool:
    """Whether it is the event that was wrong."""
    return isinstance(outcome, EventRefused | NamespaceRefused)


def is_ours(error: Exception) -> bool:
    """Whether it is an error that was foreseen, and says what it is about."""
    return isinstance(error, HeadwaterError)
