"""This machine's clock, held against what the log was written by. Where it is behind, what jobs tell from here on loses
against what is known already: of two statements the later one holds. Zones do not matter: all times are UTC."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from headwater.doctor.findings import DoctorOptions, Finding, failed, ok, warning
from headwater.errors import StoreError
from headwater.store.engine.database import Database
from headwater.store.engine.health import Times, times
from headwater.store.schema.upgrade import ensure_current

_TOLERANCE = timedelta(seconds=2)
"""What clocks of several machines may differ by."""
_REMEDY = "Set the clock of this machine and keep it synchronized with NTP."


def clock(asked: DoctorOptions) -> Iterator[Finding]:
    told = _read_times(asked)
    now = datetime.now(UTC)
    shown = f"{now:%Y-%m-%d %H:%M:%S} UTC"
    if told is None or told == Times(None, None, None):
        yield ok("clock", f"{shown}; the store has no log entry to compare with")
    elif told.entry is not None and told.entry - now > _TOLERANCE:
        yield failed("clock", f"{shown}, {_span(told.entry - now)} behind the newest entry of the log", _REMEDY)
    elif told.database is not None and abs(told.database - now) > _TOLERANCE:
        apart = f"{_span(abs(told.database - now))} {'behind' if told.database > now else 'ahead of'}"
        yield warning("clock", f"{shown}, {apart} the clock of the database server", _REMEDY)
    elif told.event is not None and told.event - now > _TOLERANCE:
        yield warning(
            "clock",
            f"{shown}; an event in the store is {_span(told.event - now)} ahead of that",
            "Set the clock of the machine that sent it; until then its event takes precedence over later ones.",
        )
    else:
        yield ok("clock", f"{shown}, not behind the log")


def _read_times(asked: DoctorOptions) -> Times | None:
    """None where there is no store that could be asked; the check of the store says why."""
    try:
        database = Database(asked.store, create=False)
        try:
            ensure_current(database, create=False)
            return times(database)
        finally:
            database.close()
    except StoreError:
        return None


def _span(span: timedelta) -> str:
    return str(timedelta(seconds=round(span.total_seconds())))
