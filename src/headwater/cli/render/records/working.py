"""Progress and results of `records work`."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict
from types import TracebackType
from typing import Self

from rich.status import Status
from rich.text import Text

from headwater.cli.output import console, print_json
from headwater.cli.text import count_of, printable
from headwater.records.intake.worker import WorkerTotals


class WorkingReport:
    """A live line on a terminal; elsewhere only messages."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self._console = console(stderr=True)
        self._status = Status("Waiting for records", console=self._console)
        self._live = sys.stderr.isatty()
        self._began = time.monotonic()

    def __enter__(self) -> Self:
        if self._live:
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._status.stop()

    def progress(self, totals: WorkerTotals) -> None:
        if self._live:
            rate = totals.loaded / max(time.monotonic() - self._began, 0.001)
            self._status.update(f"{_words(totals)} ({rate:,.0f} records/s)")

    def message(self, line: str) -> None:
        self._console.print(Text(printable(line)), soft_wrap=True)

    def summary(self, totals: WorkerTotals) -> None:
        if self._as_json:
            print_json(asdict(totals))
        else:
            console().print(Text(f"{_words(totals)}."))


def _words(totals: WorkerTotals) -> str:
    words = [f"{count_of(totals.loaded, 'record')} loaded", f"{count_of(totals.traced, 'root')} archived"]
    words += [f"{totals.failed:,} failed"] if totals.failed else []
    words += [count_of(totals.dead, "dead letter")] if totals.dead else []
    words += [count_of(totals.compactions, "compaction")] if totals.compactions else []
    words += [f"{count_of(totals.expired, 'hot record')} expired"] if totals.expired else []
    return ", ".join(words)
