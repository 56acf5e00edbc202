"""Code that tests and benchmarks share."""

import json
import os


def why_missing(part: str) -> str | None:
    """Why ./dev could not provide "java" or "postgres"; None if it could."""
    missing = json.loads(os.environ.get("HEADWATER_DEV_MISSING", "{}"))
    reason = missing.get(part)
    return None if reason is None else str(reason)
