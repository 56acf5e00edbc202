"""Progress and results of `records send`."""

from __future__ import annotations

from rich.text import Text

from headwater.cli.events import STDIN
from headwater.cli.output import console, print_json
from headwater.cli.render.reading import ReadingBar
from headwater.cli.text import count_of, printable
from headwater.model.records import AcceptedRecord


class SendingReport(ReadingBar):
    """Prints refusals to stderr as they come; with ``as_json`` one document at the end instead."""

    def __init__(self, size: int | None, as_json: bool) -> None:
        super().__init__("Sending records", size)
        self.refusals = 0
        self._count = 0
        self._as_json = as_json
        self._taken: list[str] = []
        self._refused: list[dict[str, object]] = []

    def taken(self, file: str, line: int, record: AcceptedRecord) -> None:
        self._count += 1
        if self._as_json:
            self._taken.append(record.node_id)

    def refused(self, file: str, line: int, record: int | None, reason: str) -> None:
        self.refusals += 1
        if self._as_json:
            self._refused.append({"file": file, "line": line, "record": record, "reason": reason})
            return
        where = f"{'stdin' if file == STDIN else file} line {line}" + ("" if record is None else f", record {record}")
        self._console.print(Text(printable(f"Refused {where}: {reason}")), soft_wrap=True)

    def summary(self) -> None:
        if self._as_json:
            print_json({"taken": self._count, "node_ids": self._taken, "refused": self._refused})
        else:
            console().print(Text(f"{count_of(self._count, 'record')} accepted, {self.refusals:,} refused."))
