"""Lines that were refused, on their way from Spark into the store's dead letters.

They are fetched before the store is written to, because nobody else can write while that lasts; and however many there
are, no more of them are in memory than a file of a few megabytes holds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from tempfile import SpooledTemporaryFile
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from headwater.model.records import Record
from headwater.records.executor.lines import read_line
from headwater.records.intake.requests import read_request
from headwater.store.records import queue

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headwater.store.engine.database import Transaction

_IN_MEMORY = 8 * 2**20
_AT_ONCE = 1_000


class RefusedLines:
    def __init__(self) -> None:
        self._kept = SpooledTemporaryFile(_IN_MEMORY, "w+", encoding="utf-8", errors="surrogatepass")  # noqa: SIM115

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._kept.close()

    def fetch(self, refused: DataFrame) -> None:
        """Rows with (line, file, landed, nth, reason), in place of those that were fetched before."""
        self._kept.seek(0)
        self._kept.truncate()
        for row in refused.select("line", "file", "landed", "nth", "reason").toLocalIterator():
            told = row.asDict()
            self._kept.write(f"{json.dumps([told, told.pop('reason')])}\n")

    def add(self, conn: Transaction, now: int) -> None:
        """Have them be dead letters."""
        self._kept.seek(0)
        letters = self._read()
        while some := list(islice(letters, _AT_ONCE)):
            queue.add_dead_letters(conn, queue.LOAD, some, now)

    def _read(self) -> Iterator[tuple[Any, str]]:
        for line in self._kept:
            body, reason = json.loads(line)
            yield body, reason


def is_refused_line(body: Any) -> bool:
    """Whether a message is a line of a request file, and no record."""
    return isinstance(body, dict) and isinstance(body.get("line"), str) and "root_id" not in body


def records_of_line(body: dict[str, Any], landed: int) -> list[Record]:
    """The records of such a line, with the ids that the stream gives them. ValueError where one of them is none."""
    told = str(body.get("file", "")), int(body.get("landed", landed)), int(body.get("nth", 1))
    records, refused = read_line(body["line"], *told, read_request)
    if refused:
        raise ValueError("; ".join(refused))
    return records
