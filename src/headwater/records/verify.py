"""The records against the log: every one, hot and archived, has to be of a load that the log has, and none is missing.

In pieces of many loads: what each load brought (``record_load``, by its digest in the log) is compared with the records
there are of it, wherever they are. Of files of the archive every byte is covered, of those with traces too.
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
_A_PIECE = 250_000
"""Records that are compared at once."""
_TOLD_EVERY = 20_000
_DAY = 86_400_000_000
_COLUMNS = [*CONTENT_NAMES, "recorded_at", "digest", "load"]

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


@dataclass(frozen=True, slots=True)
class _Row:
    """A record with its leaf, and where it is."""

    load: int
    leaf: bytes
    what: str


def verify_records(conn: Transaction, files: ArchiveStorage | None, progress: Progress | None) -> VerifiedRecords:
    """``files``: the archive's, None where nothing was ever archived."""
    told = read_logged_records(conn)
    live = live_files(conn)
    total = count_hot(conn) + sum(file["rows"] for file in live if file["kind"] == "records")
    not_covered = list(NOT_COVERED)
    bare = _verify_books(told, live)
    if bare:
        not_covered.append(f"{bare} files of the archive from before the log had their digests")
    _verify_files(files, told)
    with tempfile.TemporaryDirectory(prefix="headwater-verify-") as folder:
        pieces = _Pieces(Path(folder), told)
        early = done = 0
        for number, row in enumerate(_rows(conn, files, told), start=1):
            early += not pieces.add(row)
            done = number
            if progress is not None and number % _TOLD_EVERY == 0:
                progress(number, max(number, total))
        if early:
            not_covered.append(f"{early} records from before the log had their digests")
        _compare(conn, files, told, pieces)
    if progress is not None and done:
        progress(done, max(done, total))
    return VerifiedRecords(done, len(live), tuple(not_covered) if done or live else ())


def _verify_books(told: LoggedRecords, live: Sequence[dict[str, Any]]) -> int:
    """That the archive is made of the files that the log names; how many of them it has no digest of the bytes of."""
    if not told.commits:
        return len(live)
    there = {file["path"]: file for file in live}
    for path in sorted(told.files.keys() | there.keys()):
        what = f"The file {shorten(path)} of the archive"
        if path not in there:
            raise EvidenceBroken(what, "the log names it, and it is not among those that the archive is made of")
        if path not in told.files:
            raise EvidenceBroken(what, "the log does not name it")
        should = told.files[path]
        for name, value in file_entry(there[path]).items():
            if name != "sha256" and value != should[name]:
                raise EvidenceBroken(what, f"its {name} is {value}, in the log it is {should[name]}")
    return sum(file["sha256"] is None for file in told.files.values())


def _verify_files(files: ArchiveStorage | None, told: LoggedRecords) -> None:
    """Every byte of them, so that none was rewritten, exchanged or removed."""
    from headwater.errors import ArchiveUnusable

    for path, file in sorted(told.files.items()):
        what = f"The file {shorten(path)} of the archive"
        if files is None or file["sha256"] is None:
            continue
        try:
            found = files.sha256(path)
        except ArchiveUnusable as unusable:
            raise EvidenceBroken(what, f"it cannot be read: {unusable}") from None
        if found != file["sha256"]:
            raise EvidenceBroken(what, "its bytes are not those that the log has the digest of")


def _rows(conn: Transaction, files: ArchiveStorage | None, told: LoggedRecords) -> Iterator[_Row]:
    first = told.first_load
    for row in hot_rows(conn):
        found = _hot_row(row)
        # Loads are numbered from 1 on, and from the first that the log knows it knows all that become hot.
        if found.load not in told.loads and (found.load < 1 or (first is not None and found.load > first)):
            raise EvidenceBroken(found.what, f"it is of load {found.load}, which the log does not know")
        yield found
    for path, kind in sorted((file["path"], file["kind"]) for file in live_files(conn)):
        if kind == "records" and files is not None:
            for found in _archived_rows(files, path):
                if found.load in told.loads or path not in told.files or told.files[path]["sha256"] is None:
                    yield found
                else:
                    # A stream's: it was never hot, and its file is covered byte by byte.
                    yield _Row(-1, found.leaf, found.what)


