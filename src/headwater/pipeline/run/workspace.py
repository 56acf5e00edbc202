"""The folder of a run: results that must not be computed twice, and item rows, as Parquet that Spark writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from headwater.capture.events.row_capture import INTERNAL_JOB_TAG, KEPT_TABLE_JOB_TAG
from headwater.jvm import JavaObject, gateway_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class Workspace:
    """The run's own folder below ``location``, which may be any path that Spark and its executors can write."""

    spark: SparkSession
    location: str
    run_id: str
    pipeline_id: str

    @property
    def folder(self) -> str:
        return f"{self.location.rstrip('/')}/{self.run_id}"

    @property
    def items(self) -> str:
        return f"{self.folder}/items"

    def table(self, node: str) -> str:
        """The folder for stored rows of a node. The name is quoted, because a node may have any name."""
        return f"{self.folder}/nodes/{quote(node, safe='')}"

    def keep(self, node: str, rows: DataFrame) -> DataFrame:
        """Stores the rows and returns a frame that reads them, so that their query never runs again."""
        with self.tag_jobs(KEPT_TABLE_JOB_TAG):
            return self.write_and_read(
                rows, self.table(node), [name for name in rows.columns if name.startswith("__hw_i")]
            )

    def write_and_read(self, rows: DataFrame, path: str, unique_columns: Iterable[str] = ()) -> DataFrame:
        """Writes the rows and returns a frame that reads them. ``unique_columns``: columns with a different value in
        every row, for which a dictionary is useless."""
        options = {f"parquet.enable.dictionary#{name}": "false" for name in unique_columns}
        rows.write.mode("error").options(**options).parquet(path)
        return self.spark.read.schema(rows.schema).parquet(path)

    @contextmanager
    def tag_own_jobs(self) -> Iterator[None]:
        with self.tag_jobs(INTERNAL_JOB_TAG):
            yield

    @contextmanager
    def tag_jobs(self, tag: str) -> Iterator[None]:
        self.spark.sparkContext.addJobTag(tag)
        try:
            yield
        finally:
            with suppress(Exception):  # the session may have ended
                self.spark.sparkContext.removeJobTag(tag)

    def absolute(self, path: str) -> str:
        """The path as Spark names it."""
        hadoop, system = hadoop_path(self.spark, path)
        return str(system.makeQualified(hadoop).toString())

    def write_text(self, path: str, text: str) -> None:
        hadoop, system = hadoop_path(self.spark, path)
        stream: JavaObject = system.create(hadoop)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()

    def remove(self, folder: str) -> None:
        hadoop, system = hadoop_path(self.spark, folder)
        system.delete(hadoop, True)


def hadoop_path(spark: SparkSession, path: str) -> tuple[JavaObject, JavaObject]:
    """The path as Hadoop's API takes it, and its file system."""
    hadoop: JavaObject = gateway_of(spark.sparkContext).jvm.org.apache.hadoop.fs.Path(path)
    java_context: JavaObject = spark.sparkContext._jsc
    return hadoop, hadoop.getFileSystem(java_context.hadoopConfiguration())
