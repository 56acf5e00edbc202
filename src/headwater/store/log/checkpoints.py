"""Checkpoints: the log's size and root, signed. And the entries that say which key signs.

The last entry under a checkpoint announces it: its number, and the SHA-256 of the checkpoint before it. So the log
itself lists the checkpoints, and a deleted one is detected.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256

from sqlalchemy import Connection, func, insert, select

from headwater.errors import EvidenceBroken, KeyUnusable, NoteInvalid, QueryError
from headwater.model.audit import Actor
from headwater.model.log import SignedCheckpoint
from headwater.proof.canonical import canonical
from headwater.proof.history import ADOPTED, ROTATED, KeyHistory, KeyPeriod, origin_of, statement
from headwater.proof.keys import KeyRing, SigningKey
from headwater.proof.notes import Checkpoint, Note, Verifier
from headwater.store.engine.prepared import together
from headwater.store.log import audit as log
from headwater.store.log.audit import Deed
from headwater.store.log.log_head import STANDING, Standing
from headwater.store.log.merkle_log import size_of, tree
from headwater.store.schema.tables import audit, checkpoint

KEY_ENTRIES = (ADOPTED, ROTATED)
ANNOUNCED = "checkpoint.signed"

Anchored = tuple[str, str]
"""A checkpoint from a second place: where it was found, and its note."""


def periods(conn: Connection) -> list[KeyPeriod]:
    return key_history(conn).periods if size_of(conn) else []


def key_history(conn: Connection) -> KeyHistory:
    """As the log tells it, each statement checked."""
    history = KeyHistory(origin(conn))
    told = select(audit.c.seq, audit.c.event_type, audit.c.details).where(audit.c.event_type.in_(KEY_ENTRIES))
    for row in conn.execute(told.order_by(audit.c.seq)):
        history.follow(row.seq, row.event_type, note_in(row.details), tree(conn).root)
    return history


def note_in(details: str) -> str:
    """The signed note that an entry about keys holds."""
    try:
        return str(json.loads(details)["note"])
    except (ValueError, KeyError, TypeError):
        return ""


def origin(conn: Connection) -> str:
    first = conn.scalars(select(audit.c.hash).order_by(audit.c.seq).limit(1)).one_or_none()
    if first is None:
        raise QueryError("The log is empty: there is nothing to sign yet.")
    return origin_of(bytes(first))


def sign(conn: Connection, ring: KeyRing, actor: Actor, anchored: Sequence[Anchored] = ()) -> SignedCheckpoint:
    """Sign the current log; returns the existing checkpoint if nothing was added since. The caller holds the write
    lock.

    A log must never sign a state that does not extend what it signed before, here or in an anchor.
    """
    history = key_history(conn)
    for where, note in anchored:
        _goes_on_from(conn, where, _read(where, note), history.origin)
    if history.current is None:
        _record(conn, actor, ADOPTED, history.origin, ring.newest)
        history = key_history(conn)
    assert history.current is not None
    key = _key_in_force(ring, history.current)
    newest = _newest(conn, history)
    state = _state(conn, history.origin)
    if newest is not None and newest.size == state.size:
        return newest
    _announce(conn, actor, history.origin, newest)
    state = _state(conn, history.origin)
    signed = Note.signed(state.text, history.origin, [key])
    conn.execute(insert(checkpoint), {"size": state.size, "note": str(signed)})
    return _signed_checkpoint(state, history.current, str(signed))


def _newest(conn: Connection, history: KeyHistory) -> SignedCheckpoint | None:
    note = conn.scalars(select(checkpoint.c.note).order_by(checkpoint.c.size.desc()).limit(1)).one_or_none()
    if note is None:
        return None
    state = _read("The newest checkpoint", note)
    _goes_on_from(conn, f"The checkpoint of {state.size} entries", state, history.origin)
    key = history.at(state.size)
    if key is None:
        raise EvidenceBroken(f"The checkpoint of {state.size} entries", "no key was in force then")
    return _signed_checkpoint(state, key, note)


def _read(what: str, note: str) -> Checkpoint:
    try:
        return Checkpoint.of(Note.parse(note))
    except NoteInvalid as invalid:
        raise EvidenceBroken(what, str(invalid)) from None


def _goes_on_from(conn: Connection, what: str, state: Checkpoint, of: str) -> None:
    size = size_of(conn)
    if state.origin != of or state.size > size or tree(conn).root(state.size) != state.root:
        raise EvidenceBroken(what, "the log does not go on from it; nothing more is signed")


def rotate(conn: Connection, ring: KeyRing, actor: Actor) -> str:
    """A new key, kept in the ring's file, takes over from the one in force; its `vkey`."""
    history = key_history(conn)
    if history.current is None:
        raise KeyUnusable("No key signs for this log yet; `headwater checkpoint` adopts one.")
    old, new = _key_in_force(ring, history.current), ring.rotate().newest
    _record(conn, actor, ROTATED, history.origin, old, new)
    return str(Verifier(history.origin, new.public))


def _record(conn: Connection, actor: Actor, kind: str, of: str, *keys: SigningKey) -> None:
    note = str(statement(kind, _state(conn, of), *keys))
    _append(conn, actor, kind, of, {"note": note})


def _announce(conn: Connection, actor: Actor, of: str, newest: SignedCheckpoint | None) -> None:
    """The entry that the next checkpoint ends with."""
    count = conn.execute(select(func.count()).select_from(checkpoint)).scalar_one()
    _append(conn, actor, ANNOUNCED, of, announcement(count + 1, None if newest is None else (newest.size, newest.note)))


def announcement(number: int, previous: tuple[int, str] | None) -> dict[str, object]:
    """What the log says of checkpoint ``number``; ``previous``: size and note of the one before it."""
    if previous is None:
        return {"number": number, "previous": None}
    size, note = previous
    return {"number": number, "previous": {"sha256": sha256(note.encode()).hexdigest(), "size": size}}


def _append(conn: Connection, actor: Actor, kind: str, of: str, details: Mapping[str, object]) -> None:
    ((row,),) = together(conn, [(STANDING, {})])
    deed = Deed(kind, kind.rpartition(".")[2], "log", of, canonical(details))
    log.record(conn, Standing.told(row), [(actor, deed)])


def _state(conn: Connection, of: str) -> Checkpoint:
    size = size_of(conn)
    return Checkpoint(of, size, tree(conn).root(size))


def _key_in_force(ring: KeyRing, key: Verifier) -> SigningKey:
    found = ring.of(key.public)
    if found is None:
        raise KeyUnusable(f"The log is signed with {key}, which is not in {ring.file}.")
    return found


def _signed_checkpoint(state: Checkpoint, key: Verifier, note: str) -> SignedCheckpoint:
    return SignedCheckpoint(state.origin, state.size, state.root.hex(), str(key), note)


def checkpoints(conn: Connection, limit: int, before: int | None = None) -> list[SignedCheckpoint]:
    """The newest first; ``before`` a size goes on from there."""
    if size_of(conn) == 0:
        return []
    history = key_history(conn)
    found = []
    query = select(checkpoint.c.note).order_by(checkpoint.c.size.desc()).limit(limit)
    if before is not None:
        query = query.where(checkpoint.c.size < before)
    for note in conn.scalars(query):
        state = Checkpoint.of(Note.parse(note))
        found.append(SignedCheckpoint(state.origin, state.size, state.root.hex(), str(history.at(state.size)), note))
    return found
