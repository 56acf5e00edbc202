"""The archive: where it is, what its files are called, and the commit that makes them count.

    records/day=2026-11-16/<compaction>-….parquet     every record once: the truth
    traces/day=2026-11-16/<compaction>-….parquet      a row for every leaf
    jsonl/day=2026-11-16/<compaction>-….jsonl         the same as lines of JSON, where asked for

A file counts when a commit in the store names it, and no sooner. Its name begins with the id of its compaction and the
attempt at it, so that what a killed one left is known by its name.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

from headwater.errors import ArchiveMoved, ArchiveUnusable, RecordsError, shorten
from headwater.model.records import EPOCH, micros_of
from headwater.store.engine.database import Database, Transaction
from headwater.store.records import archive as catalog
from headwater.store.records import attempts, evidence
from headwater.store.schema.tables import from_micros

if TYPE_CHECKING:
    from headwater.records.archive.files import ArchiveStorage

RECORDS, TRACES, JSONL = "records", "traces", "jsonl"
KINDS = (RECORDS, TRACES, JSONL)
WORK_FOLDER = "_work"
"""Below it, in a folder by its id, is what a compaction needs while it lasts."""
ARCHIVE_VARIABLE = "HEADWATER_ARCHIVE"
_GRACE = timedelta(hours=1)
"""A file that left the archive is kept so long for whoever is still reading it."""
_LONGEST = timedelta(days=2)
"""One that was given up may not know it yet, and write on; but not for longer than this."""
LEASE_DURATION = timedelta(minutes=2)
"""Who has not said for so long that it is at work is given up."""


def require_pyarrow() -> None:
    """Records are accepted and loaded without pyarrow; traces and the archive need it."""
    try:
        import pyarrow.compute  # noqa: F401
    except ImportError as missing:
        raise RecordsError(
            f"Traces and the archive need pyarrow and numpy ({missing}). pip install pyarrow numpy."
        ) from None


class FileLister(Protocol):
    """What lists and removes files; paths are relative to the archive."""

    def list_files(self, kinds: Sequence[str]) -> list[str]: ...

    def remove(self, paths: Iterable[str]) -> int: ...


def day_number(day: date) -> int:
    """As the store counts days."""
    return (day - EPOCH.date()).days


def day_from_number(number: int) -> date:
    return EPOCH.date() + timedelta(days=number)


def day_folder(kind: str, day: date) -> str:
    """Relative to the archive."""
    return f"{kind}/day={day.isoformat()}"


@dataclass(frozen=True, slots=True)
class FileKeys:
    """Which keys a file may hold: the least and the greatest of its roots, and sieves of roots and nodes."""

    low: bytes
    high: bytes
    roots: bytes
    nodes: bytes | None = None


@dataclass(frozen=True, slots=True)
class ArchiveFile:
    """``path`` is relative to the archive. ``digest``: see :func:`headwater.records.archive.files.content_digest`."""

    path: str
    kind: str
    day: date
    rows: int
    digest: bytes
    bytes: int
    keys: FileKeys | None = None
    """Only of one that is about to be added."""


@dataclass(frozen=True, slots=True)
class Compaction:
    """One that has begun: ``base`` is the commit that it began from, ``attempt`` tells it from others of its id."""

    id: str
    base: str | None
    location: str
    attempt: str = ""

    @property
    def name(self) -> str:
        """How the names of its files begin."""
        return f"{self.id}-{self.attempt}"

    @property
    def folder(self) -> str:
        """Where it works, relative to the archive; removed when it is over."""
        return f"{WORK_FOLDER}/{self.id}/{self.attempt}"

    def path(self, kind: str, day: date, part: int) -> str:
        """What its file of that day is called, relative to the archive."""
        ending = "jsonl" if kind == JSONL else "parquet"
        return f"{day_folder(kind, day)}/{self.name}-{part}.{ending}"


@dataclass(frozen=True, slots=True)
class LaterCommits:
    """What others have committed since a compaction began: the last of them, files added and paths removed."""

    head: str | None
    added: tuple[ArchiveFile, ...]
    removed: frozenset[str]


@dataclass(frozen=True, slots=True)
class CommittedCompaction:
    id: str
    kind: str
    started_at: datetime
    finished_at: datetime
    rows: int
    digest: bytes
    run_id: str | None
    location: str


class Archive:
    """``location`` wins over HEADWATER_ARCHIVE, that over what the store remembers, that over the folder beside it."""

    def __init__(
        self, database: Database, location: str | None = None, *, now: Callable[[], int] | None = None
    ) -> None:
        self._database = database
        self._now = now or (lambda: time.time_ns() // 1000)
        self._seals: dict[str, str] = {}
        self._given = location or os.environ.get(ARCHIVE_VARIABLE) or None

    @property
    def location(self) -> str:
        """An absolute path or a URI. Refused where nobody ever said it, or what is said is not what was used."""
        location = self.known_location()
        if location is None:
            raise ArchiveUnusable(f"Nobody said where the archive is. Give --archive, or set {ARCHIVE_VARIABLE}.")
        return location

    def known_location(self) -> str | None:
        """The same; None where nobody ever said it."""
        with self._database.read() as conn:
            _, head, remembered = catalog.clock(conn)
        given = _absolute(self._given) if self._given else None
        if given and head is not None and remembered not in (None, given):
            raise ArchiveUnusable(
                f"The archive of this store is at {shorten(str(remembered))}, not at {shorten(given)}."
            )
        return given or remembered or self._beside()

    def _beside(self) -> str | None:
        return None if self._database.file is None else str(self._database.file.parent / "records")

    def exists(self) -> bool:
        """Whether anything was ever committed."""
        return self.head() is not None

    def storage(self) -> ArchiveStorage:
        """Reading and writing at the location."""
        from headwater.records.archive.files import ArchiveStorage

        return ArchiveStorage(self.location)

    def head(self) -> str | None:
        """The id of the last commit."""
        with self._database.read() as conn:
            return catalog.clock(conn)[1]

    def watermark(self) -> int:
        """The number of the last load: all records up to it can be seen, and none will be added to them."""
        with self._database.read() as conn:
            return catalog.clock(conn)[0]

    def live_files(
        self, kind: str | None = None, days: Collection[date] | None = None, *, root_key: bytes | None = None
    ) -> list[ArchiveFile]:
        """The files that the archive is made of now, by day and path; of a root, those that may hold it."""
        numbers = None if days is None else [day_number(day) for day in days]
        with self._database.read() as conn:
            found = [_file(row) for row in catalog.files(conn, kind, numbers, root_key)]
        return found if root_key is None else self.files_that_may_hold(found, [root_key])

    def files_that_may_hold(
        self, files: Sequence[ArchiveFile], keys: Collection[bytes], *, kind: str = "roots"
    ) -> list[ArchiveFile]:
        """The files that may hold one of these keys, which are of ``kind`` roots or nodes."""
        from headwater.records.executor.bloom_filter import BloomFilter

        with self._database.read() as conn:
            rows = catalog.file_keys(conn, [file.path for file in files], kind)

        def may_hold(row: Mapping[Any, Any]) -> bool:
            low, high = bytes(row["low"]), bytes(row["high"])
            in_range = [key for key in keys if low <= key <= high] if kind == "roots" else list(keys)
            bits = row["bloom_filter"]
            return bool(in_range) and (bits is None or BloomFilter(bytes(bits)).might_contain(in_range))

        return [file for file in files if file.path not in rows or may_hold(rows[file.path])]

    def begin(self, kind: str, *, run_id: str | None = None, id: str | None = None) -> Compaction:
        """``kind``: compaction, root or stream. What is written from here on counts with :meth:`commit` alone."""
        now, location = self._now(), self.location
        begun = Compaction(id or uuid4().hex, None, location, uuid4().hex[:8])
        with self._database.write() as conn:
            if catalog.clock(conn)[2] != location:
                catalog.remember_archive(conn, location)
            base = catalog.begin(conn, id=begun.id, kind=kind, started_at=now, location=location, run_id=run_id)
            attempts.begin(conn, begun.name, begun.id, now, now + _in_micros(LEASE_DURATION))
        return replace(begun, base=base)

    def renew_lease(self, compaction: Compaction) -> None:
        """To be said again before :data:`LEASE_DURATION` is over."""
        with self._database.write(alone=False) as conn:
            attempts.extend(conn, compaction.name, self._now() + _in_micros(LEASE_DURATION))

    def abandon(self, compaction: Compaction) -> None:
        """It is over, and has removed whatever of it does not count."""
        with self._database.write() as conn:
            attempts.end(conn, compaction.name)
            catalog.drop(conn, compaction.id)

    def later_commits(self, compaction: Compaction) -> LaterCommits | None:
        """None where it can no longer be committed at all."""
        with self._database.read() as conn:
            found = catalog.commits_since(conn, compaction.id)
            if found is None or not attempts.is_open(conn, compaction.name):
                return None
            added, removed = catalog.changes(conn, found[1])
        return LaterCommits(found[0], tuple(map(_file, added)), frozenset(removed))

    def rebase(self, compaction: Compaction, since: LaterCommits) -> Compaction:
        """The same as if it had begun after those. Only for who knows that they have nothing to do with it."""
        with self._database.write() as conn:
            catalog.rebase(conn, compaction.id, since.head)
        return replace(compaction, base=since.head)

    def commit(
        self,
        compaction: Compaction,
        *,
        added: Sequence[ArchiveFile],
        removed: Collection[str] = (),
        days: Mapping[date, int] | None = None,
        roots: Mapping[bytes, int] | None = None,
        rows: int,
        digest: bytes,
        leaves_work: bool = False,
        within: Callable[[Transaction], None] | None = None,
    ) -> None:
        """Have ``added`` count and ``removed`` (paths) no longer, and mark what is archived up to which load.

        All of it or, if another commit came since the compaction began, or it was given up, nothing: then
        :class:`ArchiveMoved`. What ``leaves_work`` in its folder has to say :meth:`abandon` once that is removed.
        ``within`` is done in the same transaction.
        """
        sealed, unusable = self._sealed(added)
        with self._database.write() as conn:
            holds = catalog.commit(
                conn,
                id=compaction.id,
                attempt=compaction.name,
                leaves_work=leaves_work,
                finished_at=self._now(),
                rows=rows,
                digest=digest,
                added=[_row(file) for file in added],
                removed=removed,
                days={day_number(day): upto for day, upto in (days or {}).items()},
                roots=roots or {},
            )
            if not holds:
                raise ArchiveMoved(compaction.id)
            if unusable is not None:
                raise unusable
            evidence.write_commit(conn, compaction.id, catalog.kind_of(conn, compaction.id), rows, sealed, removed)
            if within is not None:
                within(conn)

    def _sealed(self, added: Sequence[ArchiveFile]) -> tuple[list[dict[str, Any]], ArchiveUnusable | None]:
        """The files with the SHA-256 of their bytes, each read once, however often others commit first.

        None of them has it where only Spark reads and writes at the location. A file that cannot be read is an error
        only for who may still commit: one that was given up may have lost its files.
        """
        try:
            files = self.storage() if added else None
        except ArchiveUnusable:
            return [{**_row(file), "sha256": None} for file in added], None
        try:
            for file in added:
                if file.path not in self._seals and files is not None:
                    self._seals[file.path] = files.sha256(file.path)
        except ArchiveUnusable as unusable:
            return [], unusable
        return [{**_row(file), "sha256": self._seals[file.path]} for file in added], None

    def is_committed(self, id: str) -> bool:
        """Whether a compaction of that id holds already: one that is repeated has nothing to do."""
        with self._database.read() as conn:
            return catalog.is_committed(conn, id)

    def marks(self) -> tuple[dict[date, int], dict[bytes, int]]:
        """Up to which load each day is archived, and each root (by its key) that was archived by itself."""
        with self._database.read() as conn:
            days, roots = catalog.marks(conn)
        return {day_from_number(day): upto for day, upto in days.items()}, roots

    def unarchived_days(self, upto: int) -> dict[date, int]:
        """The days with hot rows, of loads up to ``upto``, that are in no archive; how many each."""
        with self._database.read() as conn:
            return {day_from_number(day): count for day, count in catalog.unarchived_days(conn, upto).items()}

    def history(self, limit: int = 100) -> list[CommittedCompaction]:
        """What was committed, the newest first."""
        with self._database.read() as conn:
            return [_committed(row) for row in catalog.compactions(conn, limit)]

    def expire(self, *, now: datetime | None = None, chunk: int = 5_000) -> int:
        """Delete the hot rows that are in the archive and past their time; how many. Others stay, however old."""
        moment = self._now() if now is None else micros_of(now)
        total, after, more = 0, b"", True
        while more:
            # Looked for without the writers' lock: it may take a look at every hot row to find that none is due.
            with self._database.read() as conn:
                last, more = catalog.next_expiry_range(conn, moment, chunk, after)
            if last is None:
                break
            with self._database.write() as conn:
                total += catalog.expire(conn, moment, after, last)
            after = last
        return total

    def remove_stray_files(self, *, grace: timedelta = _GRACE, files: FileLister | None = None) -> int:
        """Delete what attempts have left that were given up, and files that left the archive; how many files."""
        now = self._now()
        with self._database.read() as conn:
            over = attempts.any_to_clean_up(conn, now)
            retired = catalog.retired(conn, now - _in_micros(grace))
        if not over and not retired:
            return 0
        files = files or self.storage()
        strays, work = self._strays(files, now) if over else ([], [])
        gone = files.remove([*strays, *retired])
        files.remove(work)
        with self._database.write() as conn:
            catalog.forget_files(conn, retired)
            attempts.forget(conn, attempts.given_up_attempts(conn), now - _in_micros(_LONGEST))
        return gone

    def _strays(self, files: FileLister, now: int) -> tuple[list[str], list[str]]:
        """Files that no commit names and none will, and folders of work that is over."""
        with self._database.write() as conn:  # first in the books: what can still be committed keeps its files
            attempts.give_up(conn, now)
        # The books are read after the files are listed: what was committed in between is in them.
        listed = files.list_files(KINDS)
        with self._database.read() as conn:
            unknown = set(listed) - catalog.known_paths(conn, listed)
            over, at_work = attempts.given_up_attempts(conn), attempts.open_attempts(conn)
            committed = catalog.committed_ids(conn, {*map(_id_in, unknown), *over.values()})
        strays = [
            path
            for path in sorted(unknown)
            if _name_in(path) not in at_work and ({_name_in(path), _id_in(path)} & {*over, *committed})
        ]
        alone = {*over.values()} - {*at_work.values()}
        work = [f"{WORK_FOLDER}/{name.replace('-', '/')}" for name, id in over.items() if id not in alone]
        return strays, sorted([*work, *(f"{WORK_FOLDER}/{id}" for id in alone)])


def _id_in(path: str) -> str:
    return path.rpartition("/")[2].split("-")[0]


def _name_in(path: str) -> str:
    return "-".join(path.rpartition("/")[2].split("-")[:2])


def _absolute(location: str) -> str:
    if "://" in location:
        return location.rstrip("/")
    return str(Path(location.removeprefix("file:")).absolute())


def _in_micros(span: timedelta) -> int:
    return span // timedelta(microseconds=1)


def _file(row: Mapping[Any, Any]) -> ArchiveFile:
    return ArchiveFile(
        row["path"], row["kind"], day_from_number(row["day"]), row["rows"], bytes(row["digest"]), row["bytes"]
    )


def _row(file: ArchiveFile) -> dict[str, Any]:
    return {
        "path": file.path,
        "kind": file.kind,
        "day": day_number(file.day),
        "rows": file.rows,
        "digest": file.digest,
        "bytes": file.bytes,
        "keys": None if file.keys is None else asdict(file.keys),
    }


def _committed(row: Mapping[Any, Any]) -> CommittedCompaction:
    return CommittedCompaction(
        row["id"],
        row["kind"],
        from_micros(row["started_at"]),
        from_micros(row["finished_at"]),
        row["rows"],
        bytes(row["digest"]),
        row["run_id"],
        row["location"],
    )
