"""What `ingest` says while it works and at the end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from rich.text import Text

from headwater.cli.events import STDIN, Found, Unreadable
from headwater.cli.intake import Counts
from headwater.cli.output import console, print_json
from headwater.cli.render.reading import ReadingBar
from headwater.cli.text import counted, printable
from headwater.model.plain import plain
from headwater.model.runs import Problem


class IntakeReport(ReadingBar):
    """For a person, what is wrong goes to stderr as it is met; for a program, into one document at the end."""

    def __init__(self, size: int | None, verbose: bool, as_json: bool) -> None:
        super().__init__("Ingesting events", size)
        self._verbose = verbose
        self._as_json = as_json
        self._flagged: list[dict[str, Any]] = []
        self._refused: list[dict[str, Any]] = []

    def flagged(self, event: Found, problems: Iterable[Problem]) -> None:
        if self._as_json:
            self._flagged.append(_place(event) | {"problems": plain(list(problems))})
        elif self._verbose:
            for problem in problems:
                self._say(f"Flagged {_words(event)}, {problem.path}: {problem.reason}")

    def refused(self, event: Found | Unreadable, path: str, reason: str) -> None:
        if self._as_json:
            self._refused.append(_place(event) | {"path": path, "reason": reason})
        elif isinstance(event, Unreadable):
            self._say(f"Error: {_file(event.file)} {reason}.")
        else:
            self._say(f"Refused {_words(event)}, {path}: {reason}")

    def summary(self, counts: Counts) -> None:
        if self._as_json:
            print_json(asdict(counts) | {"flagged": self._flagged, "refused": self._refused})
            return
        words = [
            counted(counts.taken, "event") + " taken",
            counted(counts.duplicates, "duplicate"),
            f"{counts.flagged:,} flagged",
            f"{counts.refused:,} refused",
        ]
        hint = (
            " Flagged events are off-specification; --verbose says how." if counts.flagged and not self._verbose else ""
        )
        console().print(Text(", ".join(words) + "." + hint))

    def _say(self, message: str) -> None:
        self._console.print(Text(printable(message)), soft_wrap=True)


def _place(event: Found | Unreadable) -> dict[str, Any]:
    if isinstance(event, Unreadable):
        return {"file": event.file, "index": None, "line": None}
    return {"file": event.file, "index": event.index, "line": event.line}


def _words(event: Found) -> str:
    where = f"line {event.line}" if event.line is not None else f"event [{event.index}]"
    return f"{_file(event.file)} {where}"


def _file(file: str) -> str:
    return "stdin" if file == STDIN else file
