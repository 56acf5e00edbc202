"""Fresh records and what the archive already holds of their roots: what is new, and which files have to be replaced.

A root that is archived already is rebuilt whole, from the archived records and the fresh ones; the files that hold its
old traces are written anew without them. No other file is touched, and no other column of it is read than the roots.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.model.records import key_of_id
from headwater.records.archive.archive import JSONL, RECORDS, Archive, ArchiveFile
from headwater.records.compaction.writing import ROOT_EXPRESSIONS, read
from headwater.records.tracing.spark_traces import RECORD_COLUMNS, TRACE_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from headwater.records.compaction.hadoop_fs import HadoopFolder, ScratchFolder

_SAME = ["root_id", "node_id", "digest"]
_FEW = 1_000
"""Roots that are looked for in the books before files are opened: of many there is something in nearly every file."""


@dataclass(frozen=True)
class RecordSplit:
    """``new`` are the records that the archive does not have, ``archived`` all that it has of their roots."""

    new: DataFrame
    there: int
    """How many were in the archive already."""
    archived: DataFrame | None


@dataclass(frozen=True)
class ReplacedFiles:
    """Files of one kind that hold traces which have to go, and the rows in them that have to stay."""

    paths: Sequence[str] = ()
    staying: DataFrame | None = None


@dataclass
class ArchiveMerge:
    """Of one compaction, with the archive as it was when that began."""

    place: HadoopFolder
    scratch: ScratchFolder
    archive: Archive
    _live: dict[str, list[ArchiveFile]] = field(default_factory=dict)

    def live_files(self, kind: str) -> list[ArchiveFile]:
        if kind not in self._live:
            self._live[kind] = self.archive.live_files(kind)
        return self._live[kind]

    def split_new(self, fresh: DataFrame) -> RecordSplit:
        """``fresh`` is evaluated more than once. It may hold a record twice, or one that is archived."""
        holding = self._holding(RECORDS, fresh.select("root_id").distinct()) if self.live_files(RECORDS) else []
        if not holding:
            return RecordSplit(fresh, 0, None)
        roots = fresh.select("root_id").distinct()
        archived = self.scratch.kept(read(self.place, RECORDS, holding).join(roots, "root_id", "left_semi"))
        known = archived.select(*_SAME)
        there = fresh.join(known, _SAME, "left_semi").count()
        new = fresh.join(known, _SAME, "left_anti").select(*RECORD_COLUMNS, "day")
        return RecordSplit(new, there, archived.select(*RECORD_COLUMNS))

    def replaced(self, kind: str, roots: DataFrame) -> ReplacedFiles:
        """What has to be written anew when these roots are."""
        holding = self._holding(kind, roots) if self.live_files(kind) else []
        if not holding:
            return ReplacedFiles()
        from pyspark.sql import functions as F

        rows = read(self.place, kind, holding)
        columns = ["value"] if kind == JSONL else list(TRACE_COLUMNS)
        named = rows.withColumn("_root", F.expr(ROOT_EXPRESSIONS[kind]))
        staying = named.join(roots.toDF("_root"), "_root", "left_anti").select(*columns, "day")
        return ReplacedFiles(holding, staying)

    def _holding(self, kind: str, roots: DataFrame) -> list[str]:
        """The live files that hold one of these roots."""
        from pyspark.sql import functions as F

        files = self.live_files(kind)
        few = [row[0] for row in roots.limit(_FEW + 1).collect()]
        if len(few) <= _FEW:
            files = self.archive.files_that_may_hold(files, [key_of_id(root) for root in few])
        if not files:
            return []
        rows = read(self.place, kind, [file.path for file in files])
        named = rows.select(F.expr(ROOT_EXPRESSIONS[kind]).alias("root_id"), F.col("_metadata.file_name").alias("file"))
        found = named.join(roots.toDF("root_id"), "root_id", "left_semi").select("file").distinct().collect()
        names = {row.file for row in found}
        return [file.path for file in files if file.path.rpartition("/")[2] in names]
