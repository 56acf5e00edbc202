"""The events against the log: the n-th entry about an event is of event n, and holds the digest of its content.

By content, not by spelling: blanks and the order of keys are not part of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from sqlalchemy import Connection, Select, func, select

from headwater.errors import EventRefused, EvidenceBroken
from headwater.formats.openlineage.event import Event, reread_event
from headwater.formats.openlineage.fidelity import claims_again, is_certified
from headwater.store.audit import INGESTED
from headwater.store.certificates import OF_THE_CHAIN
from headwater.store.entries import as_stored
from headwater.store.stretches import Progress
from headwater.store.tables import audit, event, to_micros

_PAGE = 1_000
_EVENTS = select(event.c.id, event.c.digest, event.c.kind, event.c.event_type, event.c.event_time, event.c.body)
_ENTRIES = select(audit.c.seq, audit.c.details).where(audit.c.event_type == INGESTED)


def verify_events(conn: Connection, certified: Mapping[str, Any], progress: Progress | None) -> int:
    """How many there are; ``certified`` are the certificates' documents by the digest of their event."""
    total = conn.execute(select(func.count()).select_from(event)).scalar_one()
    left = set(certified)
    number = 0
    for row, entry in zip_longest(_pages(conn, _EVENTS, event.c.id), _pages(conn, _ENTRIES, audit.c.seq)):
        number += 1
        if entry is None:
            raise EvidenceBroken(f"Event {row[0]}", "the log has no entry of it")
        what = f"Event {number} (entry {entry[0]})"
        if row is None or row[0] != number:
            raise EvidenceBroken(what, "it is missing")
        stored = verify_event(what, row[1:])
        digest = f"sha256:{stored.digest.hex()}"
        if digest_in(entry[1]) != digest:
            raise EvidenceBroken(what, "it is not the one that the log has in its place")
        if digest in certified:
            verify_claims(certified[digest], stored)
            left.discard(digest)
        if progress is not None and number % _PAGE == 0:
            progress(number, total)
    for digest in sorted(left):
        raise EvidenceBroken(f"Certificate {certified[digest]['certificateId']}", f"there is no event {digest}")
    return number


def verify_event(what: str, row: Sequence[Any]) -> Event:
    """A stored event, if its content has its digest and its columns say what it says."""
    digest, kind, event_type, event_time, body = row
    try:
        found = reread_event(body, b"")  # without a digest, which is then computed
    except EventRefused as refused:
        raise EvidenceBroken(what, f"it cannot be read: {refused.reason}") from None
    except TypeError:
        raise EvidenceBroken(what, "it is not stored as bytes") from None
    if found.digest != digest:
        raise EvidenceBroken(what, "its content does not have its digest")
    if (found.kind, found.event_type, to_micros(found.time)) != (kind, event_type, event_time):
        raise EvidenceBroken(what, "its kind, type or time are stored otherwise than it says them")
    return found


def digest_in(details: str) -> str | None:
    """Of the event that an entry of the log is about."""
    try:
        return str(json.loads(details)["digest"])
    except (ValueError, KeyError, TypeError):
        return None


def verify_claims(document: Mapping[str, Any], last_event: Event) -> None:
    """Whether a certificate says what its event says."""
    what = f"Certificate {document['certificateId']}"
    if not is_certified(last_event):
        raise EvidenceBroken(what, "its event has no manifest to certify")
    claimed = claims_again(last_event, document)
    for name in sorted(document.keys() - OF_THE_CHAIN | claimed.keys()):
        if name not in document or name not in claimed or document[name] != claimed[name]:
            raise EvidenceBroken(what, f"its {name} does not follow from its event")


def _pages(conn: Connection, query: Select[*tuple[Any, ...]], by: Any) -> Iterator[tuple[Any, ...]]:
    """``by`` is the first column."""
    query = query.order_by(by).limit(_PAGE)
    page = as_stored(conn, query)
    while page:
        yield from page
        page = as_stored(conn, query.where(by > page[-1][0]))
