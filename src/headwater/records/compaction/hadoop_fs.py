"""A folder on any file system that Spark writes to, through Hadoop's API: lists, renames, syncs and removes files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.jvm import JavaObject, gateway_of
from headwater.records.archive.files import fsync_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession


def absolute_location(location: str) -> str:
    """The absolute path of a local path; a URI is returned unchanged."""
    return location if "://" in location else str(Path(location.removeprefix("file:")).absolute())


@dataclass(frozen=True, slots=True)
class HadoopFile:
    """A file: its path below the listed folder, and its size."""

    path: str
    bytes: int


class HadoopFolder:
    """Paths are relative to ``location``, which is a path or a URI."""

    def __init__(self, spark: SparkSession, location: str) -> None:
        self.spark = spark
        self.location = location.rstrip("/")
        self._path = gateway_of(spark.sparkContext).jvm.org.apache.hadoop.fs.Path
        session: JavaObject = spark._jsparkSession
        # A plain path is local, whatever Spark's default file system is.
        self._root: JavaObject = self._path(self.location if "://" in self.location else f"file://{self.location}")
        system: JavaObject = self._root.getFileSystem(session.sessionState().newHadoopConf())
        # Hadoop's local file system adds a hidden checksum file to each file, which nothing else would remove.
        self._system: JavaObject = system.getRawFileSystem() if hasattr(system, "getRawFileSystem") else system

    def full_path(self, path: str) -> str:
        return str(self._hadoop_path(path).toString())

    def files(self, folder: str) -> list[HadoopFile]:
        """All files below the folder that are not hidden, by path. One that is removed meanwhile may be missing."""
        return sorted(self._below(self._hadoop_path(folder), ""), key=lambda file: file.path)

    def _below(self, folder: JavaObject, prefix: str) -> Iterator[HadoopFile]:
        from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]

        try:
            entries: JavaObject = self._system.listStatus(folder)
        except Py4JJavaError as error:
            if error.java_exception.getClass().getName() != "java.io.FileNotFoundException":
                raise
            return
        for entry in entries:
            name = str(entry.getPath().getName())
            if name.startswith(("_", ".")):
                continue
            if entry.isDirectory():
                yield from self._below(entry.getPath(), f"{prefix}{name}/")
            else:
                yield HadoopFile(f"{prefix}{name}", int(entry.getLen()))

    def list_files(self, kinds: Sequence[str]) -> list[str]:
        """All files below the folders of these kinds, whether or not a commit names them."""
        return [f"{kind}/{file.path}" for kind in kinds for file in self.files(kind)]

    def rename(self, path: str, to: str) -> None:
        target = self._hadoop_path(to)
        self._system.mkdirs(target.getParent())
        if not self._system.rename(self._hadoop_path(path), target):
            raise OSError(f"{self.full_path(path)} cannot be renamed to {to}")

    def sync(self, paths: Iterable[str]) -> None:
        """Sync local files to disk; other file systems return from a write when the file is durable."""
        if str(self._root.toUri().getScheme()) == "file":
            fsync_files(str(self._root.toUri().getPath()), paths)

    def remove(self, paths: Iterable[str]) -> int:
        """Remove files, and folders with their contents; returns how many of the paths existed."""
        return sum(bool(self._system.delete(self._hadoop_path(path), True)) for path in paths)

    def _hadoop_path(self, path: str) -> JavaObject:
        hadoop_path: JavaObject = self._path(self._root, path)
        return hadoop_path


class ScratchFolder:
    """Intermediate DataFrames, stored as Parquet.

    Without it, steps that build on each other would be computed again and again; Spark's cache would be lost with its
    executors.
    """

    def __init__(self, archive_folder: HadoopFolder, path: str) -> None:
        self._archive_folder = archive_folder
        self._path = path
        self._count = 0

    def materialize(self, frame: DataFrame) -> DataFrame:
        """Write the frame, and return one that reads the written rows."""
        self._count += 1
        path = self._archive_folder.full_path(f"{self._path}/{self._count}")
        frame.write.mode("overwrite").parquet(path)
        return self._archive_folder.spark.read.schema(frame.schema).parquet(path)
