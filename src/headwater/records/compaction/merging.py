"""Merges new records with the archive: which records it does not have yet, and which of its files are replaced.

A root that is archived already is rebuilt from its archived and its new records; the files with its old traces are
rewritten without them. Other files are not touched, and only their column of roots is read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.model.record_schema import IDENTITY
from headwater.model.records import key_of_id
from headwater.records.archive.archive import JSONL, RECORDS, Archive, ArchiveFile
from headwater.records.compaction.writing import ROOT_EXPRESSIONS, read
from headwater.records.tracing.spark_traces import RECORD_COLUMNS, TRACE_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from headwater.records.compaction.hadoop_fs import HadoopFolder, ScratchFolder

_MAX_LOOKED_UP_ROOTS = 1_000
"""Up to this many roots the catalog is asked which files may hold them: of more, nearly every file holds one."""


@dataclass(frozen=True)
class RecordSplit:
    """``new`` are the records that the archive does not have, ``archived`` all archived records of their roots."""

    new: DataFrame
    already_archived: int
    """The number of records that are archived already."""
    archived: DataFrame | None


@dataclass(frozen=True)
class ReplacedFiles:
    """Files of one kind with outdated traces, and the rows in them that stay."""

    paths: Sequence[str] = ()
    kept_rows: DataFrame | None = None


@dataclass
class ArchiveMerge:
    """The merge of one compaction, with the archive as it was when the compaction began."""

    folder: HadoopFolder
    scratch: ScratchFolder
    archive: Archive
    _live: dict[str, list[ArchiveFile]] = field(default_factory=dict)

    def live_files(self, kind: str) -> list[ArchiveFile]:
        if kind not in self._live:
            self._live[kind] = self.archive.live_files(kind)
        return self._live[kind]

    def split_new(self, fresh: DataFrame) -> RecordSplit:
        """Split ``fresh``, which may contain archived records. It is evaluated more than once."""
        paths = self._files_with_roots(RECORDS, fresh.select("root_id").distinct()) if self.live_files(RECORDS) else []
        if not paths:
            return RecordSplit(fresh, 0, None)
        roots = fresh.select("root_id").distinct()
        archived = self.scratch.materialize(read(self.folder, RECORDS, paths).join(roots, "root_id", "left_semi"))
        archived_identities = archived.select(*IDENTITY)
        already_archived = fresh.join(archived_identities, IDENTITY, "left_semi").count()
        new = fresh.join(archived_identities, IDENTITY, "left_anti").select(*RECORD_COLUMNS, "day")
        return RecordSplit(new, already_archived, archived.select(*RECORD_COLUMNS))

    def files_to_replace(self, kind: str, roots: DataFrame) -> ReplacedFiles:
        """The files that are replaced when these roots are rebuilt."""
        paths = self._files_with_roots(kind, roots) if self.live_files(kind) else []
        if not paths:
            return ReplacedFiles()
        from pyspark.sql import functions as F

        rows = read(self.folder, kind, paths)
        columns = ["value"] if kind == JSONL else list(TRACE_COLUMNS)
        rows_with_root = rows.withColumn("_root", F.expr(ROOT_EXPRESSIONS[kind]))
        kept_rows = rows_with_root.join(roots.toDF("_root"), "_root", "left_anti").select(*columns, "day")
        return ReplacedFiles(paths, kept_rows)

    def _files_with_roots(self, kind: str, roots: DataFrame) -> list[str]:
        """The paths of the archive's files that hold one of these roots."""
        from pyspark.sql import functions as F

        files = self.live_files(kind)
        some_roots = [row[0] for row in roots.limit(_MAX_LOOKED_UP_ROOTS + 1).collect()]
        if len(some_roots) <= _MAX_LOOKED_UP_ROOTS:
            files = self.archive.files_that_may_hold(files, [key_of_id(root) for root in some_roots])
        if not files:
            return []
        rows = read(self.folder, kind, [file.path for file in files])
        rows_with_root = rows.select(
            F.expr(ROOT_EXPRESSIONS[kind]).alias("root_id"), F.col("_metadata.file_name").alias("file")
        )
        matches = rows_with_root.join(roots.toDF("root_id"), "root_id", "left_semi").select("file").distinct().collect()
        names = {row.file for row in matches}
        return [file.path for file in files if file.path.rpartition("/")[2] in names]
