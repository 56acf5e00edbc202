"""Does what one run left hold? Without reading the whole log: by proofs of inclusion in its newest checkpoint."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlalchemy import Connection, select

from headwater.errors import EvidenceBroken, NoteInvalid, QueryError, shorten
from headwater.formats.openlineage.event import Event
from headwater.model.log import VerifiedRun
from headwater.proof.history import KeyHistory
from headwater.proof.merkle import leaf_hash, verify_inclusion
from headwater.proof.notes import Checkpoint, Note, Verifier
from headwater.proof.tiles import Tiles
from headwater.store.access.view import View
from headwater.store.log.audit import INGESTED
from headwater.store.log.certificates import ISSUED
from headwater.store.log.checkpoints import Anchored, key_history
from headwater.store.log.entries import entry_holds
from headwater.store.log.merkle_log import size_of, tree
from headwater.store.log.verify import document_in
from headwater.store.log.verify_events import digest_in, verify_claims, verify_event
from headwater.store.query.lookup import find_whole_run
from headwater.store.schema.tables import audit, checkpoint, event


def verify_certificate(
    view: View,
    certificate_id: str,
    key: str | None,
    anchored: Sequence[Anchored] | None = None,
) -> VerifiedRun:
    certificate = view.tables.certificate
    of = select(audit.c.details).join(certificate, certificate.c.seq == audit.c.seq)
    details = view.scalars(of.where(certificate.c.certificate_id == certificate_id)).one_or_none()
    if details is None:
        raise QueryError(f"Certificate '{shorten(certificate_id)}' is not known. `headwater run` shows a run's.")
    return verify_run(view, str(json.loads(details).get("runId")), key, anchored)


def verify_run(
    view: View,
    run_id: str,
    key: str | None,
    anchored: Sequence[Anchored] | None = None,
) -> VerifiedRun:
    """``anchored``: checkpoints of an anchor. Each must be of this log, and the part of the run that they cover is
    proven to be in them, not only in what the store itself has signed."""
    found, conn = find_whole_run(view, run_id), view.conn
    events = _events(conn, found.id)
    history, leaves = key_history(conn), tree(conn)
    newest = _newest_checkpoint(conn, history, key)
    elsewhere = _elsewhere(conn, history, leaves, anchored or ())
    entries: list[int] = []
    certified: list[str] = []
    missing = dict(events)
    of_run = audit.c.resource_type == "run", audit.c.resource_id == run_id
    for row in conn.execute(select(audit).where(*of_run).order_by(audit.c.seq)):
        entry_holds(row._mapping)
        for state in (newest, elsewhere):
            _is_signed(leaves, row.seq, bytes(row.hash), state)
        entries.append(row.seq)
        if row.event_type == INGESTED:
            missing.pop(digest_in(row.details) or "", None)
        elif row.event_type == ISSUED:
            document = document_in(row.seq, row.details)
            if document["eventDigest"] not in events:
                raise EvidenceBroken(f"Certificate {document['certificateId']}", "its event is not there")
            verify_claims(document, events[document["eventDigest"]])
            certified.append(document["certificateId"])
    for digest in missing:
        raise EvidenceBroken(f"Event {digest}", "the log has no entry of it")
    return VerifiedRun(
        run_id,
        tuple(entries),
        tuple(certified),
        _covered(entries, newest),
        None if newest is None else newest.size,
        None if anchored is None else _covered(entries, elsewhere),
    )


def _covered(entries: Sequence[int], state: Checkpoint | None) -> int:
    return 0 if state is None else sum(seq <= state.size for seq in entries)


def _events(conn: Connection, run_id: int) -> dict[str, Event]:
    columns = event.c.digest, event.c.kind, event.c.event_type, event.c.event_time, event.c.body
    rows = conn.execute(select(event.c.id, *columns).where(event.c.run_id == run_id).order_by(event.c.id))
    found = [verify_event(f"Event {number}", tuple(row)) for number, *row in rows]
    return {f"sha256:{one.digest.hex()}": one for one in found}


def _newest_checkpoint(conn: Connection, history: KeyHistory, key: str | None) -> Checkpoint | None:
    """The newest one, if it is signed by the key that signs for the log."""
    if key is not None and Verifier.parse(key) not in [period.key for period in history.periods]:
        raise EvidenceBroken("The log", f"it was never signed with {key}")
    newest = conn.execute(select(checkpoint).order_by(checkpoint.c.size.desc()).limit(1)).one_or_none()
    if newest is None:
        return None
    what = f"The checkpoint of {newest.size} entries"
    note, state = _read(what, newest.note, history)
    _is_in_force(what, note, state, history)
    if state.size != newest.size:
        raise EvidenceBroken(what, f"it is one of {state.size} entries")
    return state


def _elsewhere(conn: Connection, history: KeyHistory, leaves: Tiles, anchored: Sequence[Anchored]) -> Checkpoint | None:
    """The newest checkpoint of the anchor, after checking that all of them are of this log."""
    there_are, newest = size_of(conn), None
    for where, note in anchored:
        signed, state = _read(where, note, history)
        if state.size > there_are:
            raise EvidenceBroken(where, f"the log has only {there_are} entries")
        if leaves.root(state.size) != state.root:
            raise EvidenceBroken(where, "the entries are not those that were signed")
        _is_in_force(where, signed, state, history)
        newest = state if newest is None or state.size > newest.size else newest
    return newest


def _read(what: str, text: str, history: KeyHistory) -> tuple[Note, Checkpoint]:
    try:
        note = Note.parse(text)
        state = Checkpoint.of(note)
    except NoteInvalid as invalid:
        raise EvidenceBroken(what, str(invalid)) from None
    if state.origin != history.origin:
        raise EvidenceBroken(what, f"it is of another log, {state.origin}")
    return note, state


def _is_in_force(what: str, note: Note, state: Checkpoint, history: KeyHistory) -> None:
    signer = history.at(state.size)
    if signer is None or not note.is_signed_by(signer):
        raise EvidenceBroken(what, f"it is not signed by the key in force, {signer}")


def _is_signed(leaves: Tiles, seq: int, entry_hash: bytes, state: Checkpoint | None) -> None:
    if state is not None and seq <= state.size:
        proof = leaves.inclusion(seq - 1, state.size)
        if not verify_inclusion(leaf_hash(entry_hash), seq - 1, state.size, proof, state.root):
            raise EvidenceBroken(f"Entry {seq}", "it is not among those that were signed")
