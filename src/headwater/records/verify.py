"""Verifies the records against the log: each, hot or archived, belongs to a load in the log, and none is missing.

The table `record_load` has the digests of the records of each load, and the log has a hash over them. They are compared
with the records that are hot or archived, in partitions of many loads. Every byte of the archive's files is covered,
those with traces included.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.errors import EvidenceBroken, shorten
from headwater.records.verify_rows import RecordSource, archived_source, hot_source
from headwater.store.engine.database import Transaction
from headwater.store.records.evidence import (
    DIGEST_BYTES,
    LEAF_BYTES,
    LoggedRecords,
    count_hot,
    expired_records,
    file_entry,
    leaves_of_loads,
    live_files,
    read_logged_records,
)
from headwater.store.schema.tables import from_micros

if TYPE_CHECKING:
    from headwater.records.archive.files import ArchiveStorage

Progress = Callable[[int, int], None]
_PARTITION_RECORDS = 250_000
"""The number of records that are compared at a time."""
_PROGRESS_EVERY = 20_000
_MAX_BUFFERED = 32 * 2**20
"""Entries of one kind are written to disk beyond this many bytes."""

NOT_COVERED = (
    "when a hot record may expire (ttl_expiry), the records waiting in the queue, and its dead letters",
    "which days and roots are marked as archived, and the Bloom filters and key ranges of archive files",
)


@dataclass(frozen=True, slots=True)
class VerifiedRecords:
    records: int
    """The number of hot and archived records; one that is both counts twice."""
    files: int
    not_covered: tuple[str, ...]


def verify_records(conn: Transaction, storage: ArchiveStorage | None, progress: Progress | None) -> VerifiedRecords:
    """``storage`` is None if nothing was ever archived. EvidenceBroken for the first difference."""
    logged = read_logged_records(conn)
    live = live_files(conn)
    total = count_hot(conn) + sum(file["rows"] for file in live if file["kind"] == "records")
    not_covered = list(NOT_COVERED)
    without_sha256 = _verify_catalog(logged, live)
    if without_sha256:
        not_covered.append(f"{without_sha256} archive files from before the log recorded digests of files")
    _verify_files(storage, logged)
    not_covered += _without_expiry(logged)
    with tempfile.TemporaryDirectory(prefix="headwater-verify-") as folder:
        partitions = _LoadPartitions(Path(folder), logged)
        done, unlogged = _partition_records(
            conn, storage, logged, partitions, progress and partial(_report, progress, total)
        )
        if unlogged:
            not_covered.append(f"{unlogged} records from before the log recorded digests of records")
        _Comparison(conn, storage, logged, partitions).run()
    if progress is not None and done:
        progress(done, max(done, total))
    return VerifiedRecords(done, len(live), tuple(not_covered) if done or live else ())


def _report(progress: Progress, total: int, done: int) -> None:
    progress(done, max(done, total))


def _without_expiry(logged: LoggedRecords) -> list[str]:
    count = sum(not load.expiry_logged for load in logged.loads.values())
    if not count:
        return []
    return [
        f"whether hot records of {count} loads from before expiries were logged were deleted after they were archived"
    ]


def _verify_catalog(logged: LoggedRecords, live: Sequence[Mapping[str, object]]) -> int:
    """Verify that catalog and log name the same files; returns how many of them have no SHA-256 in the log."""
    if not logged.commits:
        return len(live)
    in_catalog = {str(file["path"]): file for file in live}
    for path in sorted(logged.files.keys() | in_catalog.keys()):
        what = f"The file {shorten(path)} of the archive"
        if path not in in_catalog:
            raise EvidenceBroken(what, "the log names it, but the catalog of the archive does not")
        if path not in logged.files:
            raise EvidenceBroken(what, "the log does not name it")
        logged_file = logged.files[path]
        for name, value in file_entry(in_catalog[path]).items():
            if name != "sha256" and value != logged_file[name]:
                raise EvidenceBroken(what, f"its {name} is {value}, but in the log it is {logged_file[name]}")
    return sum(file["sha256"] is None for file in logged.files.values())


def _verify_files(storage: ArchiveStorage | None, logged: LoggedRecords) -> None:
    """Verify every byte of the files, so that none was rewritten, exchanged or removed."""
    from headwater.errors import ArchiveUnusable

    for path, file in sorted(logged.files.items()):
        what = f"The file {shorten(path)} of the archive"
        if storage is None or file["sha256"] is None:
            continue
        try:
            actual_sha256 = storage.sha256(path)
        except ArchiveUnusable as unusable:
            raise EvidenceBroken(what, f"it cannot be read: {unusable}") from None
        if actual_sha256 != file["sha256"]:
            raise EvidenceBroken(what, "its SHA-256 differs from the one in the log")


def _sources(conn: Transaction, storage: ArchiveStorage | None, *, hot: bool = True) -> Iterator[RecordSource]:
    if hot:
        yield hot_source(conn)
    for path, kind in sorted((file["path"], file["kind"]) for file in live_files(conn)):
        if kind == "records" and storage is not None:
            yield archived_source(storage, path)


def _partition_records(
    conn: Transaction,
    storage: ArchiveStorage | None,
    logged: LoggedRecords,
    partitions: _LoadPartitions,
    progress: Callable[[int], None] | None,
) -> tuple[int, int]:
    """Check all records and write them to their partitions; returns their number, and how many are not in the log."""
    first = logged.first_load
    done = unlogged = 0
    for source in _sources(conn, storage):
        # Records of a stream were never hot, so they are in no load; their file is covered byte by byte.
        covered = source.path in logged.files and logged.files[source.path]["sha256"] is not None
        targets = partitions.hot.targets if source.is_hot else partitions.archived.targets
        for load, leaf, root, node in source.rows:
            done += 1
            target = targets.get(load)
            if target is not None:
                buffer, prefix = target
                buffer += prefix + leaf
            # Loads are numbered from 1, and the log has every load after the first one in it.
            elif source.is_hot and (load < 1 or (first is not None and load > first)):
                what = source.name_of(root, node)
                raise EvidenceBroken(what, f"it is of load {load}, which the log does not know")
            elif not covered:
                unlogged += 1
            if done % _PROGRESS_EVERY == 0:
                partitions.spill()
                if progress is not None:
                    progress(done)
    for _, expired in expired_records(conn, logged):
        for entry in expired:
            target = partitions.expired.targets.get(int.from_bytes(entry[:8], signed=True))
            if target is not None:
                target[0].extend(entry)
        partitions.spill()
    return done, unlogged


class _Spool:
    """Entries of one size on disk, in one file for each partition of consecutive loads."""

    def __init__(self, folder: Path, name: str, size: int, partition_of: Mapping[int, int]) -> None:
        self._folder = folder
        self._name = name
        self._size = size
        self._buffers: dict[int, bytearray] = {partition: bytearray() for partition in {*partition_of.values()}}
        self.targets = {load: (self._buffers[partition], load.to_bytes(8)) for load, partition in partition_of.items()}
        """By load: the buffer of its entries, and the bytes that each of them begins with."""

    def spill(self) -> None:
        if sum(map(len, self._buffers.values())) < _MAX_BUFFERED:
            return
        for partition, buffer in self._buffers.items():
            if buffer:
                with open(self._folder / f"{self._name}.{partition}", "ab") as out:
                    out.write(buffer)
                buffer.clear()

    def read(self, partition: int) -> set[bytes]:
        data = bytes(self._buffers.get(partition, b""))
        file = self._folder / f"{self._name}.{partition}"
        if file.exists():
            data = file.read_bytes() + data
        return {data[start : start + self._size] for start in range(0, len(data), self._size)}


class _LoadPartitions:
    """Consecutive loads, divided into partitions of about :data:`_PARTITION_RECORDS` records each."""

    def __init__(self, folder: Path, logged: LoggedRecords) -> None:
        self.of: dict[int, int] = {}
        records = 0
        for load in sorted(logged.loads):
            self.of[load] = records // _PARTITION_RECORDS
            records += logged.loads[load].records
        self.hot = _Spool(folder, "hot", 8 + LEAF_BYTES, self.of)
        self.archived = _Spool(folder, "archived", 8 + LEAF_BYTES, self.of)
        self.expired = _Spool(folder, "expired", 8 + DIGEST_BYTES, self.of)

    def spill(self) -> None:
        for spool in (self.hot, self.archived, self.expired):
            spool.spill()


class _Comparison:
    """Compares the records of the loads with those in the store: each is hot until it has expired, then archived."""

    def __init__(
        self, conn: Transaction, storage: ArchiveStorage | None, logged: LoggedRecords, partitions: _LoadPartitions
    ) -> None:
        self._conn = conn
        self._files = storage
        self._logged = logged
        self._partitions = partitions
        self._lost: dict[bytes, int] = {}
        """The load of each record that is neither hot nor archived under that load, by the digest of the record."""

    def run(self) -> None:
        expected, partition = set[bytes](), 0
        for load, leaves in leaves_of_loads(self._conn, self._logged):
            if self._partitions.of[load] != partition:
                self._compare(partition, expected)
                expected, partition = set(), self._partitions.of[load]
            prefix = load.to_bytes(8)
            expected.update([prefix + leaf for leaf in leaves])
        self._compare(partition, expected)
        if self._lost:
            # A record that was sent again after it had expired is archived under the load of the first time.
            for source in _sources(self._conn, self._files, hot=False):
                for _, leaf, *_ in source.rows:
                    self._lost.pop(leaf[:DIGEST_BYTES], None)
        if self._lost:
            load, digest = min((load, digest) for digest, load in self._lost.items())
            raise self._missing(load, digest)

    def _compare(self, partition: int, expected: set[bytes]) -> None:
        hot, archived = self._partitions.hot.read(partition), self._partitions.archived.read(partition)
        expired = self._partitions.expired.read(partition)
        for is_hot, entries in ((True, hot), (False, archived)):
            if not entries <= expected:
                raise self._unexpected(min(entries - expected), is_hot)
        if expired:
            for entry in sorted(entry for entry in hot if entry[: 8 + DIGEST_BYTES] in expired)[:1]:
                raise self._unexpected(entry, is_hot=True)
        no_longer_hot = expected - hot
        loads = self._logged.loads
        for entry in sorted(no_longer_hot):
            load, digest = int.from_bytes(entry[:8]), entry[8 : 8 + DIGEST_BYTES]
            if entry[: 8 + DIGEST_BYTES] not in expired and loads[load].expiry_logged:
                raise self._deleted(load, digest)
        self._lost.update(
            (entry[8 : 8 + DIGEST_BYTES], int.from_bytes(entry[:8])) for entry in no_longer_hot - archived
        )

    def _unexpected(self, entry: bytes, is_hot: bool) -> EvidenceBroken:
        """The error for a record that should not exist."""
        load, record_leaf = int.from_bytes(entry[:8]), entry[8:]
        for source in _sources(self._conn, self._files, hot=is_hot):
            for number, leaf, root, node in source.rows:
                if source.is_hot is is_hot and number == load and leaf == record_leaf:
                    return EvidenceBroken(source.name_of(root, node), self._why_unexpected(load, record_leaf))
        raise AssertionError(f"a record of load {load} disappeared during the verification")

    def _why_unexpected(self, load: int, leaf: bytes) -> str:
        entry, digest = self._logged.loads[load], leaf[:DIGEST_BYTES]
        for number, expired in expired_records(self._conn, self._logged):
            if load.to_bytes(8) + digest in expired:
                return f"according to the log it has expired (load {load}, entry {self._logged.expiries[number].seq})"
        moment = leaf[DIGEST_BYTES:]
        at = from_micros(int.from_bytes(moment[:8], signed=True)).isoformat() if not any(moment[8:]) else ""
        recorded_at = f", recorded at {at}" if at else ""
        return f"load {load} does not contain it (entry {entry.seq}){recorded_at}"

    def _deleted(self, load: int, digest: bytes) -> EvidenceBroken:
        """The error for a record that is not hot and has not expired. It can be named if it is archived."""
        for source in _sources(self._conn, self._files, hot=False):
            for _, leaf, root, node in source.rows:
                if leaf[:DIGEST_BYTES] == digest:
                    what = RecordSource(None, ()).name_of(root, node)
                    entry = self._logged.loads[load].seq
                    return EvidenceBroken(
                        what,
                        f"it is missing: load {load} contains it (entry {entry}), and the log has no expiry of it",
                    )
        return self._missing(load, digest)

    def _missing(self, load: int, digest: bytes) -> EvidenceBroken:
        entry = self._logged.loads[load]
        return EvidenceBroken(
            f"Load {load} of records (entry {entry.seq})",
            f"of its {entry.records} records, the one with the digest {digest.hex()} is missing",
        )
