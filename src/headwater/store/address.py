"""Where a store is unless the caller names one. Light to import: opening a store is `engine/database.py`."""

from __future__ import annotations

import os

DEFAULT_STORE = "sqlite:///.headwater/lineage.db"


def default_store() -> str:
    """The address in the environment, if there is one."""
    return os.environ.get("HEADWATER_STORE") or DEFAULT_STORE
