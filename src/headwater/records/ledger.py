"""`lin.records`: the record ledger of a store."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from headwater.errors import QueryError, UnknownRoot, shorten
from headwater.formats.openlineage.event import as_utc
from headwater.formats.openlineage.text import UNSTORABLE_REASON, storable
from headwater.model.audit import Actor
from headwater.model.records import DeadLetter, Document, FoundRecord, RootTrace, Sent
from headwater.records.archive.archive import Archive, require_pyarrow
from headwater.records.intake import sending
from headwater.records.intake.worker import Worker, WorkerObserver, WorkerOptions
from headwater.store.engine.database import Database
from headwater.store.records import archive as catalog
from headwater.store.records import hot, queue
from headwater.store.records.hot import RecordFilter
from headwater.store.schema.tables import from_micros, to_micros

_MOST_ROOTS = 2_000
"""So many are compared with a name that is not known."""


@dataclass(frozen=True, slots=True)
class LedgerStatus:
    """How many messages wait, or are with a worker; how many rows are hot; what the archive holds, and where."""

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

    def document(self) -> Document:
        at = self.last_compaction
        return {name: getattr(self, name) for name in self.__slots__} | {
            "last_compaction": None if at is None else at.isoformat()
        }


class Records:
    """What was done to records, taken in, traced and found again. Safe to share between threads."""

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
        """The same records, with the archive at that location."""
        if archive is None:
            return self
        return Records(self.database, archive=archive, now=self._now, actor=self._actor)

    def send(self, requests: Mapping[str, Any] | Iterable[Any], *, actor: Actor | None = None) -> Sent:
        """Take one request, or several as one transaction. What is valid is on disk when this returns, and the audit
        log says who sent it.

        What is not is refused by the number of its request and of the record in it, and costs the others nothing.
        """
        several = [requests] if isinstance(requests, Mapping) else requests
        return sending.send(self.database, several, self._now, actor or self._actor)

    def trace(self, root_id: str) -> RootTrace:
        """A trace for every leaf of a root, from the hot rows and the archive together."""
        require_pyarrow()
        from headwater.records.query.reading import records_of_root
        from headwater.records.tracing.kernel import FinalStep
        from headwater.records.tracing.root_traces import trace_root

        _refuse_unaskable(root_id)
        records = records_of_root(self.database, self.archive, root_id)
        if not records.num_rows:
            raise UnknownRoot(root_id, self._closest(root_id))
        return trace_root(root_id, records, FinalStep(from_micros(self._now()), self.archive.known_location() or ""))

    def enqueue_trace(self, root_id: str) -> None:
        """Have a worker trace a root and put it into the archive at once, with all that was sent before."""
        _refuse_unaskable(root_id)
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
        """Records of hot rows and archive, the newest first; ``location`` is how their storage location begins."""
        _refuse_unaskable(root, node, action, location)
        wanted = RecordFilter(root, node, action, location, to_micros(as_utc(since)) if since is not None else None)
        with self.database.read() as conn:
            rows, head = hot.find(conn, wanted, limit), catalog.clock(conn)[1]
            found = [hot.record_from_row(row) for row in rows]
            contents = hot.content_digests(conn, found) if head is None else {}
        if head is None:
            several = {node for node, digests in contents.items() if len(digests) > 1}
            return [FoundRecord(one, archived=False, conflict=(one.root_id, one.node_id) in several) for one in found]
        require_pyarrow()
        from headwater.records.query.reading import find_records

        return find_records(self.database, rows, self.archive, wanted, limit)

    def dead_letters(self, *, limit: int = 100) -> list[DeadLetter]:
        """What was given up, the newest first."""
        with self.database.read() as conn:
            rows = queue.dead_letters(conn, limit)
        return [
            DeadLetter(
                row["id"],
                row["kind"],
                row["body"],
                from_micros(row["enqueued_at"]),
                from_micros(row["failed_at"]),
                row["tries"],
                row["reason"],
            )
            for row in rows
        ]

    def replay(self, ids: Collection[int] | None = None) -> list[int]:
        """Put dead letters, all of them unless told, back into the queue; which. Unknown numbers are refused."""
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

    def worker(self, working: WorkerOptions, watching: WorkerObserver, compact: Callable[[], str]) -> Worker:
        return Worker(self.database, self.archive, working, now=self._now, watching=watching, compact=compact)

    def _closest(self, root_id: str) -> list[str]:
        from rapidfuzz import process

        from headwater.records.query.reading import sample_archived_roots

        with self.database.read() as conn:
            roots = {*hot.sample_roots(conn, _MOST_ROOTS)}
        roots.update(sample_archived_roots(self.archive, _MOST_ROOTS))
        return [name for name, *_ in process.extract(root_id, sorted(roots), limit=5)]


def _refuse_unaskable(*names: str | None) -> None:
    for name in names:
        if name is not None and not storable(name):
            raise QueryError(f"'{shorten(name)}' {UNSTORABLE_REASON}.")
