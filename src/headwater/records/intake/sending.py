"""Taking requests in: whatever is valid is in the queue, and on disk, when the call returns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import Any

from headwater.model.audit import Actor
from headwater.model.records import Record, Refusal, Sent, Taken
from headwater.records.intake.requests import read_request
from headwater.store.engine.database import Database
from headwater.store.log.audit import Deed
from headwater.store.records import queue
from headwater.store.records.audit import write_down
from headwater.store.schema.tables import from_micros

SENT_KIND = "records.sent"


def send(database: Database, requests: Iterable[Any], now: Callable[[], int], actor: Actor | None = None) -> Sent:
    """One transaction and, if it is said who sends, one entry of the audit log, for as many requests as are given."""
    moment = now()
    taken: list[Taken] = []
    refused: list[Refusal] = []
    records: list[Record] = []
    for index, request in enumerate(requests):
        found, refusals = read_request(request, index, from_micros(moment))
        refused += refusals
        taken += [Taken(index, place, record.node_id) for place, record in found]
        records += [record for _, record in found]
    if records:
        bodies = [queue_body(record) for record in records]
        deed = None if actor is None else _deed(records, len(refused))
        # The log is one chain, and whoever adds to it is alone.
        with database.write(alone=deed is not None) as conn:
            queue.put(conn, queue.LOAD, bodies, moment)
            if actor is not None and deed is not None:
                write_down(conn, actor, deed)
    return Sent(tuple(taken), tuple(refused))


def queue_body(record: Record) -> dict[str, Any]:
    """As it waits in the queue: the document, and the time to the microsecond."""
    return {**record.document(), "recorded_at": record.recorded_at.isoformat()}


def _deed(records: Sequence[Record], refused: int) -> Deed:
    """What was sent is known by the digests of the records, in the order they were sent in."""
    digest = sha256(b"".join(record.digest for record in records)).hexdigest()
    details = {"taken": str(len(records)), "refused": str(refused), "digest": f"sha256:{digest}"}
    return Deed(SENT_KIND, "send", "records", None, details)
