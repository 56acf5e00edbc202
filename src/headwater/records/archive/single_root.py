"""One root put into the archive by itself, without Spark: what a message on the trace queue asks for.

Records that the archive has not got yet are added; the traces of the root are made anew from all of its records, and
the files that held the old ones are copied without them. All of it is read back before it counts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from typing import Any

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
    """How many records were new to the archive. ``within`` is done in the transaction that makes them count."""
    for _ in range(_ATTEMPTS):
        seen, upto = archive.head(), archive.watermark()
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
        if compaction.base != seen:
            archive.abandon(compaction)
            continue  # what was read is not what it would begin from
        writing = _Writing(archive, compaction)
        try:
            with lease_renewal(archive, compaction):
                _archive(archive, writing, root_id, merge_records(archived, fresh), fresh, upto, now, within)
        except ArchiveMoved:
            writing.discard()
            continue  # from what the archive has become
        except BaseException:
            writing.discard()
            raise
        archive.remove_stray_files()
        return int(fresh.num_rows)
    raise ArchiveUnusable(f"Root '{root_id}' could not be archived: other commits came first {_ATTEMPTS} times.")


def _archive(
    archive: Archive,
    writing: _Writing,
    root_id: str,
    everything: pa.Table,
    fresh: pa.Table,
    upto: int,
    now: Callable[[], int],
    within: Callable[[Transaction], None],
) -> None:
    compaction, key = writing.compaction, key_of_id(root_id)
    for day, rows in _by_day(fresh):
        writing.write(layout.RECORDS, day, rows)
    traces = trace_table(everything, finished=FinalStep(from_micros(now()), compaction.location))
    old_days = {day for day, _ in _by_day(everything)}
    old = archive.live_files(layout.TRACES, old_days, root_key=key)
    removed = [file.path for file in old if writing.copied(file, root_id)]
    lines = bool(archive.live_files(layout.JSONL))  # somebody asked for them once
    if lines:
        old = archive.live_files(layout.JSONL, old_days, root_key=key)
        removed += [file.path for file in old if writing.copied_lines(file, root_id)]
    for day in sorted(set(traces["day"].to_pylist())):
        rows = traces.filter(pc.field("day") == pa.scalar(day, pa.date32())).drop_columns("day")
        writing.write(layout.TRACES, day, rows)
        if lines:
            writing.write_lines(day, [trace_json_line(row) for row in rows.to_pylist()])
    archive.commit(
        compaction,
        added=writing.written,
        removed=removed,
        roots={key: upto},
        rows=fresh.num_rows,
        digest=column_digest(fresh["digest"]),
        within=within,
    )


class _Writing:
    """The files of one compaction, each read back as soon as it is written."""

    def __init__(self, archive: Archive, compaction: Compaction) -> None:
        self.written: list[ArchiveFile] = []
        self.compaction = compaction
        self._archive = archive
        self._files: ArchiveStorage = archive.storage()
        self._begun: list[str] = []

    def discard(self) -> None:
        """Nothing of it stays, unless it was committed after all."""
        if not self._archive.is_committed(self.compaction.id):
            self._files.remove(self._begun)
            self._archive.abandon(self.compaction)

    def _path(self, kind: str, day: date) -> str:
        self._begun.append(self.compaction.path(kind, day, len(self._begun)))
        return self._begun[-1]

    def write(self, kind: str, day: date, rows: pa.Table) -> None:
        path = self._path(kind, day)
        size = self._files.write_table(path, rows)
        back = self._files.read_table(path)
        digest = _digest(kind, rows)
        if _digest(kind, back) != digest or not back.equals(rows):
            raise _torn(self._files.full_path(path))
        nodes = rows["node_id"].to_pylist() if kind == layout.RECORDS else None
        keys = keys_of_file(rows["root_id"].unique().to_pylist(), nodes)
        self.written.append(ArchiveFile(path, kind, day, rows.num_rows, digest, size, keys))

    def write_lines(self, day: date, lines: list[str]) -> None:
        path = self._path(layout.JSONL, day)
        size = self._files.write_lines(path, lines)
        if self._files.read_lines(path) != lines:
            raise _torn(self._files.full_path(path))
        digest = content_digest(line_digests(lines))
        keys = keys_of_file(json.loads(line)["root_id"] for line in lines)
        self.written.append(ArchiveFile(path, layout.JSONL, day, len(lines), digest, size, keys))

    def copied(self, file: ArchiveFile, root_id: str) -> bool:
        """Whether a file has traces of that root; then the others of it are copied."""
        roots = self._files.read_table(file.path, columns=["root_id"])
        if not pc.any(pc.equal(roots["root_id"], root_id)).as_py():
            return False
        whole = self._files.read_table(file.path).select(TRACES.names).cast(TRACES)
        kept = whole.filter(pc.field("root_id") != root_id)
        if kept.num_rows:
            self.write(layout.TRACES, file.day, kept)
        return True

    def copied_lines(self, file: ArchiveFile, root_id: str) -> bool:
        lines = self._files.read_lines(file.path)
        kept = [line for line in lines if json.loads(line)["root_id"] != root_id]
        if len(kept) == len(lines):
            return False
        if kept:
            self.write_lines(file.day, kept)
        return True


def _torn(path: str) -> ArchiveUnusable:
    return ArchiveUnusable(f"{path} does not read back as it was written.")


def trace_json_line(trace: Mapping[str, Any]) -> str:
    """A trace as a line of JSON, with the field names of the records."""
    root_id = trace["root_id"]
    steps = [{name: root_id if name == "root_id" else step[name] for name in LINE_STEP} for step in trace["lineage"]]
    flags = {name: trace[name] for name in TRACE_FLAGS}
    line = {"record_id": trace["record_id"], "root_id": root_id, "lineage": steps, **flags}
    return json.dumps(line, ensure_ascii=False, separators=(",", ":"))


def _digest(kind: str, rows: pa.Table) -> bytes:
    return column_digest(rows["digest"]) if kind == layout.RECORDS else content_digest(trace_digests(rows))


def _by_day(rows: pa.Table) -> Iterator[tuple[date, pa.Table]]:
    days = rows["recorded_at"].cast(pa.date32())
    for day in sorted(set(_distinct(days))):
        yield day, rows.filter(pc.equal(days, pa.scalar(day, pa.date32())))


def _distinct(days: pa.ChunkedArray) -> Iterable[date]:
    found: list[date] = pc.unique(days).to_pylist()
    return found
