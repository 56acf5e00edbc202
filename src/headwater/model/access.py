"""Access keys of the HTTP server. The keys that sign the log are in ``proof/keys.py``."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Scope(StrEnum):
    """What a key permits. No scope implies another: a key that may write is not thereby allowed to read."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class AccessKey:
    """An access key as it is stored, without the hash of its secret."""

    key_id: str
    name: str
    scopes: tuple[Scope, ...]
    namespaces: tuple[str, ...]
    """Exact names, or prefixes: `prefix*`. `*` is every namespace."""
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used: datetime | None
    """Accurate to about a minute: it is not updated at every request."""


@dataclass(frozen=True, slots=True)
class NewAccessKey:
    """A key that was just added. Its ``secret`` is shown only now."""

    key: AccessKey
    secret: str