def _hot_row(row: tuple[Any, ...]) -> _Row:
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
        verified = _Row(int(load), record_leaf(digest, recorded_at, parents), name) if is_intact else None
    except (ValueError, TypeError, AttributeError, OverflowError):
        verified = None
    if verified is None:
        raise EvidenceBroken(name, "its digest, keys or day do not match its content")
    return verified


def _archived_rows(files: ArchiveStorage, path: str) -> Iterator[_Row]:
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
                    verified = _Row(load, leaf, name) if is_intact else None
                except (TypeError, AttributeError, OverflowError):
                    verified = None
                if verified is None:
                    raise EvidenceBroken(name, "its digest does not match its content")
                yield verified


class _Pieces:
    """Leaves on disk, in one file for each piece of loads that follow each other."""

    def __init__(self, folder: Path, told: LoggedRecords) -> None:
        self._folder = folder
        self._piece_of: dict[int, int] = {}
        held = 0
        for load in sorted(told.loads):
            self._piece_of[load] = held // _A_PIECE
            held += told.loads[load][1]
        self.count = held // _A_PIECE + 1
        self._waiting: dict[int, bytearray] = {}

    def add(self, row: _Row) -> bool:
        """Whether its load is one of the log's."""
        if row.load == -1:
            return True
        piece = self._piece_of.get(row.load)
        if piece is None:
            return False
        waiting = self._waiting.setdefault(piece, bytearray())
        waiting += row.load.to_bytes(8) + row.leaf
        if len(waiting) > 4 * 2**20:
            self._write(piece)
        return True

    def _write(self, piece: int) -> None:
        with open(self._folder / str(piece), "ab") as out:
            out.write(self._waiting.pop(piece, b""))

    def read(self, piece: int) -> set[bytes]:
        self._write(piece)
        data = (self._folder / str(piece)).read_bytes()
        return {data[start : start + 8 + LEAF_BYTES] for start in range(0, len(data), 8 + LEAF_BYTES)}

    def of(self, load: int) -> int:
        return self._piece_of[load]


def _compare(conn: Transaction, files: ArchiveStorage | None, told: LoggedRecords, pieces: _Pieces) -> None:
    expected, piece = set[bytes](), 0
    missing: dict[bytes, int] = {}

    def settle() -> None:
        there = pieces.read(piece)
        for extra in sorted(there - expected)[:1]:
            raise _culprit(conn, files, told, extra)
        missing.update((one[8:24], int.from_bytes(one[:8])) for one in expected - there)

    for load, leaves in leaves_of_loads(conn, told):
        if pieces.of(load) != piece:
            settle()
            expected, piece = set(), pieces.of(load)
        expected |= {load.to_bytes(8) + one for one in leaves}
    settle()
    if missing:
        # One that came again after it had expired is in the archive by the load that brought it first.
        for row in _rows(conn, files, told):
            missing.pop(row.leaf[:16], None)
    if missing:
        digest, load = min(missing.items(), key=lambda one: (one[1], one[0]))
        seq, count, _ = told.loads[load]
        raise EvidenceBroken(
            f"Load {load} of records (entry {seq})",
            f"of its {count} records the one with the digest {digest.hex()} is missing",
        )


def _culprit(conn: Transaction, files: ArchiveStorage | None, told: LoggedRecords, wanted: bytes) -> EvidenceBroken:
    load, sought = int.from_bytes(wanted[:8]), wanted[8:]
    row = next(row for row in _rows(conn, files, told) if row.load == load and row.leaf == sought)
    at = from_micros(int.from_bytes(sought[16:24], signed=True)).isoformat() if not any(sought[24:]) else ""
    said = f", recorded at {at}" if at else ""
    return EvidenceBroken(row.what, f"it is none of those that load {load} brought (entry {told.loads[load][0]}){said}")
