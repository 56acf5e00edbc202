"""Checks for captured events in the spool that no sink has received yet."""

from __future__ import annotations

from collections.abc import Iterator

from headwater.capture.delivery.unsent import unsent_events
from headwater.doctor.findings import DoctorOptions, Finding, failed, ok, warning
from headwater.errors import shorten


def spool(options: DoctorOptions) -> Iterator[Finding]:
    try:
        logs = list(unsent_events(options.spool))
    except OSError as error:
        yield failed(
            "spool",
            f"{options.spool} cannot be read: {error.strerror}",
            "Give the user who runs the jobs access to it, or set HEADWATER_SPOOL to another folder.",
        )
        return
    waiting = [log for log in logs if not log.at_work]
    if not waiting:
        being_delivered = sum(log.events for log in logs)
        yield ok(
            "spool",
            f"{being_delivered} events being delivered" if being_delivered else f"no events waiting in {options.spool}",
        )
        return
    since = min((log.since for log in waiting if log.since), default="an unknown time")
    sinks = ", ".join(sorted({shorten(log.sink) for log in waiting}))
    yield warning(
        "spool",
        f"{sum(log.events for log in waiting)} events waiting in {options.spool} since {since}, for {sinks}",
        "The next captured job with this spool and sink delivers them. Check that the sink responds.",
    )
