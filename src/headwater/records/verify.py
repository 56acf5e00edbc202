"""The records against the log: every one, hot and archived, has to be of a load that the log has, and none is missing.

In pieces of many loads: what each load brought (``record_load``, by its digest in the log) is compared with the records
there are of it, wherever they are. Of files of the archive every byte is covered, of those with traces too.
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
_PIECE_RECORDS = 250_000
"""Records that are compared at once."""
_PROGRESS_EVERY = 20_000
_MAX_BUFFERED = 32 * 2**20
"""Bytes of entries of one kind that are held before all of them are written to disk."""

NOT_COVERED = (
    "when a hot record may expire (ttl_expiry), what waits in the queue of records, and its dead letters",
    "which days and roots are marked as archived, and what is known of the keys in a file of the archive",
)


@dataclass(frozen=True, slots=True)
class VerifiedRecords:
    records: int
    """Hot and archived; one that is both counts twice."""
    files: int
    not_covered: tuple[str, ...]


def verify_records(conn: Transaction, storage: ArchiveStorage | None, progress: Progress | None) -> VerifiedRecords:
    """``files``: the archive's, None where nothing was ever archived."""
    logged = read_logged_records(conn)
    live = live_files(conn)
    total = count_hot(conn) + sum(file["rows"] for file in live if file["kind"] == "records")
    not_covered = list(NOT_COVERED)
    bare = _verify_books(logged, live)
    if bare:
        not_covered.append(f"{bare} files of the archive from before the log had their digests")
    _verify_files(storage, logged)
    not_covered += _without_expiry(logged)
    with tempfile.TemporaryDirectory(prefix="headwater-verify-") as folder:
        pieces = _Pieces(Path(folder), logged)
        done, early = _lay_out(conn, storage, logged, pieces, progress and partial(_report, progress, total))
        if early:
            not_covered.append(f"{early} records from before the log had their digests")
        _Comparison(conn, storage, logged, pieces).run()
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
        f"whether somebody deleted hot records, archived already, of {count} loads from before expiries were logged"
    ]


def _verify_books(logged: LoggedRecords, live: Sequence[Mapping[str, object]]) -> int:
    """That the archive is made of the files that the log names; how many of them it has no digest of the bytes of."""
    if not logged.commits:
        return len(live)
    there = {str(file["path"]): file for file in live}
    for path in sorted(logged.files.keys() | there.keys()):
        what = f"The file {shorten(path)} of the archive"
        if path not in there:
            raise EvidenceBroken(what, "the log names it, and it is not among those that the archive is made of")
        if path not in logged.files:
            raise EvidenceBroken(what, "the log does not name it")
        should = logged.files[path]
        for name, value in file_entry(there[path]).items():
            if name != "sha256" and value != should[name]:
                raise EvidenceBroken(what, f"its {name} is {value}, in the log it is {should[name]}")
    return sum(file["sha256"] is None for file in logged.files.values())


def _verify_files(storage: ArchiveStorage | None, logged: LoggedRecords) -> None:
    """Every byte of them, so that none was rewritten, exchanged or removed."""
    from headwater.errors import ArchiveUnusable

    for path, file in sorted(logged.files.items()):
        what = f"The file {shorten(path)} of the archive"
        if storage is None or file["sha256"] is None:
            continue
        try:
            found = storage.sha256(path)
        except ArchiveUnusable as unusable:
            raise EvidenceBroken(what, f"it cannot be read: {unusable}") from None
        if found != file["sha256"]:
            raise EvidenceBroken(what, "its bytes are not those that the log has the digest of")


def _sources(conn: Transaction, storage: ArchiveStorage | None, *, hot: bool = True) -> Iterator[RecordSource]:
    if hot:
        yield hot_source(conn)
    for path, kind in sorted((file["path"], file["kind"]) for file in live_files(conn)):
        if kind == "records" and storage is not None:
            yield archived_source(storage, path)


def _lay_out(
    conn: Transaction,
    storage: ArchiveStorage | None,
    logged: LoggedRecords,
    pieces: _Pieces,
    progress: Callable[[int], None] | None,
) -> tuple[int, int]:
    """All records checked, and put into their pieces: how many there are, and how many the log says nothing of."""
    first = logged.first_load
    done = early = 0
    for source in _sources(conn, storage):
        # A stream's records were never hot: no load brought them, and their file is covered byte by byte.
        covered = source.path in logged.files and logged.files[source.path]["sha256"] is not None
        targets = pieces.hot.targets if source.is_hot else pieces.archived.targets
        for load, leaf, root, node in source.rows:
            done += 1
            target = targets.get(load)
            if target is not None:
                buffer, prefix = target
                buffer += prefix + leaf
            # Loads are numbered from 1 on, and from the first that the log knows it knows all that become hot.
            elif source.is_hot and (load < 1 or (first is not None and load > first)):
                what = source.name_of(root, node)
                raise EvidenceBroken(what, f"it is of load {load}, which the log does not know")
            elif not covered:
                early += 1
            if done % _PROGRESS_EVERY == 0:
                pieces.spill()
                if progress is not None:
                    progress(done)
    for _, expired in expired_records(conn, logged):
        for one in expired:
            target = pieces.expired.targets.get(int.from_bytes(one[:8], signed=True))
            if target is not None:
                target[0].extend(one)
        pieces.spill()
    return done, early


