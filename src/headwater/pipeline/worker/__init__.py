"""Code that runs on executors, where headwater is not installed: calls a Python function row by row over Arrow batches.

Shipped by value (`pyspark.cloudpickle.register_pickle_by_value` of this package), so it imports nothing of headwater
outside this package.
"""

from headwater.pipeline.worker.failed_rows import INPUT_ROW
from headwater.pipeline.worker.function import TRACKING, RowFailed, RowFunction
from headwater.pipeline.worker.outcomes import DEAD_LETTERED, EMITTED, ERROR, FILTERED_OUT, OUTCOME_COLUMNS, RETRIED

__all__ = [
    "DEAD_LETTERED",
    "EMITTED",
    "ERROR",
    "FILTERED_OUT",
    "INPUT_ROW",
    "OUTCOME_COLUMNS",
    "RETRIED",
    "TRACKING",
    "RowFailed",
    "RowFunction",
]
