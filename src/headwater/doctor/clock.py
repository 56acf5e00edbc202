"""Compares this machine's clock with the times in the store.

The later of two statements counts, so with a clock that is behind, new statements of jobs lose against older ones. Time
zones do not matter: all times are UTC.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from headwater.doctor.findings import DoctorOptions, Finding, failed, ok, warning
from headwater.errors import StoreError
from headwater.store.engine.database import Database
from headwater.store.engine.health import Times, times
from headwater.store.schema.upgrade import ensure_current

_TOLERANCE = timedelta(seconds=2)
"""Maximum difference between the clocks of several machines."""
_REMEDY = "Set the clock of this machine and keep it synchronized with NTP."


def clock(options: DoctorOptions) -> Iterator[Finding]:
    times_in_store = _read_times(options)
    now = datetime.now(UTC)
    shown = f"{now:%Y-%m-%d %H:%M:%S} UTC"
    if times_in_store is None or times_in_store == Times(None, None, None):
        yield ok("clock", f"{shown}; the store has no log entry to compare with")
    elif times_in_store.entry is not None and times_in_store.entry - now > _TOLERANCE:
        yield failed(
            "clock", f"{shown}, {_span(times_in_store.entry - now)} behind the newest entry of the log", _REMEDY
        )
    elif times_in_store.database is not None and abs(times_in_store.database - now) > _TOLERANCE:
        apart = (
            f"{_span(abs(times_in_store.database - now))} {'behind' if times_in_store.database > now else 'ahead of'}"
        )
        yield warning("clock", f"{shown}, {apart} the clock of the database server", _REMEDY)
    elif times_in_store.event is not None and times_in_store.event - now > _TOLERANCE:
        yield warning(
            "clock",
            f"{shown}; an event in the store is {_span(times_in_store.event - now)} ahead of that",
            "Set the clock of the machine that sent it; until then its event takes precedence over later ones.",
        )
    else:
        yield ok("clock", f"{shown}, not behind the log")


def _read_times(options: DoctorOptions) -> Times | None:
    """Return the times in the store; None without a usable store, which another check reports."""
    try:
        database = Database(options.store, create=False)
        try:
            ensure_current(database, create=False)
            return times(database)
        finally:
            database.close()
    except StoreError:
        return None


def _span(span: timedelta) -> str:
    return str(timedelta(seconds=round(span.total_seconds())))
