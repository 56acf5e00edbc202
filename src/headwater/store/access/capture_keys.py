"""The capture keys that this store trusts. Only plans that one of them signed are deserialized.

An operator adds trust, or a capture that opens the store's own file (headwater/capturing.py). No event adds any.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol

from sqlalchemy import Connection, insert, select, update

from headwater.errors import KeyUnusable, UnknownCaptureKey, shorten
from headwater.formats.openlineage.text import UNSTORABLE_REASON, is_storable
from headwater.model.audit import Actor
from headwater.model.capture_keys import CaptureKey
from headwater.proof.keys import public_key
from headwater.store.access.keys import record
from headwater.store.engine.database import Database
from headwater.store.log.audit_writer import deed
from headwater.store.schema.access_tables import capture_key
from headwater.store.schema.tables import from_micros, to_micros

TRUSTED, UNTRUSTED = "capture_key.trusted", "capture_key.untrusted"
_RESOURCE = "capture_key"
_LONGEST_NAME = 200


class _CaptureKeyRow(Protocol):
    key: str
    name: str
    trusted_at: int
    untrusted_at: int | None


class CaptureKeys:
    def __init__(self, database: Database, actor: Actor) -> None:
        self._database = database
        self._actor = actor

    def all(self) -> list[CaptureKey]:
        """The oldest first, including those that are no longer trusted."""
        with self._database.read() as conn:
            rows = conn.execute(select(capture_key).order_by(capture_key.c.trusted_at, capture_key.c.key))
            return [_read(row) for row in rows]

    def trust(self, key: str, *, name: str = "", actor: Actor | None = None) -> CaptureKey:
        """Trust a key, also one that was untrusted before. A key that is trusted keeps its time, and takes the name."""
        key, name = _checked(key, name)
        with self._database.write() as conn:
            known = _row(conn, key)
            name = name or (known.name if known is not None else "")
            now = to_micros(datetime.now(UTC))
            if known is None:
                conn.execute(insert(capture_key), {"key": key, "name": name, "trusted_at": now, "untrusted_at": None})
            elif known.untrusted_at is not None:
                values = {"name": name, "trusted_at": now, "untrusted_at": None}
                conn.execute(update(capture_key).where(capture_key.c.key == key).values(**values))
            elif known.name != name:
                conn.execute(update(capture_key).where(capture_key.c.key == key).values(name=name))
            else:
                return _read(known)
            record(conn, actor or self._actor, deed(TRUSTED, _RESOURCE, key, name=name))
            return _read(_existing(conn, key))

    def trust_new(self, key: str, *, name: str = "", actor: Actor | None = None) -> bool:
        """Trust a key that the store has never listed. An operator's earlier decision about a key stays."""
        key, name = _checked(key, name)
        with self._database.read() as conn:
            if _row(conn, key) is not None:
                return False
        with self._database.write() as conn:
            if _row(conn, key) is not None:
                return False
            now = to_micros(datetime.now(UTC))
            conn.execute(insert(capture_key), {"key": key, "name": name, "trusted_at": now, "untrusted_at": None})
            record(conn, actor or self._actor, deed(TRUSTED, _RESOURCE, key, name=name))
        return True

    def untrust(self, asked: str, *, actor: Actor | None = None) -> CaptureKey:
        """Trust a key no longer: the key itself, or its name if only one trusted key has it."""
        with self._database.write() as conn:
            found = _find(conn, asked)
            if found.untrusted_at is None:
                now = to_micros(datetime.now(UTC))
                conn.execute(update(capture_key).where(capture_key.c.key == found.key).values(untrusted_at=now))
                record(conn, actor or self._actor, deed(UNTRUSTED, _RESOURCE, found.key, name=found.name))
            return _read(_existing(conn, found.key))


def trusted_keys(conn: Connection) -> frozenset[str]:
    """The public keys, in Base64."""
    return frozenset(conn.scalars(select(capture_key.c.key).where(capture_key.c.untrusted_at.is_(None))))


def _row(conn: Connection, key: str) -> _CaptureKeyRow | None:
    return conn.execute(select(capture_key).where(capture_key.c.key == key)).one_or_none()


def _existing(conn: Connection, key: str) -> _CaptureKeyRow:
    return conn.execute(select(capture_key).where(capture_key.c.key == key)).one()


def _find(conn: Connection, asked: str) -> _CaptureKeyRow:
    rows = conn.execute(select(capture_key).order_by(capture_key.c.trusted_at)).all()
    found = [row for row in rows if row.key == asked] or [
        row for row in rows if row.name == asked and row.untrusted_at is None
    ]
    if not found:
        raise UnknownCaptureKey(asked, [_label(row) for row in rows if row.untrusted_at is None])
    if len(found) > 1:
        keys = ", ".join(row.key for row in found)
        raise KeyUnusable(f"{len(found)} trusted keys have the name '{shorten(asked)}'. Name one by its key: {keys}.")
    return found[0]


def _label(row: _CaptureKeyRow) -> str:
    return f"{row.key} ({row.name})" if row.name else str(row.key)


def _checked(key: str, name: str) -> tuple[str, str]:
    public_key(key)
    if len(name) > _LONGEST_NAME:
        raise KeyUnusable(f"The name of a capture key has at most {_LONGEST_NAME} characters.")
    if not is_storable(name):
        raise KeyUnusable(f"'{shorten(name)}' {UNSTORABLE_REASON}.")
    return key, name


def _read(row: _CaptureKeyRow) -> CaptureKey:
    untrusted = None if row.untrusted_at is None else from_micros(row.untrusted_at)
    return CaptureKey(row.key, row.name, from_micros(row.trusted_at), untrusted)
