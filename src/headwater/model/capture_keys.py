"""The keys that captures sign with, as a store lists them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class CaptureKey:
    key: str
    """The public Ed25519 key in Base64."""
    name: str
    trusted_at: datetime
    untrusted_at: datetime | None

    @property
    def is_trusted(self) -> bool:
        return self.untrusted_at is None
