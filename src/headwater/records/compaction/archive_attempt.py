"""Fresh records go into the archive: one attempt, from a frame of records to the files that a commit can name."""

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

    Say = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class CompactionOptions:
    """How to go about it. ``say`` is told what is being done."""

    big: int = BIG_ROOT
    jsonl: bool = False
    say: Say = lambda _: None


@dataclass(frozen=True)
class AttemptResult:
    """What a commit needs, and what there is to tell of it."""

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
    """Of what was read, by who read it."""


class ArchiveAttempt:
    """To put fresh records away. It is thrown away whole, or committed whole."""

    def __init__(
        self, spark: SparkSession, archive: Archive, compaction: Compaction, manner: CompactionOptions
    ) -> None:
        self.place = HadoopFolder(spark, compaction.location)
        self._writer = ArchiveWriter(self.place, compaction)
        self.scratch = ScratchFolder(self.place, f"{compaction.folder}/scratch")
        self._merge = ArchiveMerge(self.place, self.scratch, archive)
        self._manner = manner
        self._roots: DataFrame | None = None

    def put_away(self, fresh: DataFrame, expected: int, now: datetime) -> AttemptResult:
        """``fresh``: the columns of the archive and the day; ``expected``: how many rows it has to have."""
        self._manner.say("Reading the records")
        if self._merge.live_files(RECORDS):
            fresh = self.scratch.kept(fresh)
        split = self._merge.split_new(fresh)
        records = self._writer.write(RECORDS, split.new)
        archived = sum(file.rows for file in records)
        if archived + split.there != expected:
            raise ArchiveUnusable(
                f"{expected} records were to be archived, and {archived} were read that are new and "
                f"{split.there} that are there already. Nothing was committed."
            )
        removed: list[str] = []
        leaves = rebuilt = 0
        if records:
            self._manner.say("Tracing")
            new = read(self.place, RECORDS, [file.path for file in records])
            roots = self._roots = new.select("root_id").distinct()
            whole, rows = new.select(*RECORD_COLUMNS), archived
            if split.archived is not None:
                roots = self.scratch.kept(roots)
                before = self.scratch.kept(split.archived.join(roots, "root_id", "left_semi"))
                rebuilt = before.select("root_id").distinct().count()
                whole, rows = whole.unionByName(before), rows + before.count()
            finish = FinalStep(now, self.place.location)
            traced = trace_records(whole, rows, finish, self._manner.big, self.scratch)
            leaves, removed = self._write_traces(traced, roots, rebuilt > 0)
        return AttemptResult(
            added=self._writer.added,
            removed=removed,
            read=expected,
            archived=archived,
            already_there=split.there,
            traces=leaves,
            rebuilt=rebuilt,
            digest=content_digest(file.digest for file in records),
        )

    def _write_traces(self, traced: DataFrame, roots: DataFrame, rebuilt: bool) -> tuple[int, list[str]]:
        """How many there are of these roots, and the files that they take the place of."""
        lines = self._manner.jsonl or bool(self._merge.live_files(JSONL))
        if lines:
            traced = self.scratch.kept(traced)
        removed: list[str] = []
        staying = 0
        for kind in (TRACES, JSONL) if lines else (TRACES,):
            self._manner.say("Writing the traces" if kind == TRACES else "Writing the lines of JSON")
            rows = traced if kind == TRACES else _as_lines(traced)
            old = self._merge.replaced(kind, roots) if rebuilt else ReplacedFiles()
            if old.staying is not None:
                kept = self.scratch.kept(old.staying)
                staying += kept.count() if kind == TRACES else 0
                rows = rows.unionByName(kept)
            removed += old.paths
            self._writer.write(kind, rows)
        return sum(file.rows for file in self._writer.added if file.kind == TRACES) - staying, removed

    def concerns(self, since: LaterCommits, put: AttemptResult) -> bool:
        """Whether this would have come out otherwise, had it begun after what others have committed since.

        It was made of the records of its roots, and of the files that it takes the place of. A file that others have
        replaced is one of these if it held a trace of its roots, and so theirs need not be read.
        """
        if not since.removed.isdisjoint(put.removed):
            return True
        if self._roots is None:
            return False
        kinds = {file.kind for file in since.added}
        if JSONL in kinds and not any(file.kind == JSONL for file in put.added):
            return True  # lines of JSON are asked for from now on, and these have none
        records = [file.path for file in since.added if file.kind == RECORDS]
        if not records:
            return False
        theirs = read(self.place, RECORDS, records).select("root_id")
        return not theirs.join(self._roots, "root_id", "left_semi").isEmpty()

    def discard(self) -> None:
        self._writer.discard()

    def clear(self) -> None:
        self._writer.clear()


def _as_lines(traced: DataFrame) -> DataFrame:
    """One line of JSON a leaf, in the words of the records themselves."""
    from pyspark.sql import functions as F

    steps = F.transform(
        "lineage",
        lambda step: F.struct(
            *(F.col("root_id") if name == "root_id" else step[name].alias(name) for name in LINE_STEP)
        ),
    )
    line = F.to_json(F.struct("record_id", "root_id", steps.alias("lineage"), *TRACE_FLAGS))
    return traced.select(line.alias("value"), "day")
