"""Folders on whatever file system Spark writes to, by Hadoop's hands: files listed, renamed, kept and removed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwater.records.archive.files import fsync_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession


def absolute_location(location: str) -> str:
    """A path of this machine is made whole; a URI stays."""
    return location if "://" in location else str(Path(location.removeprefix("file:")).absolute())


@dataclass(frozen=True, slots=True)
class HadoopFile:
    """A file: its path below the folder that was asked for, and its size."""

    path: str
    bytes: int


class HadoopFolder:
    """Paths are relative to ``location``, which is a path or a URI."""

    def __init__(self, spark: SparkSession, location: str) -> None:
        self.spark = spark
        self.location = location.rstrip("/")
        jvm: Any = spark._jvm
        self._path = jvm.org.apache.hadoop.fs.Path
        session: Any = spark._jsparkSession
        # A plain path is one of this machine, whatever Spark's own default file system is.
        self._root = self._path(self.location if "://" in self.location else f"file://{self.location}")
        system = self._root.getFileSystem(session.sessionState().newHadoopConf())
        # Hadoop puts a hidden file with checksums beside each local one, which nobody else would look after.
        self._system = system.getRawFileSystem() if hasattr(system, "getRawFileSystem") else system

    def full_path(self, path: str) -> str:
        return str(self._at(path).toString())

    def files(self, folder: str) -> list[HadoopFile]:
        """All below the folder that are not hidden, by path. One that somebody removes meanwhile may be missing."""
        return sorted(self._below(self._at(folder), ""), key=lambda file: file.path)

    def _below(self, folder: Any, prefix: str) -> Iterator[HadoopFile]:
        from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]

        try:
            entries = self._system.listStatus(folder)
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
        """All files below the folders of these kinds, whether or not they count."""
        return [f"{kind}/{file.path}" for kind in kinds for file in self.files(kind)]

    def rename(self, path: str, to: str) -> None:
        target = self._at(to)
        self._system.mkdirs(target.getParent())
        if not self._system.rename(self._at(path), target):
            raise OSError(f"{self.full_path(path)} cannot be renamed to {to}")

    def sync(self, paths: Iterable[str]) -> None:
        """Have files on disk, where that is one of this machine; others have them safe when they have them."""
        if str(self._root.toUri().getScheme()) == "file":
            fsync_files(str(self._root.toUri().getPath()), paths)

    def remove(self, paths: Iterable[str]) -> int:
        """Files, and folders with all there is in them; how many there were."""
        return sum(bool(self._system.delete(self._at(path), True)) for path in paths)

    def _at(self, path: str) -> Any:
        return self._path(self._root, path)


class ScratchFolder:
    """Frames that were computed once: as Parquet, so that no executor has to remember them.

    Steps that build on each other would otherwise be computed again and again, and what executors keep is gone with
    them.
    """

    def __init__(self, place: HadoopFolder, folder: str) -> None:
        self._place = place
        self._folder = folder
        self._count = 0

    def kept(self, frame: DataFrame) -> DataFrame:
        """The same rows, read from where they have just been written to."""
        self._count += 1
        there = self._place.full_path(f"{self._folder}/{self._count}")
        frame.write.mode("overwrite").parquet(there)
        return self._place.spark.read.schema(frame.schema).parquet(there)
