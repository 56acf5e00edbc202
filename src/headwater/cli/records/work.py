"""`headwater records work`"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import time, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwater.cli.failures import CliError
from headwater.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from headwater.cli.output import open_store
from headwater.cli.records.daily import compact_day
from headwater.cli.records.options import ArchiveOption, parse_span, parse_time_of_day

if TYPE_CHECKING:
    from headwater.records.intake.worker import Worker

_MICROSECOND = timedelta(microseconds=1)


def work(
    window: Annotated[
        timedelta,
        typer.Option("--window", parser=parse_span, metavar="SPAN", help="Let no record wait longer than this."),
    ] = "1m",  # type: ignore[assignment]
    batch: Annotated[int, typer.Option("--batch", min=1, metavar="N", help="Load at once when so many wait.")] = 100,
    once: Annotated[bool, typer.Option("--once", help="Load what waits, trace one root, and end.")] = False,
    until_empty: Annotated[
        bool, typer.Option("--until-empty", help="End when the queue has nothing left, not even to be tried again.")
    ] = False,
    ttl: Annotated[
        timedelta,
        typer.Option(
            "--ttl", parser=parse_span, metavar="SPAN", help="Keep records hot for so long, and until archived."
        ),
    ] = "24h",  # type: ignore[assignment]
    visibility: Annotated[
        timedelta,
        typer.Option(
            "--visibility", parser=parse_span, metavar="SPAN", help="When what a dead worker held is anybody's again."
        ),
    ] = "30s",  # type: ignore[assignment]
    max_tries: Annotated[
        int, typer.Option("--max-tries", min=1, metavar="N", help="Then a message is a dead letter.")
    ] = 5,
    archive: ArchiveOption = None,
    no_compaction: Annotated[
        bool, typer.Option("--no-compaction", help="Leave the daily compaction to others.")
    ] = False,
    compact_at: Annotated[
        time,
        typer.Option("--compact-at", parser=parse_time_of_day, metavar="HH:MM", help="When the day is compacted, UTC."),
    ] = "01:00",  # type: ignore[assignment]
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Load what was sent, trace what is asked for, compact the day. Any number of workers may run at once."""
    from headwater.cli.render.records.working import WorkingReport
    from headwater.records.intake.loading import Terms
    from headwater.records.intake.worker import Working

    if once and until_empty:
        raise CliError("Choose one of --once and --until-empty.")
    terms = Terms(visibility // _MICROSECOND, max_tries, ttl // _MICROSECOND)
    working = Working(window, batch, terms, None if no_compaction or once or until_empty else compact_at)
    with open_store(store, create=True) as lineage, WorkingReport(as_json) as report:
        worker = lineage.records.at(archive).worker(working, report, lambda: compact_day(store, archive))
        with _ending_on_signals(worker):
            tally = worker.once() if once else worker.run(until_empty=until_empty)
    report.summary(tally)


@contextmanager
def _ending_on_signals(worker: Worker) -> Iterator[None]:
    """The batch at hand is finished first. A second signal does not wait for it: nothing is lost by that either."""

    def end(number: int, _frame: Any) -> None:
        signal.signal(number, signal.SIG_DFL)
        worker.stop()

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
