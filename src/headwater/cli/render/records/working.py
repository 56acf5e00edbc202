"""What `records work` shows while it works, and says at the end."""

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
from headwater.records.intake.worker import Tally


class WorkingReport:
    """On a terminal a line that lives; elsewhere only what somebody should know."""

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

    def progress(self, tally: Tally) -> None:
        if self._live:
            rate = tally.loaded / max(time.monotonic() - self._began, 0.001)
            self._status.update(f"{_words(tally)} ({rate:,.0f} records/s)")

    def said(self, line: str) -> None:
        self._console.print(Text(printable(line)), soft_wrap=True)

    def summary(self, tally: Tally) -> None:
        if self._as_json:
            print_json(asdict(tally))
        else:
            console().print(Text(f"{_words(tally)}."))


def _words(tally: Tally) -> str:
    words = [f"{count_of(tally.loaded, 'record')} loaded", f"{count_of(tally.traced, 'root')} archived"]
    words += [f"{tally.failed:,} failed"] if tally.failed else []
    words += [count_of(tally.dead, "dead letter")] if tally.dead else []
    words += [count_of(tally.compactions, "compaction")] if tally.compactions else []
    words += [f"{count_of(tally.expired, 'hot record')} expired"] if tally.expired else []
    return ", ".join(words)
