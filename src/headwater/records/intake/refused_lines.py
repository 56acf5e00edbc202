"""Moves lines that a stream refused from Spark into the store's dead letters.

They are fetched before the write transaction, during which no other writer can write; beyond a few megabytes they are
spooled to disk.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from tempfile import SpooledTemporaryFile
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeGuard

from headwater.model.records import Record
from headwater.records.executor.lines import read_line
from headwater.records.intake.requests import read_request
from headwater.store.records import queue

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headwater.store.engine.database import Transaction

_MAX_MEMORY = 8 * 2**20
_CHUNK = 1_000


class RefusedLines:
    def __init__(self) -> None:
        self._spool = SpooledTemporaryFile(_MAX_MEMORY, "w+", encoding="utf-8", errors="surrogatepass")  # noqa: SIM115

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._spool.close()

    def fetch(self, refused: DataFrame) -> None:
        """Fetch rows of (line, file, landed, nth, reason), which replace those that were fetched before."""
        self._spool.seek(0)
        self._spool.truncate()
        for row in refused.select("line", "file", "landed", "nth", "reason").toLocalIterator():
            body = row.asDict()
            self._spool.write(f"{json.dumps([body, body.pop('reason')])}\n")

    def add(self, conn: Transaction, now: int) -> None:
        """Store the fetched lines as dead letters."""
        self._spool.seek(0)
        letters = self._read()
        while chunk := list(islice(letters, _CHUNK)):
            queue.add_dead_letters(conn, queue.LOAD, chunk, now)

    def _read(self) -> Iterator[tuple[object, str]]:
        for line in self._spool:
            body, reason = json.loads(line)
            yield body, reason


def is_refused_line(body: object) -> TypeGuard[Mapping[str, object]]:
    """Whether a message is a line of a request file, not a record."""
    return isinstance(body, dict) and isinstance(body.get("line"), str) and "root_id" not in body


def records_of_line(body: Mapping[str, object], landed: int) -> list[Record]:
    """The records of such a line, with the ids that the stream gives them. ValueError if one of them is refused."""
    landed_at, nth = (_integer(body.get(name, default)) for name, default in (("landed", landed), ("nth", 1)))
    records, refused = read_line(str(body["line"]), str(body.get("file", "")), landed_at, nth, read_request)
    if refused:
        raise ValueError("; ".join(refused))
    return records


def _integer(value: object) -> int:
    if isinstance(value, int | float | str):
        return int(value)
    raise ValueError(f"{value!r} is not a number")
