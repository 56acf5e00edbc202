"""`lin.records`: the record ledger of a store."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from headwater.errors import QueryError, UnknownRoot, shorten
from headwater.formats.openlineage.event import as_utc
from headwater.formats.openlineage.text import UNSTORABLE_REASON, is_storable
from headwater.model.audit import Actor
from headwater.model.records import DeadLetter, FoundRecord, RootTrace, SendResult
from headwater.records.archive.archive import Archive, require_pyarrow
from headwater.records.intake import sending
from headwater.records.intake.worker import Worker, WorkerObserver, WorkerOptions
from headwater.store.engine.database import Database
from headwater.store.records import archive as catalog
from headwater.store.records import hot, queue
from headwater.store.records.hot import RecordFilter
from headwater.store.schema.tables import from_micros, to_micros

_MAX_COMPARED_ROOTS = 2_000
"""How many root ids are compared with an unknown one, to suggest similar ones."""


@dataclass(frozen=True, slots=True)
class LedgerStatus:
    """Counts of messages that wait or are with a worker, of hot and archived records, and where the archive is."""

    load_waiting: int
    load_taken: int
    trace_waiting: int
    trace_taken: int
    dead_letters: int
    hot: int
    archived: int
    files: int
    archive: str | None
    last_compaction: datetime | None

    def document(self) -> dict[str, object]:
        at = self.last_compaction
        return {name: getattr(self, name) for name in self.__slots__} | {
            "last_compaction": None if at is None else at.isoformat()
        }


class Records:
    """The record ledger: accepts, traces and finds records. Safe to share between threads."""

    def __init__(
        self,
        database: Database,
        *,
        archive: str | None = None,
        now: Callable[[], int] | None = None,
        actor: Actor | None = None,
    ) -> None:
        self.database = database
        self._actor = actor
        self._now = now or (lambda: time.time_ns() // 1000)
        self.archive = Archive(database, archive, now=self._now)

    def at(self, archive: str | None) -> Records:
        """The same ledger, with the archive at that location."""
        if archive is None:
            return self
        return Records(self.database, archive=archive, now=self._now, actor=self._actor)

    def send(self, requests: Mapping[str, object] | Iterable[Any], *, actor: Actor | None = None) -> SendResult:
        """Accept one request, or several in one transaction. Valid records are on disk when this returns, and the audit
        log has an entry with their sender.

        Other records are refused, by the number of the request and of the record in it, without affecting the rest.
        """
        several = [requests] if isinstance(requests, Mapping) else requests
        return sending.send(self.database, several, self._now, actor or self._actor)

    def trace(self, root_id: str) -> RootTrace:
        """The traces of all leaves of a root, from hot records and the archive together."""
        require_pyarrow()
        from headwater.records.query.reading import records_of_root
        from headwater.records.tracing.kernel import FinalStep
        from headwater.records.tracing.root_traces import trace_root

        _require_storable(root_id)
        records = records_of_root(self.database, self.archive, root_id)
        if not records.num_rows:
            raise UnknownRoot(root_id, self._closest(root_id))
        return trace_root(root_id, records, FinalStep(from_micros(self._now()), self.archive.known_location() or ""))

    def enqueue_trace(self, root_id: str) -> None:
        """Have a worker trace and archive a root at once, with all records that were sent before."""
        _require_storable(root_id)
        with self.database.write(alone=False) as conn:
            queue.put(conn, queue.TRACE, [{"root_id": root_id}], self._now())

    def find(
        self,
        *,
        root: str | None = None,
        node: str | None = None,
        action: str | None = None,
        location: str | None = None,
        since: datetime | None = None,
        limit: int = 100,
    ) -> list[FoundRecord]:
        """Matching records, hot and archived, the newest first; ``location`` is a prefix of the storage location."""
        _require_storable(root, node, action, location)
        criteria = RecordFilter(root, node, action, location, to_micros(as_utc(since)) if since is not None else None)
        with self.database.read() as conn:
            rows, head = hot.find(conn, criteria, limit), catalog.clock(conn)[1]
            matches = [(bytes(row["digest"]), hot.record_from_row(row)) for row in rows]
            records = [record for _, record in matches]
            contents = hot.content_digests(conn, records) if head is None else {}
        if head is None:
            in_conflict = {node for node, digests in contents.items() if len(digests) > 1}
            return [
                FoundRecord(record, archived=False, conflict=(record.root_id, record.node_id) in in_conflict)
                for record in records
            ]
        require_pyarrow()
        from headwater.records.query.reading import find_records

        return find_records(self.database, matches, self.archive, criteria, limit)

    def dead_letters(self, *, limit: int = 100) -> list[DeadLetter]:
        """The dead letters, the newest first."""
        with self.database.read() as conn:
            rows = queue.dead_letters(conn, limit)
        return [
            DeadLetter(
                id=row["id"],
                kind=row["kind"],
                body=row["body"],
                enqueued_at=from_micros(row["enqueued_at"]),
                failed_at=from_micros(row["failed_at"]),
                tries=row["tries"],
                reason=row["reason"],
            )
            for row in rows
        ]

    def replay(self, ids: Collection[int] | None = None) -> list[int]:
        """Move dead letters, by default all, back into the queue; returns their ids. QueryError for unknown ids."""
        with self.database.write() as conn:
            replayed = queue.replay(conn, ids, self._now())
            unknown = sorted(set(ids or ()) - set(replayed))
            if unknown:
                raise QueryError(f"There is no dead letter {', '.join(map(str, unknown))}. Nothing was replayed.")
        return replayed

    def status(self) -> LedgerStatus:
        with self.database.read() as conn:
            counted = queue.counts(conn, self._now())
            rows, files = hot.count(conn), catalog.files(conn, None, None)
            latest = next(iter(catalog.compactions(conn, 1)), None)
        return LedgerStatus(
            **counted,
            hot=rows,
            archived=sum(file["rows"] for file in files if file["kind"] == "records"),
            files=len(files),
            archive=self.archive.known_location(),
            last_compaction=None if latest is None else from_micros(latest["finished_at"]),
        )

    def worker(self, options: WorkerOptions, observer: WorkerObserver, compact: Callable[[], str]) -> Worker:
        return Worker(self.database, self.archive, options, now=self._now, observer=observer, compact=compact)

    def _closest(self, root_id: str) -> list[str]:
        from rapidfuzz import process

        from headwater.records.query.reading import sample_archived_roots

        with self.database.read() as conn:
            roots = {*hot.sample_roots(conn, _MAX_COMPARED_ROOTS)}
        roots.update(sample_archived_roots(self.archive, _MAX_COMPARED_ROOTS))
        return [name for name, *_ in process.extract(root_id, sorted(roots), limit=5)]


def _require_storable(*names: str | None) -> None:
    for name in names:
        if name is not None and not is_storable(name):
            raise QueryError(f"'{shorten(name)}' {UNSTORABLE_REASON}.")
