"""Writes the folder of one output's pair tables."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from headwater.redaction.redactor import Redactor
from headwater.rows.pairs.facet import PairTable
from headwater.rows.pairs.layout import FILES, MARKER_FILE
from headwater.rows.provenance import PlanSource, RowProvenance

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from headwater.jvm import JavaClasses, JavaObject

_PARQUET = {
    "compression": "zstd",
    "parquet.writer.version": "v2",
    "parquet.enable.dictionary": "false",
    # Small row groups: their statistics are what a lookup skips by. Parquet applies a limit of rows since 1.14.
    "parquet.block.row.count.limit": "122880",
    "parquet.block.size": str(4 * 2**20),
}


class PairTableWriter:
    def __init__(
        self, spark: SparkSession, classes: JavaClasses, folder: str, redactor: Redactor | None = None
    ) -> None:
        """``redactor`` removes secrets from descriptions of the tables, such as paths."""
        self._spark = spark
        self._redactor = redactor or Redactor()
        self._classes = classes
        self._root = self._folder(folder)
        self.location = str(self._root.location())
        self.tables: dict[str, PairTable] = {}

    def write(self, name: str, frame: DataFrame, repeated: Sequence[str]) -> DataFrame:
        """Writes a table and returns it. ``repeated`` are the columns with repeated values."""
        path = f"{self.location}/{name}"
        options = {**_PARQUET, **{f"parquet.enable.dictionary#{column}": "true" for column in repeated}}
        frame.write.mode("overwrite").options(**options).parquet(path)
        self.tables[name] = PairTable.of(json.loads(self._folder(path).facts()))
        return self._spark.read.schema(frame.schema).parquet(path)

    def write_files(self, provenance: RowProvenance) -> str:
        """Writes by source the file that each number stands for. Returns the digest of the file."""
        paths = self._classes.new("PathNumbers")
        numbers = {
            str(source.number): json.loads(paths.numbered(_paths(provenance, source)))
            for source in provenance.sources
            if source.id in ("position", "table position")
        }
        text = json.dumps(self._redactor.document(numbers))
        self._root.write(FILES, text)
        return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"

    def finish(self, entry: Mapping[str, object]) -> None:
        """Writes the marker file, last: a folder without it is never read."""
        self._root.write(MARKER_FILE, json.dumps(self._redactor.document(entry)))

    def remove(self) -> None:
        self._root.remove()

    def _folder(self, path: str) -> JavaObject:
        context: JavaObject = self._spark.sparkContext._jsc
        return self._classes.new("ParquetFolder", context.hadoopConfiguration(), path)


def _paths(provenance: RowProvenance, source: PlanSource) -> list[str]:
    """The paths in both spellings that rows may have: Spark versions write `file:///` or `file:/`."""
    frame = provenance.source_frame(source.number)
    listed = frame.inputFiles() if source.id == "position" else []
    if listed:
        return list(
            dict.fromkeys(spelling for path in listed for spelling in (path, path.replace("file:///", "file:/", 1)))
        )
    return [row[0] for row in frame.select(source.file).distinct().collect()]
