"""A Python function for `mapInArrow`: with its results alone, or with the outcome of each row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from headwater.pipeline.worker.attempts import Attempts, printable
from headwater.pipeline.worker.columns import ResultLayout
from headwater.pipeline.worker.failed_rows import INPUT_ROW, failed_row_structs
from headwater.pipeline.worker.outcomes import outcome_batch
from headwater.pipeline.worker.rows import BatchRows, row_class

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Row

TRACKING = "__hw_"
"""The prefix of Headwater's own columns."""

_MAX_BATCH_ROWS = 1000
"""Maximum number of rows in a batch for a function that may return many rows for each."""


class RowFailed(Exception):
    """The function failed on a row, and `on_error` is "fail"."""


class RowFunction:
    """``schema`` is the declared one, in Arrow's types; naive times are in the time zone that it names.

    ``backoff`` is in seconds, doubled for each further retry, or a function of the number of the retry.
    """

    def __init__(
        self,
        fn: Callable[[Row], object],
        columns: Sequence[str],
        schema: pa.Schema,
        many: bool = False,
        retries: int = 0,
        backoff: float | Callable[[int], float] = 0.0,
        *,
        on_error: str = "fail",
        node: str,
    ) -> None:
        self.fn = fn
        self.columns = tuple(columns)
        self.schema = schema
        self.many = many
        self.retries = retries
        self.backoff = backoff
        self.on_error = on_error
        self.node = node

    def map_rows(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The results alone. The first failure fails the task, unless failed rows are skipped."""
        import pyarrow as pa

        if self.on_error == "dead_letter":
            raise ValueError(f"Node '{self.node}' has dead letters, which only map_rows_with_outcomes() can return")
        layout, kind = ResultLayout(self.schema), row_class(self.columns)
        for batch in self._split_batches(batches):
            attempts = Attempts(self, BatchRows(batch.columns, kind, batch.num_rows))
            attempts.run()
            columns = attempts.columns(layout)
            if attempts.has_failed:
                position = min(attempts.errors)
                row_text = printable(repr(attempts.rows[position]), 500)
                raise RowFailed(
                    f"Node '{self.node}' failed on {row_text}: {attempts.errors[position]}"
                ) from attempts.cause
            yield pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def map_rows_with_outcomes(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Results with outcomes: a row for each result row, or one row with the outcome alone.

        A failure that must fail the run is recorded instead of raised, so that the outcomes of the other rows are
        known; the rows after it are not attempted, and their outcome is 0. Rows that were processed before another
        result turned out not to match the schema keep their outcome. If failed rows become dead letters, the last
        tracking column is the input row of those.
        """
        layout, kind = ResultLayout(self.schema), row_class(self.columns)
        stopped = False
        for batch in self._split_batches(batches):
            named = list(zip(batch.schema.names, batch.columns, strict=True))
            tracking = {name: column for name, column in named if name.startswith(TRACKING)}
            user_columns = [column for name, column in named if not name.startswith(TRACKING)]
            attempts = Attempts(self, BatchRows(user_columns, kind, batch.num_rows))
            if not stopped:
                attempts.run()
            results = attempts.columns(layout)
            if self.on_error == "dead_letter":
                tracking[INPUT_ROW] = failed_row_structs(user_columns, self.columns, batch.num_rows, attempts.errors)
            stopped = stopped or attempts.has_failed
            yield outcome_batch(self, tracking, attempts, results)

    def _split_batches(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if self.many and batch.num_rows > _MAX_BATCH_ROWS:
                yield from (batch.slice(start, _MAX_BATCH_ROWS) for start in range(0, batch.num_rows, _MAX_BATCH_ROWS))
            else:
                yield batch
