"""Folders of records that Spark writes, in files of Parquet or JSON Lines, wherever its executors can write."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from headwater.pipeline.sinks.sink import RunInfo

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class FolderSink:
    """A run's records are in the folder `run_id=…`, which Spark reads as a partition column."""

    format: ClassVar[str]

    def __init__(self, path: str) -> None:
        self._path = path.rstrip("/") or path

    def open(self, run: RunInfo) -> None:
        self._run = run.run_id

    def write_frame(self, records: DataFrame) -> None:
        # Overwrites only what an earlier attempt of the same run wrote.
        records.write.mode("overwrite").format(self.format).save(f"{self._path}/run_id={self._run}")

    def close(self) -> None:
        pass


class ParquetSink(FolderSink):
    format = "parquet"


class JsonlFolderSink(FolderSink):
    format = "json"
