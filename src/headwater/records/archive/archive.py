"""The archive: its location, the names of its files, and the commits that make files part of it.

    records/day=2026-11-16/<compaction>-….parquet     every record once: the source of truth
    traces/day=2026-11-16/<compaction>-….parquet      a row for every leaf
    jsonl/day=2026-11-16/<compaction>-….jsonl         the same as lines of JSON, if requested

A file is part of the archive once a commit in the store's catalog names it. Its name begins with the id of its
compaction and of the attempt, so that files of a killed process are recognized by their names.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypedDict
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
"""Temporary files of compactions, each in a folder named by its id."""
ARCHIVE_VARIABLE = "HEADWATER_ARCHIVE"
_RETIRED_FILE_GRACE = timedelta(hours=1)
"""How long a file that left the archive is kept for queries that still read it."""
_ABANDONED_RETENTION = timedelta(days=2)
"""An abandoned attempt may not know that it was abandoned, and still write: for at most this long."""
LEASE_DURATION = timedelta(minutes=2)
"""An attempt whose lease was not renewed for this long is abandoned."""


def require_pyarrow() -> None:
    """Records are accepted and loaded without pyarrow; traces and the archive need it."""
    try:
        import pyarrow.compute  # noqa: F401
    except ImportError as missing:
        raise RecordsError(
            f"Traces and the archive need pyarrow and numpy ({missing}). pip install pyarrow numpy."
        ) from None


class CatalogRow(Protocol):
    """A row of the catalog: the values of its columns, which the store's queries do not type."""

    def __getitem__(self, column: str, /) -> Any: ...


class FileLister(Protocol):
    """Lists and removes files; paths are relative to the archive."""

    def list_files(self, kinds: Sequence[str]) -> list[str]: ...

    def remove(self, paths: Iterable[str]) -> int: ...


def day_number(day: date) -> int:
    """The day as the store numbers it: days since 1970."""
    return (day - EPOCH.date()).days


def day_from_number(number: int) -> date:
    return EPOCH.date() + timedelta(days=number)


def day_folder(kind: str, day: date) -> str:
    """The folder of a kind and day, relative to the archive."""
    return f"{kind}/day={day.isoformat()}"


@dataclass(frozen=True, slots=True)
class FileKeys:
    """Which keys a file may hold: the least and greatest root key, and Bloom filters of root and node keys."""

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
    """Set only while the file is being added."""


class CatalogFile(TypedDict):
    """A file as a commit adds it to the catalog."""

    path: str
    kind: str
    day: int
    rows: int
    digest: bytes
    bytes: int
    keys: dict[str, object] | None


class AddedFile(CatalogFile):
    """The same with the SHA-256 of its bytes, for the log; None where only Spark can read the file."""

    sha256: str | None


@dataclass(frozen=True, slots=True)
class Compaction:
    """A compaction under way: ``base`` is the commit that it is based on, ``attempt`` the id of this attempt at it."""

    id: str
    base: str | None
    location: str
    attempt: str = ""

    @property
    def name(self) -> str:
        """The prefix of the names of its files."""
        return f"{self.id}-{self.attempt}"

    @property
    def folder(self) -> str:
        """The folder of its temporary files, relative to the archive; removed when it ends."""
        return f"{WORK_FOLDER}/{self.id}/{self.attempt}"

    def path(self, kind: str, day: date, part: int) -> str:
        """The path of one of its files of that day, relative to the archive."""
        ending = "jsonl" if kind == JSONL else "parquet"
        return f"{day_folder(kind, day)}/{self.name}-{part}.{ending}"


