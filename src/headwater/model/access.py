"""Who may come in: the keys of the HTTP server. The key that signs the log is another matter: ``proof/keys.py``."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Scope(StrEnum):
    """What a key is good for. They do not imply each other: a key that may write need not be able to read."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class AccessKey:
    """All that is kept of a key but the hash of its secret."""

    key_id: str
    name: str
    scopes: tuple[Scope, ...]
    namespaces: tuple[str, ...]
    """Exact names, or the beginning of names: `prefix*`. `*` is every namespace."""
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used: datetime | None
    """To the minute or so: it is not written down at every request."""


@dataclass(frozen=True, slots=True)
class NewAccessKey:
    """``secret`` is shown this once."""

    key: AccessKey
    secret: str
