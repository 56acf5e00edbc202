"""Databases: addresses, versions, and what they refuse."""

from __future__ import annotations

from headwater.errors.base import HeadwaterError


class StoreError(HeadwaterError):
    """The database of the store is missing, unusable or damaged."""


class StoreUrlInvalid(StoreError):
    pass


class StoreMissing(StoreError):
    pass


class StoreUnavailable(StoreError):
    pass


class StoreFull(StoreUnavailable):
    pass


class StoreReadOnly(StoreError):
    pass


class StoreNotOurs(StoreError):
    pass


class StoreOutdated(StoreError):
    pass


class StoreTooNew(StoreError):
    pass


class AuditBroken(StoreError):
    def __init__(self, seq: int, reason: str) -> None:
        self.seq = seq
        self.reason = reason
        super().__init__(f"The audit log does not hold at entry {seq}: {reason}")
