"""One attempt to archive records: from a DataFrame of them to the files that a commit can name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.errors import ArchiveUnusable
from headwater.model.record_schema import LINE_STEP, TRACE_FLAGS
from headwater.records.archive.archive import JSONL, RECORDS, TRACES, Archive, ArchiveFile, Compaction, LaterCommits
from headwater.records.archive.files import content_digest
from headwater.records.compaction.hadoop_fs import HadoopFolder, ScratchFolder
from headwater.records.compaction.merging import ArchiveMerge, ReplacedFiles
from headwater.records.compaction.writing import ArchiveWriter, read
from headwater.records.tracing.kernel import FinalStep
from headwater.records.tracing.spark_traces import BIG_ROOT, RECORD_COLUMNS, trace_records

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from pyspark.sql import DataFrame, SparkSession

    OnProgress = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class CompactionOptions:
    """Options of one compaction. ``on_progress`` receives the name of each phase.

    ``big``: the number of records above which a root is traced by joins.
    """

    big: int = BIG_ROOT
    jsonl: bool = False
    on_progress: OnProgress = lambda _: None


@dataclass(frozen=True)
class AttemptResult:
    """What an attempt has written: the input of the commit, and the counts of its report."""

    added: list[ArchiveFile] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    read: int = 0
    archived: int = 0
    already_there: int = 0
    refused: int = 0
    traces: int = 0
    rebuilt: int = 0
    digest: bytes = bytes(16)
    source_checksum: str | None = None
    """The checksum of the source, computed by its reader."""


class ArchiveAttempt:
    """Archives new records; it is committed or discarded as a whole."""

    def __init__(
        self, spark: SparkSession, archive: Archive, compaction: Compaction, options: CompactionOptions
    ) -> None:
        self.folder = HadoopFolder(spark, compaction.location)
        self._writer = ArchiveWriter(self.folder, compaction)
        self.scratch = ScratchFolder(self.folder, f"{compaction.folder}/scratch")
        self._merge = ArchiveMerge(self.folder, self.scratch, archive)
        self._options = options
        self._roots: DataFrame | None = None

    def archive_records(self, fresh: DataFrame, expected: int, now: datetime) -> AttemptResult:
        """Write files of ``fresh``, which has the columns of the archive, the day, and ``expected`` rows."""
        self._options.on_progress("Reading the records")
        if self._merge.live_files(RECORDS):
            fresh = self.scratch.materialize(fresh)
        split = self._merge.split_new(fresh)
        records = self._writer.write(RECORDS, split.new)
        archived = sum(file.rows for file in records)
        if archived + split.already_archived != expected:
            raise ArchiveUnusable(
                f"{expected} records were to be archived; {archived} new ones were read, and {split.already_archived} "
                "that are archived already. Nothing was committed."
            )
        removed: list[str] = []
        leaves = rebuilt = 0
        if records:
            self._options.on_progress("Tracing")
            new = read(self.folder, RECORDS, [file.path for file in records])
            roots = self._roots = new.select("root_id").distinct()
            whole, rows = new.select(*RECORD_COLUMNS), archived
            if split.archived is not None:
                roots = self.scratch.materialize(roots)
                before = self.scratch.materialize(split.archived.join(roots, "root_id", "left_semi"))
                rebuilt = before.select("root_id").distinct().count()
                whole, rows = whole.unionByName(before), rows + before.count()
            finish = FinalStep(now, self.folder.location)
            traced = trace_records(whole, rows, finish, self._options.big, self.scratch)
            leaves, removed = self._write_traces(traced, roots, rebuilt > 0)
        return AttemptResult(
            added=self._writer.added,
            removed=removed,
            read=expected,
            archived=archived,
            already_there=split.already_archived,
            traces=leaves,
            rebuilt=rebuilt,
            digest=content_digest(file.digest for file in records),
        )

    def _write_traces(self, traced: DataFrame, roots: DataFrame, rebuilt: bool) -> tuple[int, list[str]]:
        """Write the traces of ``roots``; returns their number, and the paths of the files that they replace."""
        lines = self._options.jsonl or bool(self._merge.live_files(JSONL))
        if lines:
            traced = self.scratch.materialize(traced)
        removed: list[str] = []
        kept_rows = 0
        for kind in (TRACES, JSONL) if lines else (TRACES,):
            self._options.on_progress("Writing the traces" if kind == TRACES else "Writing the lines of JSON")
            rows = traced if kind == TRACES else _json_lines(traced)
            replaced = self._merge.files_to_replace(kind, roots) if rebuilt else ReplacedFiles()
            if replaced.kept_rows is not None:
                kept = self.scratch.materialize(replaced.kept_rows)
                kept_rows += kept.count() if kind == TRACES else 0
                rows = rows.unionByName(kept)
            removed += replaced.paths
            self._writer.write(kind, rows)
        return sum(file.rows for file in self._writer.added if file.kind == TRACES) - kept_rows, removed

    def conflicts_with(self, later: LaterCommits, result: AttemptResult) -> bool:
        """Whether the attempt's result would differ if it had begun after the later commits.

        It depends on the records of its roots and on the files that it replaces. A file that others replaced is among
        these if it held a trace of its roots, so the traces that others wrote need not be read.
        """
        if not later.removed.isdisjoint(result.removed):
            return True
        if self._roots is None:
            return False
        kinds = {file.kind for file in later.added}
        if JSONL in kinds and not any(file.kind == JSONL for file in result.added):
            return True  # the archive now has lines of JSON, and this attempt wrote none
        records = [file.path for file in later.added if file.kind == RECORDS]
        if not records:
            return False
        their_roots = read(self.folder, RECORDS, records).select("root_id")
        return not their_roots.join(self._roots, "root_id", "left_semi").isEmpty()

    def discard(self) -> None:
        self._writer.discard()

    def clear(self) -> None:
        self._writer.clear()


def _json_lines(traced: DataFrame) -> DataFrame:
    """One line of JSON for each leaf, with the field names of the records."""
    from pyspark.sql import functions as F

    steps = F.transform(
        "lineage",
        lambda step: F.struct(
            *(F.col("root_id") if name == "root_id" else step[name].alias(name) for name in LINE_STEP)
        ),
    )
    line = F.to_json(F.struct("record_id", "root_id", steps.alias("lineage"), *TRACE_FLAGS))
    return traced.select(line.alias("value"), "day")
