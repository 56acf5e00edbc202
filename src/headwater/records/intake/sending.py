"""Accepts requests: every valid record is in the queue, and on disk, when the call returns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256

from headwater.model.audit import Actor
from headwater.model.records import AcceptedRecord, Record, Refusal, SendResult
from headwater.records.intake.requests import read_request
from headwater.store.engine.database import Database
from headwater.store.log.audit import Deed
from headwater.store.records import queue
from headwater.store.records.evidence import append_audit_entry
from headwater.store.schema.tables import from_micros

SENT_KIND = "records.sent"


def send(
    database: Database, requests: Iterable[object], now: Callable[[], int], actor: Actor | None = None
) -> SendResult:
    """Queue the records of all requests in one transaction, and with an ``actor`` append an entry to the audit log."""
    sent_at = now()
    taken: list[AcceptedRecord] = []
    refused: list[Refusal] = []
    records: list[Record] = []
    for index, request in enumerate(requests):
        accepted, refusals = read_request(request, index, from_micros(sent_at))
        refused += refusals
        taken += [AcceptedRecord(index, position, record.node_id) for position, record in accepted]
        records += [record for _, record in accepted]
    if records:
        bodies = [queue_body(record) for record in records]
        entry = None if actor is None else _audit_entry(records, len(refused))
        # The log is one hash chain: an entry needs the write lock for itself.
        with database.write(alone=entry is not None) as conn:
            queue.put(conn, queue.LOAD, bodies, sent_at)
            if actor is not None and entry is not None:
                append_audit_entry(conn, actor, entry)
    return SendResult(tuple(taken), tuple(refused))


def queue_body(record: Record) -> dict[str, object]:
    """The message body of a record: its document, and the time to the microsecond."""
    return {**record.document(), "recorded_at": record.recorded_at.isoformat()}


def _audit_entry(records: Sequence[Record], refused: int) -> Deed:
    """The entry identifies the records by a hash over their digests, in the order of sending."""
    digest = sha256(b"".join(record.digest for record in records)).hexdigest()
    details = {"taken": str(len(records)), "refused": str(refused), "digest": f"sha256:{digest}"}
    return Deed(SENT_KIND, "send", "records", None, details)
