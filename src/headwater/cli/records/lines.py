"""Sends the requests of a file of JSON lines, a few thousand per transaction, whatever the size of the file."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import islice
from typing import IO, NamedTuple, Protocol

from headwater.cli.events import STDIN
from headwater.model.records import AcceptedRecord
from headwater.records.ledger import Records

_BATCH = 5_000


class RequestLine(NamedTuple):
    number: int
    size: int
    request: object
    reason: str | None
    """Why the line is not JSON, if it is not."""


class SendObserver(Protocol):
    """Receives each result as it happens, so that little has to be kept in memory."""

    def progress(self, size: int) -> None: ...
    def taken(self, file: str, line: int, record: AcceptedRecord) -> None: ...
    def refused(self, file: str, line: int, record: int | None, reason: str) -> None: ...


def send_lines(records: Records, file: str, observer: SendObserver) -> None:
    with nullcontext(sys.stdin.buffer) if file == STDIN else open(file, "rb") as lines:
        for batch in _batches(lines):
            readable = [line for line in batch if line.reason is None]
            sent = records.send([line.request for line in readable])
            for accepted in sent.taken:
                observer.taken(file, readable[accepted.index].number, accepted)
            refused: dict[int, list[tuple[int | None, str]]]
            refused = {line.number: [(None, line.reason)] for line in batch if line.reason is not None}
            for refusal in sent.refused:
                refused.setdefault(readable[refusal.index].number, []).append((refusal.record, refusal.reason))
            for number, reasons in sorted(refused.items()):
                for record, reason in reasons:
                    observer.refused(file, number, record, reason)
            observer.progress(sum(line.size for line in batch))


def _batches(lines: IO[bytes]) -> Iterator[list[RequestLine]]:
    read = _lines(lines)
    while batch := list(islice(read, _BATCH)):
        yield batch


def _lines(lines: IO[bytes]) -> Iterator[RequestLine]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            yield RequestLine(number, len(line), json.loads(line), None)
        except json.JSONDecodeError as error:
            yield RequestLine(number, len(line), None, f"it is not JSON: {error.msg} at character {error.pos + 1}")
        except UnicodeDecodeError:
            yield RequestLine(number, len(line), None, "it is not UTF-8")
        except (ValueError, RecursionError) as error:  # a number with too many digits, or lists nested too deeply
            yield RequestLine(number, len(line), None, f"it cannot be read: {error}")
