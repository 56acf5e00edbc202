"""`headwater records work`"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import time, timedelta
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from headwater.cli.failures import CliError
from headwater.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from headwater.cli.output import open_store
from headwater.cli.records.daily import compact_day
from headwater.cli.records.options import ArchiveOption, parse_span, parse_time_of_day

if TYPE_CHECKING:
    from headwater.records.intake.worker import Worker

_MICROSECOND = timedelta(microseconds=1)

TtlOption = Annotated[
    timedelta,
    typer.Option(
        "--ttl",
        parser=parse_span,
        metavar="SPAN",
        help="Time to live of hot records; they stay until they are archived.",
    ),
]
VisibilityOption = Annotated[
    timedelta,
    typer.Option(
        "--visibility",
        parser=parse_span,
        metavar="SPAN",
        help="Visibility timeout: after this long, records of a dead worker are delivered again.",
    ),
]


def work(
    window: Annotated[
        timedelta,
        typer.Option(
            "--window", parser=parse_span, metavar="SPAN", help="Maximum time that a record waits before it is loaded."
        ),
    ] = "1m",  # type: ignore[assignment]
    batch: Annotated[
        int, typer.Option("--batch", min=1, metavar="N", help="Number of waiting records at which to load at once.")
    ] = 100,
    once: Annotated[
        bool, typer.Option("--once", help="Load one batch, archive one root of the trace queue, and end.")
    ] = False,
    until_empty: Annotated[
        bool, typer.Option("--until-empty", help="End when the queue is empty, with no message left to retry.")
    ] = False,
    ttl: TtlOption = "24h",  # type: ignore[assignment]
    visibility: VisibilityOption = "30s",  # type: ignore[assignment]
    max_tries: Annotated[
        int,
        typer.Option(
            "--max-tries", min=1, metavar="N", help="Number of tries after which a message becomes a dead letter."
        ),
    ] = 5,
    archive: ArchiveOption = None,
    no_compaction: Annotated[bool, typer.Option("--no-compaction", help="Do not run the daily compaction.")] = False,
    compact_at: Annotated[
        time,
        typer.Option(
            "--compact-at", parser=parse_time_of_day, metavar="HH:MM", help="Time of the daily compaction, in UTC."
        ),
    ] = "01:00",  # type: ignore[assignment]
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Load queued records, archive roots of the trace queue, compact daily. Any number of workers may run at once."""
    from headwater.cli.render.records.working import WorkingReport
    from headwater.records.intake.loading import DeliveryOptions
    from headwater.records.intake.worker import WorkerOptions

    if once and until_empty:
        raise CliError("Choose one of --once and --until-empty.")
    delivery = DeliveryOptions(visibility // _MICROSECOND, max_tries, ttl // _MICROSECOND)
    options = WorkerOptions(window, batch, delivery, None if no_compaction or once or until_empty else compact_at)
    with open_store(store, create=True) as lineage, WorkingReport(as_json) as report:
        worker = lineage.records.at(archive).worker(options, report, lambda: compact_day(store, archive))
        with _stop_on_signals(worker):
            totals = worker.once() if once else worker.run(until_empty=until_empty)
    report.summary(totals)


@contextmanager
def _stop_on_signals(worker: Worker) -> Iterator[None]:
    """The current batch is finished first. A second signal does not wait for it, and loses nothing either."""

    def end(number: int, _frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        worker.stop()

    handlers = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
