"""Entries of the audit log: who did what to what, each with the hash of the entry before it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from headwater.model.json_types import JsonObject


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts. Entries made by one request have the same ``correlation_id``."""

    id: str
    type: str = "user"
    correlation_id: str | None = None
    client_ip: str | None = None
    user_agent: str | None = None


@dataclass(frozen=True, slots=True)
class AuditEntry:
    seq: int
    recorded_at: datetime
    event_type: str
    actor_id: str
    actor_type: str
    resource_type: str | None
    resource_id: str | None
    action: str
    details: JsonObject
    correlation_id: str | None
    client_ip: str | None
    user_agent: str | None
    algorithm: str
    previous_hash: str
    hash: str
