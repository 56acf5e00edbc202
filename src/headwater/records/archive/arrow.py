"""Records are taken in and loaded without pyarrow; tracing and the archive need it."""

from __future__ import annotations

from headwater.errors import RecordsError


def need_arrow() -> None:
    try:
        import pyarrow.compute  # noqa: F401
    except ImportError as missing:
        raise RecordsError(
            f"Traces and the archive need pyarrow and numpy ({missing}). pip install pyarrow numpy."
        ) from None
