"""Archives a single root without Spark, as a message on the trace queue requests.

Adds the records that the archive does not have yet, rebuilds the traces of the root from all of its records, and copies
the files with its old traces without them. Every file is read back before the commit.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import TypedDict

import pyarrow as pa
import pyarrow.compute as pc

from headwater.errors import ArchiveMoved, ArchiveUnusable, UnknownRoot
from headwater.model.record_schema import LINE_STEP, TRACE_FLAGS
from headwater.model.records import key_of_id
from headwater.records.archive import archive as layout
from headwater.records.archive.archive import Archive, ArchiveFile, Compaction
from headwater.records.archive.files import (
    ArchiveStorage,
    column_digest,
    content_digest,
    keys_of_file,
    line_digests,
    trace_digests,
)
from headwater.records.archive.leases import lease_renewal
from headwater.records.archive.schemas import TRACES
from headwater.records.query.reading import archived_records_of_root, hot_records_of_root, is_new, merge_records
from headwater.records.tracing.kernel import FinalStep, trace_table
from headwater.store.engine.database import Database, Transaction
from headwater.store.schema.tables import from_micros

_ATTEMPTS = 10


def archive_root(
    database: Database,
    archive: Archive,
    root_id: str,
    *,
    now: Callable[[], int],
    within: Callable[[Transaction], None],
) -> int:
    """Archive a root; returns how many records were new. ``within`` is called in the transaction of the commit."""
    for _ in range(_ATTEMPTS):
        head, upto = archive.head(), archive.watermark()
        hot, archived = hot_records_of_root(database, root_id), archived_records_of_root(archive, root_id)
        hot = hot.filter(pc.field("load") <= upto)
        fresh = hot.filter(pa.array(is_new(hot, archived)))
        if not fresh.num_rows:
            if not hot.num_rows and not archived.num_rows:
                raise UnknownRoot(root_id, [])
            with database.write() as conn:
                within(conn)
            return 0
        compaction = archive.begin("root")
        if compaction.base != head:
            archive.abandon(compaction)
            continue  # a commit came after the records were read
        writer = _RootWriter(archive, compaction)
        try:
            with lease_renewal(archive, compaction):
                _write_and_commit(archive, writer, root_id, merge_records(archived, fresh), fresh, upto, now, within)
        except ArchiveMoved:
            writer.discard()
            continue  # from the new head of the archive
        except BaseException:
            writer.discard()
            raise
        archive.remove_stray_files()
        return int(fresh.num_rows)
    raise ArchiveUnusable(f"Root '{root_id}' could not be archived: {_ATTEMPTS} other commits came first. Try again.")


def _write_and_commit(
    archive: Archive,
    writer: _RootWriter,
    root_id: str,
    everything: pa.Table,
    fresh: pa.Table,
    upto: int,
    now: Callable[[], int],
    within: Callable[[Transaction], None],
) -> None:
    compaction, key = writer.compaction, key_of_id(root_id)
    for day, rows in _by_day(fresh):
        writer.write(layout.RECORDS, day, rows)
    traces = trace_table(everything, finished=FinalStep(from_micros(now()), compaction.location))
    old_days = {day for day, _ in _by_day(everything)}
    old_files = archive.live_files(layout.TRACES, old_days, root_key=key)
    replaced = [file.path for file in old_files if writer.copy_without_root(file, root_id)]
    with_lines = bool(archive.live_files(layout.JSONL))  # once requested, they are kept up to date
    if with_lines:
        old_files = archive.live_files(layout.JSONL, old_days, root_key=key)
        replaced += [file.path for file in old_files if writer.copy_lines_without_root(file, root_id)]
    for day in sorted(set(traces["day"].to_pylist())):
        rows = traces.filter(pc.field("day") == pa.scalar(day, pa.date32())).drop_columns("day")
        writer.write(layout.TRACES, day, rows)
        if with_lines:
            writer.write_lines(day, [trace_json_line(row) for row in rows.to_pylist()])
    archive.commit(
        compaction,
        added=writer.added,
        removed=replaced,
        roots={key: upto},
        rows=fresh.num_rows,
        digest=column_digest(fresh["digest"]),
        within=within,
    )


class _RootWriter:
    """Writes the files of one compaction, and reads each back at once."""

    def __init__(self, archive: Archive, compaction: Compaction) -> None:
        self.added: list[ArchiveFile] = []
        self.compaction = compaction
        self._archive = archive
        self._files: ArchiveStorage = archive.storage()
        self._begun_paths: list[str] = []

    def discard(self) -> None:
        """Remove its files, unless they were committed after all."""
        if not self._archive.is_committed(self.compaction.id):
            self._files.remove(self._begun_paths)
            self._archive.abandon(self.compaction)

    def _path(self, kind: str, day: date) -> str:
        self._begun_paths.append(self.compaction.path(kind, day, len(self._begun_paths)))
        return self._begun_paths[-1]

    def write(self, kind: str, day: date, rows: pa.Table) -> None:
        path = self._path(kind, day)
        size = self._files.write_table(path, rows)
        read_back = self._files.read_table(path)
        digest = _digest(kind, rows)
        if _digest(kind, read_back) != digest or not read_back.equals(rows):
            raise _read_back_error(self._files.full_path(path))
        nodes = rows["node_id"].to_pylist() if kind == layout.RECORDS else None
        keys = keys_of_file(rows["root_id"].unique().to_pylist(), nodes)
        self.added.append(
            ArchiveFile(path=path, kind=kind, day=day, rows=rows.num_rows, digest=digest, bytes=size, keys=keys)
        )

    def write_lines(self, day: date, lines: list[str]) -> None:
        path = self._path(layout.JSONL, day)
        size = self._files.write_lines(path, lines)
        if self._files.read_lines(path) != lines:
            raise _read_back_error(self._files.full_path(path))
        digest = content_digest(line_digests(lines))
        keys = keys_of_file(json.loads(line)["root_id"] for line in lines)
        self.added.append(
            ArchiveFile(path=path, kind=layout.JSONL, day=day, rows=len(lines), digest=digest, bytes=size, keys=keys)
        )

    def copy_without_root(self, file: ArchiveFile, root_id: str) -> bool:
        """Whether the file has traces of the root; if so, copy its other traces to a new file."""
        roots = self._files.read_table(file.path, columns=["root_id"])
        if not pc.any(pc.equal(roots["root_id"], root_id)).as_py():
            return False
        whole = self._files.read_table(file.path).select(TRACES.names).cast(TRACES)
        other_rows = whole.filter(pc.field("root_id") != root_id)
        if other_rows.num_rows:
            self.write(layout.TRACES, file.day, other_rows)
        return True

    def copy_lines_without_root(self, file: ArchiveFile, root_id: str) -> bool:
        lines = self._files.read_lines(file.path)
        other_rows = [line for line in lines if json.loads(line)["root_id"] != root_id]
        if len(other_rows) == len(lines):
            return False
        if other_rows:
            self.write_lines(file.day, other_rows)
        return True


def _read_back_error(path: str) -> ArchiveUnusable:
    return ArchiveUnusable(f"{path} does not read back as it was written.")


class _TraceRow(TypedDict):
    """A row of the archive's traces."""

    record_id: str
    root_id: str
    lineage: Sequence[Mapping[str, object]]
    orphans: Sequence[str]
    cycle: Sequence[str]
    conflicts: Sequence[str]
    complete: bool


def trace_json_line(trace: _TraceRow) -> str:
    """A trace as a line of JSON, with the field names of the records."""
    root_id = trace["root_id"]
    steps = [{name: root_id if name == "root_id" else step[name] for name in LINE_STEP} for step in trace["lineage"]]
    members: Mapping[str, object] = trace
    flags = {name: members[name] for name in TRACE_FLAGS}
    line = {"record_id": trace["record_id"], "root_id": root_id, "lineage": steps, **flags}
    return json.dumps(line, ensure_ascii=False, separators=(",", ":"))


def _digest(kind: str, rows: pa.Table) -> bytes:
    return column_digest(rows["digest"]) if kind == layout.RECORDS else content_digest(trace_digests(rows))


def _by_day(rows: pa.Table) -> Iterator[tuple[date, pa.Table]]:
    days = rows["recorded_at"].cast(pa.date32())
    for day in sorted(set(_distinct(days))):
        yield day, rows.filter(pc.equal(days, pa.scalar(day, pa.date32())))


def _distinct(days: pa.ChunkedArray) -> Iterable[date]:
    distinct: list[date] = pc.unique(days).to_pylist()
    return distinct