class _Spool:
    """Entries of one size on disk, in one file for each piece of loads that follow each other."""

    def __init__(self, folder: Path, name: str, size: int, piece_of: Mapping[int, int]) -> None:
        self._folder = folder
        self._name = name
        self._size = size
        self._buffers: dict[int, bytearray] = {piece: bytearray() for piece in {*piece_of.values()}}
        self.targets = {load: (self._buffers[piece], load.to_bytes(8)) for load, piece in piece_of.items()}
        """By load: where its entries go, and how each of them begins."""

    def spill(self) -> None:
        if sum(map(len, self._buffers.values())) < _MAX_BUFFERED:
            return
        for piece, buffer in self._buffers.items():
            if buffer:
                with open(self._folder / f"{self._name}.{piece}", "ab") as out:
                    out.write(buffer)
                buffer.clear()

    def read(self, piece: int) -> set[bytes]:
        data = bytes(self._buffers.get(piece, b""))
        file = self._folder / f"{self._name}.{piece}"
        if file.exists():
            data = file.read_bytes() + data
        return {data[start : start + self._size] for start in range(0, len(data), self._size)}


class _Pieces:
    """What is compared at once: all entries of so many loads that they are about :data:`_PIECE_RECORDS` records."""

    def __init__(self, folder: Path, logged: LoggedRecords) -> None:
        self.of: dict[int, int] = {}
        held = 0
        for load in sorted(logged.loads):
            self.of[load] = held // _PIECE_RECORDS
            held += logged.loads[load].records
        self.hot = _Spool(folder, "hot", 8 + LEAF_BYTES, self.of)
        self.archived = _Spool(folder, "archived", 8 + LEAF_BYTES, self.of)
        self.expired = _Spool(folder, "expired", 8 + DIGEST_BYTES, self.of)

    def spill(self) -> None:
        for spool in (self.hot, self.archived, self.expired):
            spool.spill()


class _Comparison:
    """What the loads brought with what there is: a record is hot until it has expired, and archived from then on."""

    def __init__(
        self, conn: Transaction, storage: ArchiveStorage | None, logged: LoggedRecords, pieces: _Pieces
    ) -> None:
        self._conn = conn
        self._files = storage
        self._told = logged
        self._pieces = pieces
        self._lost: dict[bytes, int] = {}
        """Records that are neither hot nor archived by the load that brought them, by their digest."""

    def run(self) -> None:
        expected, piece = set[bytes](), 0
        for load, leaves in leaves_of_loads(self._conn, self._told):
            if self._pieces.of[load] != piece:
                self._compare(piece, expected)
                expected, piece = set(), self._pieces.of[load]
            prefix = load.to_bytes(8)
            expected.update([prefix + one for one in leaves])
        self._compare(piece, expected)
        if self._lost:
            # One that came again after it had expired is in the archive by the load that brought it first.
            for source in _sources(self._conn, self._files, hot=False):
                for _, leaf, *_ in source.rows:
                    self._lost.pop(leaf[:DIGEST_BYTES], None)
        if self._lost:
            digest, load = min(self._lost.items(), key=lambda one: (one[1], one[0]))
            raise self._missing(load, digest)

    def _compare(self, piece: int, expected: set[bytes]) -> None:
        hot, archived = self._pieces.hot.read(piece), self._pieces.archived.read(piece)
        expired = self._pieces.expired.read(piece)
        for is_hot, there in ((True, hot), (False, archived)):
            if not there <= expected:
                raise self._surplus(min(there - expected), is_hot)
        if expired:
            for one in sorted(one for one in hot if one[: 8 + DIGEST_BYTES] in expired)[:1]:
                raise self._surplus(one, is_hot=True)
        gone = expected - hot
        loads = self._told.loads
        for one in sorted(gone):
            load, digest = int.from_bytes(one[:8]), one[8 : 8 + DIGEST_BYTES]
            if one[: 8 + DIGEST_BYTES] not in expired and loads[load].expiry_logged:
                raise self._deleted(load, digest)
        self._lost.update((one[8 : 8 + DIGEST_BYTES], int.from_bytes(one[:8])) for one in gone - archived)

    def _surplus(self, wanted: bytes, is_hot: bool) -> EvidenceBroken:
        """Of a record that should not be there."""
        load, sought = int.from_bytes(wanted[:8]), wanted[8:]
        for source in _sources(self._conn, self._files, hot=is_hot):
            for number, leaf, root, node in source.rows:
                if source.is_hot is is_hot and number == load and leaf == sought:
                    return EvidenceBroken(source.name_of(root, node), self._why_surplus(load, sought))
        raise AssertionError(f"a record of load {load} was there and is not")

    def _why_surplus(self, load: int, sought: bytes) -> str:
        entry, digest = self._told.loads[load], sought[:DIGEST_BYTES]
        for number, expired in expired_records(self._conn, self._told):
            if load.to_bytes(8) + digest in expired:
                return f"by the log it has expired (load {load}, entry {self._told.expiries[number].seq})"
        moment = sought[DIGEST_BYTES:]
        at = from_micros(int.from_bytes(moment[:8], signed=True)).isoformat() if not any(moment[8:]) else ""
        said = f", recorded at {at}" if at else ""
        return f"it is none of those that load {load} brought (entry {entry.seq}){said}"

    def _deleted(self, load: int, digest: bytes) -> EvidenceBroken:
        """Of a record that is not hot, and did not expire. Where it is archived it can be named."""
        for source in _sources(self._conn, self._files, hot=False):
            for _, leaf, root, node in source.rows:
                if leaf[:DIGEST_BYTES] == digest:
                    what = RecordSource(None, ()).name_of(root, node)
                    entry = self._told.loads[load].seq
                    return EvidenceBroken(
                        what,
                        f"it is missing: load {load} brought it (entry {entry}), and by the log it has not expired",
                    )
        return self._missing(load, digest)

    def _missing(self, load: int, digest: bytes) -> EvidenceBroken:
        entry = self._told.loads[load]
        return EvidenceBroken(
            f"Load {load} of records (entry {entry.seq})",
            f"of its {entry.records} records the one with the digest {digest.hex()} is missing",
        )
