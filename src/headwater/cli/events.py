"""Reads events from files: one event, a JSON array of events, or JSON lines.

JSON lines are read line by line, so a file can be of any size; a JSON document is read whole.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from io import BytesIO
from itertools import chain
from typing import IO

from headwater.cli.failures import CliError
from headwater.cli.text import printable

STDIN = "-"
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class FileEvent:
    """One event of a file, not parsed yet."""

    file: str
    index: int
    """Number of events before it in the file."""
    line: int | None
    """Its line, if the file is JSON lines."""
    raw: bytes | Mapping[str, object]
    size: int
    """Its share of the file size, in bytes."""


@dataclass(frozen=True, slots=True)
class UnreadableFile:
    """A file without events."""

    file: str
    reason: str


def check_files(files: Iterable[str]) -> None:
    """Check that all files are readable before any of them is ingested."""
    for file in files:
        if file == STDIN:
            continue
        try:
            mode = os.stat(file).st_mode
            if stat.S_ISDIR(mode):
                raise CliError(f"{file} is a folder, not a file of events.")
            if stat.S_ISREG(mode):  # opening and closing a pipe would break it
                with open(file, "rb"):
                    pass
        except (OSError, ValueError) as error:
            raise CliError(f"Cannot read {file}: {_reason(error)}.") from None


def total_size(files: Iterable[str]) -> int | None:
    """Return the size of all files in bytes; None if it is not known beforehand."""
    total = 0
    for file in files:
        mode = os.stat(file) if file != STDIN else None
        if mode is None or not stat.S_ISREG(mode.st_mode):
            return None
        total += mode.st_size
    return total


def read_files(files: Iterable[str]) -> Iterator[FileEvent | UnreadableFile]:
    for file in files:
        try:
            with _open(file) as stream:
                yield from _read(file, stream)
        except OSError as error:
            yield UnreadableFile(file, f"cannot be read: {_reason(error)}")


def _open(file: str) -> AbstractContextManager[IO[bytes]]:
    return nullcontext(sys.stdin.buffer) if file == STDIN else open(file, "rb")


def _read(file: str, stream: IO[bytes]) -> Iterator[FileEvent | UnreadableFile]:
    blank: list[bytes] = []
    for line in stream:
        blank.append(line)
        if line.removeprefix(_BOM).strip():
            break
    first = blank[-1].removeprefix(_BOM) if blank else b""
    if not first.strip():
        return
    if not first.lstrip().startswith(b"[") and _is_object(first):
        yield from _lines(file, chain(blank, stream))
        return
    yield from _document(file, b"".join(blank) + stream.read())


def _document(file: str, text: bytes) -> Iterator[FileEvent | UnreadableFile]:
    try:
        document = json.loads(text.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        # Perhaps the file is JSON lines with an invalid first line.
        if any(_is_object(line) for line in BytesIO(text)):
            yield from _lines(file, BytesIO(text))
        else:
            yield UnreadableFile(file, _json_error(error))
        return
    if isinstance(document, list):
        share = len(text) // max(len(document), 1)
        for index, event in enumerate(document):
            # Anything but an object is passed on as text; the store refuses it with its own message.
            raw = event if isinstance(event, dict) else json.dumps(event).encode()
            yield FileEvent(file, index, None, raw, share)
    elif isinstance(document, dict):
        yield FileEvent(file, 0, None, text, len(text))
    else:
        yield UnreadableFile(file, "holds neither an event nor a list of events")


def _lines(file: str, lines: Iterable[bytes]) -> Iterator[FileEvent]:
    index = 0
    for number, line in enumerate(lines, 1):
        raw = line.strip() if number > 1 else line.removeprefix(_BOM).strip()
        if raw:
            yield FileEvent(file, index, number, raw, len(line))
            index += 1


def _is_object(line: bytes) -> bool:
    if not line.lstrip().startswith(b"{"):
        return False
    try:
        return bool(json.loads(line))
    except (ValueError, RecursionError):
        return False


def _json_error(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"is not UTF-8 ({error.reason} at byte {error.start})"
    if isinstance(error, RecursionError):
        return "is nested too deeply to read"
    return f"is not JSON ({error})"


def _reason(error: Exception) -> str:
    reason = error.strerror if isinstance(error, OSError) else None
    return printable(reason or str(error))
