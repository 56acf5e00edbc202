"""The store: what :func:`headwater.connect` returns."""

from __future__ import annotations

import getpass
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import islice
from types import TracebackType
from typing import Self

from sqlalchemy import Connection

from headwater.errors import QueryError, shorten
from headwater.formats.openlineage.event import RawEvent, as_utc, read_event
from headwater.formats.openlineage.text import UNSTORABLE_REASON, storable
from headwater.model.answers import (
    Closure,
    DatasetDetail,
    DatasetSummary,
    Direction,
    Grain,
    Impact,
    Receipt,
    RunDetail,
    RunDiff,
)
from headwater.model.audit import Actor, AuditEntry
from headwater.model.names import Endpoint
from headwater.model.runs import Run, RunState
from headwater.store import audit, catalog, runs
from headwater.store.closure import Question, closure
from headwater.store.commits import SharedCommits, Submission
from headwater.store.engine import DEFAULT_URL, Database
from headwater.store.fold.memory import Memory
from headwater.store.impact import impact
from headwater.store.ingest import ingest_events
from headwater.store.lookup import find_column, find_dataset, find_partition
from headwater.store.tables import to_micros
from headwater.store.traverse import UNLIMITED, Walk
from headwater.store.upgrade import ensure_current

DatasetName = str | Endpoint
"""`name` where it is unique, `namespace/name`, or a :class:`~headwater.model.names.Dataset`."""


class Store:
    """Lineage in a database. Safe to share between threads; any number of processes may open the same one."""

    def __init__(self, url: str = DEFAULT_URL, *, create: bool = True, actor: Actor | None = None) -> None:
        self._database = Database(url, create=create)
        self._actor = actor or Actor(_user())
        self._commits = SharedCommits(self._commit)
        self._memory = Memory()
        try:
            ensure_current(self._database, create=create)
        except BaseException:
            self._database.close()
            raise

    # -- events in --------------------------------------------------------------------------------

    def ingest(self, event: RawEvent, *, actor: Actor | None = None) -> Receipt:
        """Take one OpenLineage event in. When this returns, the event is on disk, folded and audited."""
        return self.ingest_many([event], actor=actor)[0]

    def ingest_many(self, events: Iterable[RawEvent], *, actor: Actor | None = None) -> list[Receipt]:
        """Take several events in as one transaction: all of them or, if one is refused, none."""
        by = actor or self._actor
        _refuse_unaskable(by.id, by.type, by.correlation_id, by.client_ip, by.user_agent)
        read = [read_event(event) for event in events]
        return self._commits.store(Submission(read, by)) if read else []

    def _commit(self, submissions: Sequence[Submission]) -> None:
        with self._database.write() as conn:
            submitted = [(event, s.actor) for s in submissions for event in s.events]
            receipts, self._memory = ingest_events(conn, self._memory, submitted)
        told = iter(receipts)
        for submission in submissions:
            submission.receipts = list(islice(told, len(submission.events)))

    # -- the graph --------------------------------------------------------------------------------

    def upstream(
        self,
        dataset: DatasetName,
        column: str | None = None,
        partition: str | None = None,
        depth: int | None = None,
        as_of: datetime | None = None,
    ) -> Closure:
        """Where it comes from: everything it was made of, nearest first."""
        with self._database.read() as conn:
            return closure(conn, _question(conn, Direction.UPSTREAM, dataset, column, partition, depth, as_of))

    def downstream(
        self,
        dataset: DatasetName,
        column: str | None = None,
        partition: str | None = None,
        depth: int | None = None,
        as_of: datetime | None = None,
    ) -> Closure:
        """What was made of it, nearest first."""
        with self._database.read() as conn:
            return closure(conn, _question(conn, Direction.DOWNSTREAM, dataset, column, partition, depth, as_of))

    def impact(
        self,
        dataset: DatasetName,
        column: str | None = None,
        depth: int | None = None,
        as_of: datetime | None = None,
    ) -> Impact:
        """What breaks if it changes: affected assets with the columns touched, their jobs, owner and latest run."""
        with self._database.read() as conn:
            return impact(conn, _question(conn, Direction.DOWNSTREAM, dataset, column, None, depth, as_of))

    # -- datasets and runs ------------------------------------------------------------------------

    def datasets(
        self,
        search: str | None = None,
        *,
        namespace: str | None = None,
        kind: str | None = None,
        owner: str | None = None,
        tag: str | None = None,
        limit: int = 100,
    ) -> list[DatasetSummary]:
        _refuse_unaskable(search, namespace, kind, owner, tag, limit)
        with self._database.read() as conn:
            return catalog.list_datasets(
                conn, search=search, namespace=namespace, kind=kind, owner=owner, tag=tag, limit=limit
            )

    def dataset(self, dataset: DatasetName) -> DatasetDetail:
        with self._database.read() as conn:
            return catalog.describe_dataset(conn, find_dataset(conn, dataset))

    def runs(
        self,
        *,
        job: str | None = None,
        namespace: str | None = None,
        state: RunState | str | None = None,
        dataset: DatasetName | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 100,
    ) -> list[Run]:
        """The newest first. ``dataset`` finds the runs that read or wrote it."""
        _refuse_unaskable(job, namespace, limit)
        with self._database.read() as conn:
            return runs.list_runs(
                conn,
                job_name=job,
                namespace=namespace,
                state=_state(state),
                dataset_id=find_dataset(conn, dataset).id if dataset is not None else None,
                since=as_utc(since) if since else None,
                until=as_utc(until) if until else None,
                limit=limit,
            )

    def run(self, run_id: str) -> RunDetail:
        with self._database.read() as conn:
            return runs.describe_run(conn, run_id)

    def diff(self, run_a: str, run_b: str) -> RunDiff:
        """What ``run_b`` did otherwise than ``run_a``."""
        with self._database.read() as conn:
            return runs.diff_runs(conn, run_a, run_b)

    # -- proof ------------------------------------------------------------------------------------

    def audit(
        self,
        *,
        event_type: str | None = None,
        actor: str | None = None,
        resource: str | None = None,
        correlation_id: str | None = None,
        before: int | None = None,
        limit: int = 100,
    ) -> list[AuditEntry]:
        """The newest entries first; ``before`` an entry's number goes on from there."""
        _refuse_unaskable(event_type, actor, resource, correlation_id, before, limit)
        with self._database.read() as conn:
            return audit.entries(
                conn,
                limit=limit,
                before=before,
                event_type=event_type,
                actor_id=actor,
                resource_id=resource,
                correlation_id=correlation_id,
            )

    def verify(self) -> tuple[int, str]:
        """Recompute the audit log: how many entries hold, and the hash of the last. Raises where one does not."""
        with self._database.read() as conn:
            return audit.verify(conn)

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Store {self._database}>"


