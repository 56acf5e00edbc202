"""Loads batches of messages from the queue into the hot table. A message that fails does not affect the others."""

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
    """Visibility timeout, number of tries, and time to live of hot records; times in microseconds."""

    visibility: int = 30 * _SECOND
    max_tries: int = 5
    ttl: int = 24 * 3600 * _SECOND

    def retry_at(self, now: int, tries: int) -> int:
        """When a failed message is retried: with exponential backoff, but no later than the visibility timeout."""
        return now + min(self.visibility, _SECOND << min(tries - 1, 20))


@dataclass(frozen=True, slots=True)
class LoadResult:
    """Of ``taken`` messages ``loaded`` became hot and ``failed`` did not, of which ``dead`` are dead letters."""

    taken: int = 0
    loaded: int = 0
    failed: int = 0
    dead: int = 0


class QueueLoader:
    def __init__(self, database: Database, options: DeliveryOptions, now: Callable[[], int]) -> None:
        self._database = database
        self._options = options
        self._now = now

    def load(self, limit: int, *, before: int | None = None) -> LoadResult:
        """Load up to ``limit`` messages, each exactly once: they leave the queue in the transaction that loads them."""
        token = uuid4().hex
        messages, abandoned = take_messages(
            self._database, self._options, queue.LOAD, token, self._now(), limit, before
        )
        if not messages:
            return LoadResult(taken=abandoned, failed=abandoned, dead=abandoned)
        records, failures = _read(messages)
        with self._database.write() as conn:
            still_held = queue.held_ids(conn, [message.id for message in messages], token)
            held_records = [(message, record) for message, record in records if message.id in still_held]
            now = self._now()
            refused = self._put(conn, [record for _, record in held_records], now)
            # A line may have several records, and fails once.
            refusals = [(held_records[position][0], reason) for position, reason in refused.items()]
            failures += {message.id: (message, reason) for message, reason in refusals}.values()
            failed = [(message, reason) for message, reason in failures if message.id in still_held]
            loaded_ids = {message.id for message, _ in held_records} - {message.id for message, _ in failed}
            queue.finish(conn, loaded_ids)
            dead = fail_messages(conn, self._options, failed, now)
        return LoadResult(len(messages), len(loaded_ids), len(failed), dead)

    def _put(self, conn: Transaction, records: Sequence[Record], now: int) -> dict[int, str]:
        return hot.load(conn, records, next_load(conn), now + self._options.ttl) if records else {}


def take_messages(
    database: Database, options: DeliveryOptions, kind: str, token: str, now: int, limit: int, before: int | None = None
) -> tuple[list[QueueMessage], int]:
    """Take messages from the queue. Also returns how many became dead letters: taken too often, and never finished."""
    with database.write(alone=False) as conn:
        until = now + options.visibility
        messages = queue.take(
            conn, kind, token=token, now=now, until=until, limit=limit, suspect=options.max_tries, before=before
        )
        # Beyond the usual number of tries it was taken alone, so no other message can have killed its workers.
        abandoned = [message for message in messages if message.tries > 2 * options.max_tries]
        for message in abandoned:
            queue.move_to_dead_letters(
                conn, message, now, f"taken {message.tries - 1} times, and no worker finished it"
            )
    return [message for message in messages if message not in abandoned], len(abandoned)


def fail_messages(
    conn: Transaction, options: DeliveryOptions, failed: Sequence[tuple[QueueMessage, str]], now: int
) -> int:
    """Retry the messages later, or move them to the dead letters; returns how many were moved."""
    dead = 0
    for message, reason in failed:
        if message.tries >= options.max_tries:
            queue.move_to_dead_letters(conn, message, now, reason)
            dead += 1
        else:
            queue.release(conn, message.id, options.retry_at(now, message.tries))
    return dead


def _read(messages: Sequence[QueueMessage]) -> tuple[list[tuple[QueueMessage, Record]], list[tuple[QueueMessage, str]]]:
    records: list[tuple[QueueMessage, Record]] = []
    failures: list[tuple[QueueMessage, str]] = []
    for message in messages:
        try:
            records += [(message, record) for record in _records_of(message)]
        except ValueError as error:
            subject = "line" if is_refused_line(message.body) else "message is not a record"
            failures.append((message, f"the {subject}: {error}"))
    return records, failures


def _records_of(message: QueueMessage) -> list[Record]:
    """One record; of a line that a stream refused, and that is replayed, all of its records."""
    if is_refused_line(message.body):
        return records_of_line(message.body, message.enqueued_at)
    return [read_record(message.body)]
