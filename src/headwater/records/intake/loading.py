"""From the queue to the hot rows: a batch is taken, loaded and finished, and one bad message costs only itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import uuid4

from headwater.model.records import Record
from headwater.records.intake.refused_lines import is_refused_line, records_of_line
from headwater.records.intake.requests import read_record
from headwater.store.engine.database import Database, Transaction
from headwater.store.records import hot, queue
from headwater.store.records.archive import next_load
from headwater.store.records.queue import QueueMessage

_SECOND = 1_000_000


@dataclass(frozen=True, slots=True)
class DeliveryOptions:
    """How messages are handled; times in microseconds."""

    visibility: int = 30 * _SECOND
    max_tries: int = 5
    ttl: int = 24 * 3600 * _SECOND

    def retry_at(self, now: int, tries: int) -> int:
        """When one that failed is tried again: ever later, but no later than one that nobody gave back."""
        return now + min(self.visibility, _SECOND << min(tries - 1, 20))


@dataclass(frozen=True, slots=True)
class LoadResult:
    """``taken`` messages left the queue or will come back to it: ``loaded`` of them are hot, the others failed."""

    taken: int = 0
    loaded: int = 0
    failed: int = 0
    dead: int = 0


class QueueLoader:
    def __init__(self, database: Database, terms: DeliveryOptions, now: Callable[[], int]) -> None:
        self._database = database
        self._terms = terms
        self._now = now

    def load(self, most: int, *, before: int | None = None) -> LoadResult:
        """Take up to ``most`` messages and load them. Exactly once: they leave the queue as they become hot."""
        token = uuid4().hex
        messages, hopeless = take_messages(self._database, self._terms, queue.LOAD, token, self._now(), most, before)
        if not messages:
            return LoadResult(taken=hopeless, failed=hopeless, dead=hopeless)
        records, failures = _read(messages)
        with self._database.write() as conn:
            held = queue.held_ids(conn, [message.id for message in messages], token)
            ready = [(message, record) for message, record in records if message.id in held]
            now = self._now()
            refused = self._put(conn, [record for _, record in ready], now)
            # A line may hold several records, and is a failure once.
            refusals = [(ready[position][0], reason) for position, reason in refused.items()]
            failures += {message.id: (message, reason) for message, reason in refusals}.values()
            failed = [(message, reason) for message, reason in failures if message.id in held]
            done = {message.id for message, _ in ready} - {message.id for message, _ in failed}
            queue.finish(conn, done)
            dead = fail_messages(conn, self._terms, failed, now)
        return LoadResult(len(messages), len(done), len(failed), dead)

    def _put(self, conn: Transaction, records: Sequence[Record], now: int) -> dict[int, str]:
        return hot.load(conn, records, next_load(conn), now + self._terms.ttl) if records else {}


def take_messages(
    database: Database, terms: DeliveryOptions, kind: str, token: str, now: int, most: int, before: int | None = None
) -> tuple[list[QueueMessage], int]:
    """Messages, and how many that were taken far too often and never finished became dead letters on the way."""
    with database.write(alone=False) as conn:
        until = now + terms.visibility
        messages = queue.take(
            conn, kind, token=token, now=now, until=until, most=most, suspect=terms.max_tries, before=before
        )
        # Beyond the ordinary number it was taken alone each time, so nothing else can have ended its workers.
        hopeless = [message for message in messages if message.tries > 2 * terms.max_tries]
        for message in hopeless:
            queue.move_to_dead_letters(
                conn, message, now, f"taken {message.tries - 1} times, and no worker came to an end with it"
            )
    return [message for message in messages if message not in hopeless], len(hopeless)


def fail_messages(
    conn: Transaction, terms: DeliveryOptions, failed: Sequence[tuple[QueueMessage, str]], now: int
) -> int:
    """Have them tried again later, or no more; how many are given up."""
    dead = 0
    for message, reason in failed:
        if message.tries >= terms.max_tries:
            queue.move_to_dead_letters(conn, message, now, reason)
            dead += 1
        else:
            queue.release(conn, message.id, terms.retry_at(now, message.tries))
    return dead


def _read(messages: Sequence[QueueMessage]) -> tuple[list[tuple[QueueMessage, Record]], list[tuple[QueueMessage, str]]]:
    records: list[tuple[QueueMessage, Record]] = []
    failures: list[tuple[QueueMessage, str]] = []
    for message in messages:
        try:
            records += [(message, record) for record in _records_of(message)]
        except ValueError as error:
            what = "line" if is_refused_line(message.body) else "message is no record"
            failures.append((message, f"the {what}: {error}"))
    return records, failures


def _records_of(message: QueueMessage) -> list[Record]:
    """One, unless it is a line that a stream has refused and that is tried again: then it is read as one."""
    if is_refused_line(message.body):
        return records_of_line(message.body, message.enqueued_at)
    return [read_record(message.body)]
