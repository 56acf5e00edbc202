"""Stored lists of files, and the check whether the files have changed."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from headwater.errors import KeptPlanRefused

MAX_FILES = 20_000
_SIZE_LIMIT = 2**63
_TIME_LIMIT = 253_402_300_800_000  # milliseconds: the year 10000
_MAX_LIST_BYTES = 64 * 2**20  # bytes of a list, before it is compressed


@dataclass(frozen=True, slots=True)
class PinnedFile:
    path: str
    """As Hadoop spells it: `file:/data/a b/part-0.parquet`, with nothing escaped."""
    size: int
    time: int
    """When it was last changed, in milliseconds since 1970."""


def read_file_list(listing: Mapping[str, Any]) -> tuple[PinnedFile, ...]:
    """The files of a list `{count, list}`, by path."""
    inflating = zlib.decompressobj()
    try:
        text = inflating.decompress(base64.b64decode(listing["list"], validate=True), _MAX_LIST_BYTES)
        lines = text.decode().split("\0")[:-1] if inflating.eof else None  # NUL is in no path
        files = None if lines is None else tuple(_parse_line(line) for line in lines)
    except (KeyError, TypeError, ValueError, zlib.error) as error:
        raise KeptPlanRefused(f"a list of files cannot be read: {error}") from error
    if files is None or len(files) != listing.get("count"):
        raise KeptPlanRefused("a list of files is not as long as it says")
    return files


def _parse_line(line: str) -> PinnedFile:
    size, time, path = line.split("\t", 2)
    file = PinnedFile(path, int(size), int(time))
    if not 0 <= file.size < _SIZE_LIMIT or not 0 <= file.time < _TIME_LIMIT:
        raise ValueError("a size or a time that no file has")
    return file


def describe_changes(files: Sequence[PinnedFile], now: Iterable[str]) -> list[str]:
    """The files that changed. ``now`` has a text for each file: "size<TAB>time", empty for a missing one."""
    texts = []
    for file, text in zip(files, now, strict=True):
        if not text:
            texts.append(f"{file.path} is gone")
            continue
        size, time = map(int, text.split("\t"))
        if size != file.size:
            texts.append(f"{file.path} has {size:,} bytes, not {file.size:,}")
        elif time != file.time:
            texts.append(f"{file.path} was changed at {_format_time(time)}, not {_format_time(file.time)}")
    return texts


def _format_time(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