def _question(
    conn: Connection,
    direction: Direction,
    dataset: DatasetName,
    column: str | None,
    partition: str | None,
    depth: int | None,
    as_of: datetime | None,
) -> Question:
    if column is not None and partition is not None:
        raise QueryError("Ask for a column or for a partition, not for both at once.")
    if depth is not None and depth < 1:
        raise QueryError(f"The depth must be 1 or more, not {depth}.")
    row = find_dataset(conn, dataset)
    grain, part_id = Grain.DATASET, None
    if column is not None:
        grain, part_id = Grain.COLUMN, find_column(conn, row, column, catalog.current_columns(conn, row))
    elif partition is not None:
        grain, part_id = Grain.PARTITION, find_partition(conn, row, partition)
    moment = to_micros(as_utc(as_of)) if as_of is not None else None
    max_depth = min(depth or UNLIMITED, UNLIMITED)
    return Question(
        row, part_id, column if column is not None else partition, Walk(grain, direction, moment), max_depth
    )


def _refuse_unaskable(*values: str | int | None) -> None:
    """What no database can compare with: said here, in one voice, instead of by each database in its own."""
    for value in values:
        if isinstance(value, str) and not storable(value):
            raise QueryError(f"'{shorten(value)}' {UNSTORABLE_REASON}.")
        if isinstance(value, int) and not 0 <= value < 2**63:
            raise QueryError(f"{value} is not a number of entries that can be asked for.")


def _state(state: RunState | str | None) -> RunState | None:
    if state is None:
        return None
    try:
        return RunState(state.upper())
    except ValueError:
        raise QueryError(f"'{state}' is not a run state. States: {', '.join(RunState)}.") from None


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