@dataclass(frozen=True, slots=True)
class LaterCommits:
    """What was committed since a compaction began: the last commit, files added and paths removed."""

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
    """The location is the first of: ``location``, HEADWATER_ARCHIVE, the one that the store remembers, and the folder
    `records` beside a store in SQLite."""

    def __init__(
        self, database: Database, location: str | None = None, *, now: Callable[[], int] | None = None
    ) -> None:
        self._database = database
        self._now = now or (lambda: time.time_ns() // 1000)
        self._sha256s: dict[str, str] = {}
        self._configured = location or os.environ.get(ARCHIVE_VARIABLE) or None

    @property
    def location(self) -> str:
        """An absolute path or a URI. ArchiveUnusable if there is none, or if it is not where the archive is."""
        location = self.known_location()
        if location is None:
            raise ArchiveUnusable(
                f"The location of the archive is not known. Use --archive, or set {ARCHIVE_VARIABLE}."
            )
        return location

    def known_location(self) -> str | None:
        """The same, or None where it is not known."""
        with self._database.read() as conn:
            _, head, remembered = catalog.clock(conn)
        configured = _absolute(self._configured) if self._configured else None
        if configured and head is not None and remembered not in (None, configured):
            raise ArchiveUnusable(
                f"The archive of this store is at {shorten(str(remembered))}, not at {shorten(configured)}."
            )
        return configured or remembered or self._default_location()

    def _default_location(self) -> str | None:
        return None if self._database.file is None else str(self._database.file.parent / "records")

    def exists(self) -> bool:
        """Whether there is a commit."""
        return self.head() is not None

    def storage(self) -> ArchiveStorage:
        """Reads and writes the files at the location."""
        from headwater.records.archive.files import ArchiveStorage

        return ArchiveStorage(self.location)

    def head(self) -> str | None:
        """The id of the last commit."""
        with self._database.read() as conn:
            return catalog.clock(conn)[1]

    def watermark(self) -> int:
        """The number of the last load: all records up to it are visible, and none will be added to them."""
        with self._database.read() as conn:
            return catalog.clock(conn)[0]

    def live_files(
        self, kind: str | None = None, days: Collection[date] | None = None, *, root_key: bytes | None = None
    ) -> list[ArchiveFile]:
        """The files of the archive, by day and path; with ``root_key`` those that may hold that root."""
        numbers = None if days is None else [day_number(day) for day in days]
        with self._database.read() as conn:
            files = [_file(row) for row in catalog.files(conn, kind, numbers, root_key)]
        return files if root_key is None else self.files_that_may_hold(files, [root_key])

    def files_that_may_hold(
        self, files: Sequence[ArchiveFile], keys: Collection[bytes], *, kind: str = "roots"
    ) -> list[ArchiveFile]:
        """The files that may hold one of these keys, which are of ``kind`` roots or nodes."""
        from headwater.records.executor.bloom_filter import BloomFilter

        with self._database.read() as conn:
            rows = catalog.file_keys(conn, [file.path for file in files], kind)

        def may_hold(row: CatalogRow) -> bool:
            low, high = bytes(row["low"]), bytes(row["high"])
            in_range = [key for key in keys if low <= key <= high] if kind == "roots" else list(keys)
            bits = row["bloom_filter"]
            return bool(in_range) and (bits is None or BloomFilter(bytes(bits)).might_contain(in_range))

        return [file for file in files if file.path not in rows or may_hold(rows[file.path])]

    def begin(self, kind: str, *, run_id: str | None = None, id: str | None = None) -> Compaction:
        """Begin a compaction of ``kind`` compaction, root or stream. Its files become part of the archive by
        :meth:`commit`."""
        now, location = self._now(), self.location
        compaction = Compaction(id or uuid4().hex, None, location, uuid4().hex[:8])
        with self._database.write() as conn:
            if catalog.clock(conn)[2] != location:
                catalog.remember_archive(conn, location)
            base = catalog.begin(conn, id=compaction.id, kind=kind, started_at=now, location=location, run_id=run_id)
            attempts.begin(conn, compaction.name, compaction.id, now, now + _in_micros(LEASE_DURATION))
        return replace(compaction, base=base)

    def renew_lease(self, compaction: Compaction) -> None:
        """Extend the lease of the attempt by :data:`LEASE_DURATION`."""
        with self._database.write(alone=False) as conn:
            attempts.extend(conn, compaction.name, self._now() + _in_micros(LEASE_DURATION))

    def abandon(self, compaction: Compaction) -> None:
        """Forget an attempt that has ended and removed its uncommitted files."""
        with self._database.write() as conn:
            attempts.end(conn, compaction.name)
            catalog.drop(conn, compaction.id)

    def later_commits(self, compaction: Compaction) -> LaterCommits | None:
        """The commits since the compaction began; None if the compaction can no longer be committed."""
        with self._database.read() as conn:
            newer = catalog.commits_since(conn, compaction.id)
            if newer is None or not attempts.is_open(conn, compaction.name):
                return None
            added, removed = catalog.changes(conn, newer[1])
        return LaterCommits(newer[0], tuple(map(_file, added)), frozenset(removed))

    def rebase(self, compaction: Compaction, since: LaterCommits) -> Compaction:
        """The compaction based on those commits. The caller has checked that they do not conflict with it."""
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
        """Add and remove (by path) files of the archive, and set the last archived load of days and roots.

        One transaction, in which ``within`` is called too. If there is a newer commit than the compaction's base, or
        the attempt was abandoned, nothing changes: :class:`ArchiveMoved`. With ``leaves_work`` the caller still has
        files in its folder, and calls :meth:`abandon` once it has removed them.
        """
        with_sha256, unusable = self._with_sha256(added)
        with self._database.write() as conn:
            is_committed = catalog.commit(
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
            if not is_committed:
                raise ArchiveMoved(compaction.id)
            if unusable is not None:
                raise unusable
            evidence.write_commit(conn, compaction.id, catalog.kind_of(conn, compaction.id), rows, with_sha256, removed)
            if within is not None:
                within(conn)

    def _with_sha256(self, added: Sequence[ArchiveFile]) -> tuple[list[AddedFile], ArchiveUnusable | None]:
        """The files with the SHA-256 of their bytes. Each is read once, however often other commits come first.

        The hashes are None where only Spark can read the location. A file that cannot be read is an error only if the
        attempt can still be committed: the files of an abandoned one may be gone.
        """
        try:
            files = self.storage() if added else None
        except ArchiveUnusable:
            return [{**_row(file), "sha256": None} for file in added], None
        try:
            for file in added:
                if file.path not in self._sha256s and files is not None:
                    self._sha256s[file.path] = files.sha256(file.path)
        except ArchiveUnusable as unusable:
            return [], unusable
        return [{**_row(file), "sha256": self._sha256s[file.path]} for file in added], None

    def is_committed(self, id: str) -> bool:
        """Whether a compaction of that id is committed: then repeating it has nothing to do."""
        with self._database.read() as conn:
            return catalog.is_committed(conn, id)

    def marks(self) -> tuple[dict[date, int], dict[bytes, int]]:
        """The last archived load of each day, and of each root (by its key) that was archived on its own."""
        with self._database.read() as conn:
            days, roots = catalog.marks(conn)
        return {day_from_number(day): upto for day, upto in days.items()}, roots

    def unarchived_days(self, upto: int) -> dict[date, int]:
        """The number of hot rows of loads up to ``upto`` that are not archived, by day."""
        with self._database.read() as conn:
            return {day_from_number(day): count for day, count in catalog.unarchived_days(conn, upto).items()}

    def history(self, limit: int = 100) -> list[CommittedCompaction]:
        """The commits, the newest first."""
        with self._database.read() as conn:
            return [_committed(row) for row in catalog.compactions(conn, limit)]

    def expire(self, *, now: datetime | None = None, chunk: int = 5_000) -> int:
        """Delete the hot rows that are archived and past their time to live; returns how many.

        A row that is not archived stays, however old it is.
        """
        moment = self._now() if now is None else micros_of(now)
        total, after, more = 0, b"", True
        while more:
            # Searched without the write lock: it may take a scan of all hot rows to find that none has expired.
            with self._database.read() as conn:
                last_key, more = catalog.next_expiry_range(conn, moment, chunk, after)
            if last_key is None:
                break
            with self._database.write() as conn:
                total += catalog.expire(conn, moment, after, last_key)
            after = last_key
        return total

    def remove_stray_files(self, *, grace: timedelta = _RETIRED_FILE_GRACE, files: FileLister | None = None) -> int:
        """Delete files of abandoned attempts, and files that left the archive ``grace`` ago; returns how many."""
        now = self._now()
        with self._database.read() as conn:
            over = attempts.any_to_clean_up(conn, now)
            retired = catalog.retired(conn, now - _in_micros(grace))
        if not over and not retired:
            return 0
        files = files or self.storage()
        strays, work = self._strays(files, now) if over else ([], [])
        removed = files.remove([*strays, *retired])
        files.remove(work)
        with self._database.write() as conn:
            catalog.forget_files(conn, retired)
            attempts.forget(conn, attempts.given_up_attempts(conn), now - _in_micros(_ABANDONED_RETENTION))
        return removed

    def _strays(self, files: FileLister, now: int) -> tuple[list[str], list[str]]:
        """Files that no commit names or will name, and folders of attempts that have ended."""
        with (
            self._database.write() as conn
        ):  # first in the catalog: an attempt that can still be committed keeps its files
            attempts.give_up(conn, now)
        # The catalog is read after the files are listed: it then has what was committed in between.
        listed = files.list_files(KINDS)
        with self._database.read() as conn:
            unknown = set(listed) - catalog.known_paths(conn, listed)
            abandoned, open_attempts = attempts.given_up_attempts(conn), attempts.open_attempts(conn)
            committed = catalog.committed_ids(conn, {*map(_id_in, unknown), *abandoned.values()})
        strays = [
            path
            for path in sorted(unknown)
            if _name_in(path) not in open_attempts and ({_name_in(path), _id_in(path)} & {*abandoned, *committed})
        ]
        without_open_attempt = {*abandoned.values()} - {*open_attempts.values()}
        folders = [
            f"{WORK_FOLDER}/{name.replace('-', '/')}"
            for name, id in abandoned.items()
            if id not in without_open_attempt
        ]
        return strays, sorted([*folders, *(f"{WORK_FOLDER}/{id}" for id in without_open_attempt)])


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


def _file(row: CatalogRow) -> ArchiveFile:
    return ArchiveFile(
        row["path"], row["kind"], day_from_number(row["day"]), row["rows"], bytes(row["digest"]), row["bytes"]
    )


def _row(file: ArchiveFile) -> CatalogFile:
    return {
        "path": file.path,
        "kind": file.kind,
        "day": day_number(file.day),
        "rows": file.rows,
        "digest": file.digest,
        "bytes": file.bytes,
        "keys": None if file.keys is None else asdict(file.keys),
    }


def _committed(row: CatalogRow) -> CommittedCompaction:
    return CommittedCompaction(
        id=row["id"],
        kind=row["kind"],
        started_at=from_micros(row["started_at"]),
        finished_at=from_micros(row["finished_at"]),
        rows=row["rows"],
        digest=bytes(row["digest"]),
        run_id=row["run_id"],
        location=row["location"],
    )
