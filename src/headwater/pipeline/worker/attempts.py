"""Calls a function on the rows of one batch and records the outcome of each.

The function is called exactly once for each attempt. An error is retried; a result that does not match the schema is
not, because the function would return it again. Rows are attempted in order, then the results are converted together.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

from headwater.pipeline.worker.columns import ResultLayout, SchemaMismatch
from headwater.pipeline.worker.rows import BatchRows, Value

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Row

    from headwater.pipeline.worker.function import RowFunction

_MAX_TEXT_LENGTH = 2000


class Attempts:
    """A result of None means no row: the function returned None, or ``errors`` has an entry. Rows from position
    ``attempt_count`` on were not attempted."""

    def __init__(self, function: RowFunction, rows: BatchRows) -> None:
        self.rows = rows
        self.results: list[object] = []
        self.errors: dict[int, str] = {}
        self.retries: dict[int, int] = {}
        self.attempt_count = 0
        self.cause: Exception | None = None
        self._function = function
        self._call = self._call_many if function.many else function.fn

    @property
    def has_failed(self) -> bool:
        """Whether a row failed and `on_error` is "fail": the rows after it are not attempted."""
        return self._function.on_error == "fail" and bool(self.errors)

    def run(self) -> None:
        call, append = self._call, self.results.append
        remaining_rows = iter(self.rows)
        while True:
            try:
                for row in remaining_rows:
                    append(call(row))
                break
            except Exception as error:  # any error belongs to that row; the loop continues after it
                append(self._retry(error))
                if self.has_failed:
                    break
        self.attempt_count = len(self.results)

    def _retry(self, error: Exception) -> object:
        function, position = self._function, len(self.results)
        for retry in range(1, function.retries + 1):
            if isinstance(error, SchemaMismatch):
                break
            self.retries[position] = retry
            backoff = function.backoff
            pause = backoff(retry) if callable(backoff) else backoff * 2.0 ** (retry - 1)
            if pause > 0:
                time.sleep(pause)
            try:
                return self._call(self.rows[position])
            except Exception as retry_error:
                error = retry_error
        self.errors[position] = _error_text(error)
        self.cause = error
        return None

    def _call_many(self, row: Row) -> list[object] | None:
        """A generator may fail while it is read, which is a failure of the same attempt."""
        result: Value = self._function.fn(row)
        if result is None:
            return None
        if isinstance(result, str | bytes | dict) or hasattr(result, "asDict"):
            raise SchemaMismatch(
                f"{type(result).__name__} is one value; a flat_map function returns an iterable of rows"
            )
        return list(result)

    def columns(self, layout: ResultLayout) -> list[pa.Array]:
        """All results as columns. Results that do not match the schema become errors of their rows."""
        results = self._result_rows()
        try:
            return layout.arrays(results)
        except Exception as error:  # some value does not match: only now find out which
            mismatches = layout.mismatches(results)
            if not mismatches:
                raise
            self.cause = error
        owners = [position for position, number in enumerate(self.emissions()) for _ in range(number)]
        for number, reason in mismatches.items():
            self.errors.setdefault(owners[number], printable(f"SchemaMismatch: {reason}"))
            self.results[owners[number]] = None
        return layout.arrays(self._result_rows())

    def _result_rows(self) -> Sequence[object]:
        if self._function.many:
            return list(chain.from_iterable(result for result in self.results if isinstance(result, list)))
        return [result for result in self.results if result is not None] if self.has_empty_results else self.results

    @property
    def has_empty_results(self) -> bool:
        return len(self.results) < len(self.rows) or type(None) in map(type, self.results)

    def emissions(self) -> list[int]:
        """The number of result rows of each row."""
        if self._function.many:
            counts = [len(result) if isinstance(result, list) else 0 for result in self.results]
        else:
            counts = [0 if result is None else 1 for result in self.results]
        return counts + [0] * (len(self.rows) - len(counts))


def _error_text(error: Exception) -> str:
    try:
        text = str(error)
    except Exception:  # an exception whose __str__ raises
        text = ""
    return printable(f"{type(error).__name__}: {text}" if text else type(error).__name__)


def printable(text: str, longest: int = _MAX_TEXT_LENGTH) -> str:
    """A text without lone surrogates, which Arrow refuses, and of limited length."""
    shortened = text if len(text) <= longest else f"{text[: longest - 1]}…"
    return shortened.encode("utf-8", "backslashreplace").decode()
