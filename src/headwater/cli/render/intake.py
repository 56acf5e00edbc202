"""Progress and results of `ingest`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from rich.text import Text

from headwater.cli.events import STDIN, FileEvent, UnreadableFile
from headwater.cli.intake import IngestCounts
from headwater.cli.output import console, print_json
from headwater.cli.render.reading import ReadingBar
from headwater.cli.text import count_of, printable
from headwater.model.plain import plain
from headwater.model.runs import Problem


class PrintedReport(ReadingBar):
    """Prints problems to stderr as they occur; with ``as_json`` one document at the end instead."""

    def __init__(self, size: int | None, verbose: bool, as_json: bool) -> None:
        super().__init__("Ingesting events", size)
        self._verbose = verbose
        self._as_json = as_json
        self._flagged: list[dict[str, object]] = []
        self._refused: list[dict[str, object]] = []

    def flagged(self, event: FileEvent, problems: Iterable[Problem]) -> None:
        if self._as_json:
            self._flagged.append(_location_members(event) | {"problems": plain(list(problems))})
        elif self._verbose:
            for problem in problems:
                self._print(f"Flagged {_location(event)}, {problem.path}: {problem.reason}")

    def refused(self, event: FileEvent | UnreadableFile, path: str, reason: str) -> None:
        if self._as_json:
            self._refused.append(_location_members(event) | {"path": path, "reason": reason})
        elif isinstance(event, UnreadableFile):
            self._print(f"Error: {_file(event.file)} {reason}.")
        else:
            self._print(f"Refused {_location(event)}, {path}: {reason}")

    def summary(self, counts: IngestCounts) -> None:
        if self._as_json:
            print_json(asdict(counts) | {"flagged": self._flagged, "refused": self._refused})
            return
        words = [
            count_of(counts.taken, "event") + " ingested",
            count_of(counts.duplicates, "duplicate"),
            f"{counts.flagged:,} flagged",
            f"{counts.refused:,} refused",
        ]
        hint = (
            " Flagged events are off-specification; --verbose says how." if counts.flagged and not self._verbose else ""
        )
        console().print(Text(", ".join(words) + "." + hint))

    def _print(self, message: str) -> None:
        self._console.print(Text(printable(message)), soft_wrap=True)


def _location_members(event: FileEvent | UnreadableFile) -> dict[str, object]:
    if isinstance(event, UnreadableFile):
        return {"file": event.file, "index": None, "line": None}
    return {"file": event.file, "index": event.index, "line": event.line}


def _location(event: FileEvent) -> str:
    where = f"line {event.line}" if event.line is not None else f"event [{event.index}]"
    return f"{_file(event.file)} {where}"


def _file(file: str) -> str:
    return "stdin" if file == STDIN else file
