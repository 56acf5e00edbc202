"""The events against the log: the n-th entry about an event is of event n, and holds the digest of its content.

By content, not by spelling: blanks and the order of keys are not part of it. And the run, the job and the dataset that
an event is stored under are those that it names.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import zip_longest
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, select

from headwater.errors import EventRefused, EvidenceBroken
from headwater.formats.openlineage.event import Event, EventKind, reread_event
from headwater.formats.openlineage.fidelity import claims_again, is_certified
from headwater.store.log.audit import INGESTED
from headwater.store.log.certificates import OF_THE_CHAIN
from headwater.store.log.entries import as_stored
from headwater.store.schema.name_keys import endpoint_key, key_of
from headwater.store.schema.stored_rows import PlainRow
from headwater.store.schema.tables import audit, dataset, event, job, run, to_micros

_PAGE = 1_000
_EVENTS = (
    select(event.c.id, event.c.digest, event.c.kind, event.c.event_type, event.c.event_time, event.c.body)
    .add_columns(run.c.key, job.c.key.label("job_key"), dataset.c.key.label("dataset_key"))
    .add_columns(event.c.run_id, event.c.job_id, event.c.dataset_id)
    .outerjoin_from(event, run, run.c.id == event.c.run_id)
    .outerjoin(job, job.c.id == event.c.job_id)
    .outerjoin(dataset, dataset.c.id == event.c.dataset_id)
)
_ENTRIES = select(audit.c.seq, audit.c.details).where(audit.c.event_type == INGESTED)


class EventRange(NamedTuple):
    """Events by their ids, and the entries about them by their numbers: those after the first of each pair, up to the
    second; all where there is none."""

    after: int = 0
    upto: int | None = None
    after_seq: int = 0
    upto_seq: int | None = None


def verify_range(
    conn: Connection,
    part: EventRange,
    certified: Mapping[str, Mapping[str, object]],
    progress: Callable[[int], None] | None,
) -> set[str]:
    """The digests of events that have a certificate; ``certified`` are the documents of all certificates by these."""
    seen = set[str]()
    events = _within(_EVENTS, event.c.id, part.after, part.upto)
    entries = _within(_ENTRIES, audit.c.seq, part.after_seq, part.upto_seq)
    number = part.after
    for row, entry in zip_longest(_pages(conn, events, event.c.id), _pages(conn, entries, audit.c.seq)):
        number += 1
        if entry is None:
            raise EvidenceBroken(f"Event {row[0]}", "the log has no entry of it")
        what = f"Event {number} (entry {entry[0]})"
        if row is None or row[0] != number:
            raise EvidenceBroken(what, "it is missing")
        stored = verify_event(what, row[1:6])
        _verify_names(what, stored, row[6:9], row[9:])
        digest = f"sha256:{stored.digest.hex()}"
        if digest_in(entry[1]) != digest:
            raise EvidenceBroken(what, "it is not the one that the log has in its place")
        if digest in certified:
            verify_claims(certified[digest], stored)
            seen.add(digest)
        if progress is not None and number % _PAGE == 0:
            progress(number - part.after)
    return seen


def _within(
    query: Select[*tuple[object, ...]], number: ColumnElement[int], after: int, upto: int | None
) -> Select[*tuple[object, ...]]:
    # Nothing may lie before the first part, so that has no lower end.
    query = query.where(number > after) if after else query
    return query if upto is None else query.where(number <= upto)


def verify_event(what: str, row: PlainRow) -> Event:
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


def _verify_names(what: str, stored: Event, keys: PlainRow, ids: PlainRow) -> None:
    """That an event is stored under what it names; ``keys`` and ``ids``: of run, job and dataset."""
    run_id = stored.run_id if stored.kind is EventKind.RUN else None
    expected = (
        None if run_id is None else key_of(run_id),
        None if stored.job is None else key_of(stored.job.namespace, stored.job.name),
        None if stored.dataset is None else endpoint_key(stored.dataset.dataset),
    )
    for kind, key, found, number in zip(("run", "job", "dataset"), expected, keys, ids, strict=True):
        if key != found or (key is None) != (number is None):
            raise EvidenceBroken(what, f"it is stored under another {kind} than it names")


def digest_in(details: str) -> str | None:
    """Of the event that an entry of the log is about."""
    try:
        return str(json.loads(details)["digest"])
    except (ValueError, KeyError, TypeError):
        return None


def verify_claims(document: Mapping[str, object], last_event: Event) -> None:
    """Whether a certificate says what its event says."""
    what = f"Certificate {document['certificateId']}"
    if not is_certified(last_event):
        raise EvidenceBroken(what, "its event has no manifest to certify")
    claimed: Mapping[str, object] = claims_again(last_event, document)
    for name in sorted(document.keys() - OF_THE_CHAIN | claimed.keys()):
        if name not in document or name not in claimed or document[name] != claimed[name]:
            raise EvidenceBroken(what, f"its {name} does not follow from its event")


def _pages(conn: Connection, query: Select[*tuple[object, ...]], by: ColumnElement[int]) -> Iterator[PlainRow]:
    """``by`` is the first column."""
    query = query.order_by(by).limit(_PAGE)
    page = as_stored(conn, query)
    while page:
        yield from page
        page = as_stored(conn, query.where(by > page[-1][0]))
