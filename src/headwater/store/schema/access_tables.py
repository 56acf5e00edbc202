"""The tables of access: keys, and the sessions that were opened with them, of whose secrets only hashes are kept; and
the capture keys that are trusted."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, LargeBinary, Table, Text

from headwater.store.schema.tables import Json, Micros, metadata

access_key = Table(
    "access_key",
    metadata,
    Column("key_id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    # SHA-256 is enough for a secret of 256 random bits: nobody can go through them, however quick the hash is.
    Column("secret_hash", LargeBinary, nullable=False),
    Column("scopes", Json, nullable=False),
    Column("namespaces", Json, nullable=False),
    Column("created_at", Micros, nullable=False),
    Column("expires_at", Micros),
    Column("revoked_at", Micros),
    Column("last_used", Micros),
    sqlite_with_rowid=False,
)

capture_key = Table(
    "capture_key",
    metadata,
    Column("key", Text, primary_key=True),  # the public Ed25519 key in Base64
    Column("name", Text, nullable=False),
    Column("trusted_at", Micros, nullable=False),
    # An untrusted key keeps its row, so that no capture trusts it again by itself.
    Column("untrusted_at", Micros),
    sqlite_with_rowid=False,
)

access_session = Table(
    "access_session",
    metadata,
    Column("secret_hash", LargeBinary, primary_key=True),
    Column("key_id", Text, ForeignKey("access_key.key_id"), nullable=False),
    Column("expires_at", Micros, nullable=False),
    Index(None, "expires_at"),
    sqlite_with_rowid=False,
)
