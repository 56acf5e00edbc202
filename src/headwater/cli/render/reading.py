"""A progress bar for reading files, on a terminal only."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Self

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from headwater.cli.output import console


class ReadingBar:
    def __init__(self, title: str, size: int | None) -> None:
        self._console = console(stderr=True)
        self._progress = Progress(
            TextColumn(title),
            BarColumn(),
            DownloadColumn(),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
            disable=not sys.stderr.isatty(),
        )
        self._task = self._progress.add_task("", total=size)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def progress(self, size: int) -> None:
        self._progress.advance(self._task, size)
