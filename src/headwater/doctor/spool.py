"""Events that captured jobs have told and no sink has taken yet."""

from __future__ import annotations

from collections.abc import Iterator

from headwater.capture.delivery.unsent import unsent
from headwater.doctor.findings import DoctorOptions, Finding, failed, ok, warning
from headwater.errors import shorten


def spool(asked: DoctorOptions) -> Iterator[Finding]:
    try:
        found = list(unsent(asked.spool))
    except OSError as trouble:
        yield failed(
            "spool",
            f"{asked.spool} cannot be read: {trouble.strerror}",
            "Give the user who runs the jobs access to it, or set HEADWATER_SPOOL to another folder.",
        )
        return
    left = [each for each in found if not each.at_work]
    if not left:
        on_the_way = sum(each.events for each in found)
        yield ok(
            "spool", f"{on_the_way} events being delivered" if on_the_way else f"no events waiting in {asked.spool}"
        )
        return
    since = min((each.since for each in left if each.since), default="an unknown time")
    sinks = ", ".join(sorted({shorten(each.sink) for each in left}))
    yield warning(
        "spool",
        f"{sum(each.events for each in left)} events waiting in {asked.spool} since {since}, for {sinks}",
        "The next captured job with this spool and sink delivers them. Check that the sink responds.",
    )
