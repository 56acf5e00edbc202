"""Verifies the records against the log: each, hot or archived, belongs to a load in the log, and none is missing.

In chunks of many loads: the leaves of each load (``record_load``, with its digest in the log) are compared with the
records that exist of it, hot or archived. Of the archive's files every byte is covered, also of those with traces.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwater.errors import EvidenceBroken, shorten
from headwater.model.record_schema import CONTENT_NAMES, PARENTS, with_parents
from headwater.model.records import key_of_id, record_digest
from headwater.store.engine.database import Transaction
from headwater.store.records.evidence import (
    LEAF_BYTES,
    LoggedRecords,
    count_hot,
    file_entry,
    hot_rows,
    leaves_of_loads,
    live_files,
    read_logged_records,
    record_leaf,
)
from headwater.store.schema.tables import from_micros

if TYPE_CHECKING:
    from headwater.records.archive.files import ArchiveStorage

Progress = Callable[[int, int], None]
_CHUNK_RECORDS = 250_000
"""The number of records that are compared at once."""
_PROGRESS_INTERVAL = 20_000
_DAY = 86_400_000_000
_COLUMNS = [*CONTENT_NAMES, "recorded_at", "digest", "load"]

NOT_COVERED = (
    "when a hot record may expire (ttl_expiry), what waits in the queue of records, and its dead letters",
    "which days and roots are marked as archived, and what is known of the keys in a file of the archive",
)


@dataclass(frozen=True, slots=True)
class VerifiedRecords:
    records: int
    """Hot and archived; a record that is both counts twice."""
    files: int
    not_covered: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _VerifiedRecord:
    """A record whose digest is intact: its load, its leaf, and its name for an error."""

    load: int
    leaf: bytes
    name: str


def verify_records(conn: Transaction, files: ArchiveStorage | None, progress: Progress | None) -> VerifiedRecords:
    """``files`` are those of the archive, None if nothing was ever archived."""
    logged = read_logged_records(conn)
    live = live_files(conn)
    total = count_hot(conn) + sum(file["rows"] for file in live if file["kind"] == "records")
    not_covered = list(NOT_COVERED)
    without_digest = _verify_catalog(logged, live)
    if without_digest:
        not_covered.append(f"{without_digest} files of the archive from before the log had their digests")
    _verify_files(files, logged)
    with tempfile.TemporaryDirectory(prefix="headwater-verify-") as folder:
        leaf_files = _LeafFiles(Path(folder), logged)
        before_log = count = 0
        for number, row in enumerate(_rows(conn, files, logged), start=1):
            before_log += not leaf_files.add(row)
            count = number
            if progress is not None and number % _PROGRESS_INTERVAL == 0:
                progress(number, max(number, total))
        if before_log:
            not_covered.append(f"{before_log} records from before the log had their digests")
        _compare(conn, files, logged, leaf_files)
    if progress is not None and count:
        progress(count, max(count, total))
    return VerifiedRecords(count, len(live), tuple(not_covered) if count or live else ())


def _verify_catalog(logged: LoggedRecords, live: Sequence[dict[str, Any]]) -> int:
    """The archive has to consist of the files in the log; returns how many of them the log has no SHA-256 of."""
    if not logged.commits:
        return len(live)
    in_catalog = {file["path"]: file for file in live}
    for path in sorted(logged.files.keys() | in_catalog.keys()):
        name = f"The file {shorten(path)} of the archive"
        if path not in in_catalog:
            raise EvidenceBroken(name, "the log names it, and the archive does not have it")
        if path not in logged.files:
            raise EvidenceBroken(name, "the log does not name it")
        entry = logged.files[path]
        for column, value in file_entry(in_catalog[path]).items():
            if column != "sha256" and value != entry[column]:
                raise EvidenceBroken(name, f"its {column} is {value}, in the log it is {entry[column]}")
    return sum(file["sha256"] is None for file in logged.files.values())


def _verify_files(files: ArchiveStorage | None, logged: LoggedRecords) -> None:
    """Every byte of the files: none was rewritten, exchanged or removed."""
    from headwater.errors import ArchiveUnusable

    for path, file in sorted(logged.files.items()):
        name = f"The file {shorten(path)} of the archive"
        if files is None or file["sha256"] is None:
            continue
        try:
            actual = files.sha256(path)
        except ArchiveUnusable as unusable:
            raise EvidenceBroken(name, f"it cannot be read: {unusable}") from None
        if actual != file["sha256"]:
            raise EvidenceBroken(name, "its bytes do not have the SHA-256 in the log")


def _rows(conn: Transaction, files: ArchiveStorage | None, logged: LoggedRecords) -> Iterator[_VerifiedRecord]:
    first_load = logged.first_load
    for row in hot_rows(conn):
        record = _hot_row(row)
        # Loads are numbered from 1 on, and the log has all loads since the first that it has.
        if record.load not in logged.loads and (
            record.load < 1 or (first_load is not None and record.load > first_load)
        ):
            raise EvidenceBroken(record.name, f"it is of load {record.load}, which the log does not know")
        yield record
    for path, kind in sorted((file["path"], file["kind"]) for file in live_files(conn)):
        if kind == "records" and files is not None:
            for record in _archived_rows(files, path):
                if record.load in logged.loads or path not in logged.files or logged.files[path]["sha256"] is None:
                    yield record
                else:
                    # From a stream: it was never hot, and its file is covered byte by byte.
                    yield _VerifiedRecord(-1, record.leaf, record.name)


def _hot_row(row: tuple[Any, ...]) -> _VerifiedRecord:
    root_key, node_key, digest, recorded_at, day, load, *content = row
    root, node = content[:2]
    name = f"The hot record {shorten(str(node))} of root {shorten(str(root))}"
    try:
        parents = json.loads(content[PARENTS])
        is_intact = (
            record_digest(*with_parents(content, parents)) == digest
            and key_of_id(root) == root_key
            and key_of_id(node) == node_key
            and recorded_at // _DAY == day
        )
        verified = _VerifiedRecord(int(load), record_leaf(digest, recorded_at, parents), name) if is_intact else None
    except (ValueError, TypeError, AttributeError, OverflowError):
        verified = None
    if verified is None:
        raise EvidenceBroken(name, "its digest, keys or day do not match its content")
    return verified


def _archived_rows(files: ArchiveStorage, path: str) -> Iterator[_VerifiedRecord]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with files.system.open_input_file(files.full_path(path)) as source:
        for batch in pq.ParquetFile(source).iter_batches(batch_size=20_000, columns=_COLUMNS):
            columns = {name: batch.column(name) for name in _COLUMNS}
            columns["recorded_at"] = columns["recorded_at"].cast(pa.int64())
            for *content, recorded_at, digest, load in zip(
                *(columns[name].to_pylist() for name in _COLUMNS), strict=True
            ):
                root, node = content[:2]
                name = f"The archived record {shorten(str(node))} of root {shorten(str(root))} in {shorten(path)}"
                try:
                    is_intact = record_digest(*content) == digest
                    leaf = record_leaf(digest, recorded_at, content[PARENTS])
                    verified = _VerifiedRecord(load, leaf, name) if is_intact else None
                except (TypeError, AttributeError, OverflowError):
                    verified = None
                if verified is None:
                    raise EvidenceBroken(name, "its digest does not match its content")
                yield verified


class _LeafFiles:
    """Leaves on disk, in one file for each chunk of consecutive loads."""

    def __init__(self, folder: Path, logged: LoggedRecords) -> None:
        self._folder = folder
        self._chunk_of: dict[int, int] = {}
        total = 0
        for load in sorted(logged.loads):
            self._chunk_of[load] = total // _CHUNK_RECORDS
            total += logged.loads[load][1]
        self.count = total // _CHUNK_RECORDS + 1
        self._buffers: dict[int, bytearray] = {}

    def add(self, row: _VerifiedRecord) -> bool:
        """Add a record; returns whether its load is in the log."""
        if row.load == -1:
            return True
        piece = self._chunk_of.get(row.load)
        if piece is None:
            return False
        waiting = self._buffers.setdefault(piece, bytearray())
        waiting += row.load.to_bytes(8) + row.leaf
        if len(waiting) > 4 * 2**20:
            self._write(piece)
        return True

    def _write(self, piece: int) -> None:
        with open(self._folder / str(piece), "ab") as out:
            out.write(self._buffers.pop(piece, b""))

    def read(self, piece: int) -> set[bytes]:
        self._write(piece)
        data = (self._folder / str(piece)).read_bytes()
        return {data[start : start + 8 + LEAF_BYTES] for start in range(0, len(data), 8 + LEAF_BYTES)}

    def chunk_of(self, load: int) -> int:
        return self._chunk_of[load]


def _compare(conn: Transaction, files: ArchiveStorage | None, logged: LoggedRecords, leaf_files: _LeafFiles) -> None:
    expected, chunk = set[bytes](), 0
    missing: dict[bytes, int] = {}

    def compare_chunk() -> None:
        actual = leaf_files.read(chunk)
        for extra in sorted(actual - expected)[:1]:
            raise _unknown_record(conn, files, logged, extra)
        missing.update((leaf[8:24], int.from_bytes(leaf[:8])) for leaf in expected - actual)

    for load, leaves in leaves_of_loads(conn, logged):
        if leaf_files.chunk_of(load) != chunk:
            compare_chunk()
            expected, chunk = set(), leaf_files.chunk_of(load)
        expected |= {load.to_bytes(8) + leaf for leaf in leaves}
    compare_chunk()
    if missing:
        # A record that was sent again after it had expired is archived under its first load.
        for row in _rows(conn, files, logged):
            missing.pop(row.leaf[:16], None)
    if missing:
        digest, load = min(missing.items(), key=lambda entry: (entry[1], entry[0]))
        seq, count, _ = logged.loads[load]
        raise EvidenceBroken(
            f"Load {load} of records (entry {seq})",
            f"of its {count} records the one with the digest {digest.hex()} is missing",
        )


def _unknown_record(
    conn: Transaction, files: ArchiveStorage | None, logged: LoggedRecords, load_and_leaf: bytes
) -> EvidenceBroken:
    load, leaf = int.from_bytes(load_and_leaf[:8]), load_and_leaf[8:]
    row = next(row for row in _rows(conn, files, logged) if row.load == load and row.leaf == leaf)
    time = from_micros(int.from_bytes(leaf[16:24], signed=True)).isoformat() if not any(leaf[24:]) else ""
    recorded = f", recorded at {time}" if time else ""
    return EvidenceBroken(
        row.name, f"it is none of those that load {load} brought (entry {logged.loads[load][0]}){recorded}"
    )
