"""Which writers a batch of events concerns, and bringing the graph up to date with them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from sqlalchemy import ColumnElement, Connection, and_, bindparam, select

from headwater.formats.openlineage.accumulate import accumulate
from headwater.formats.openlineage.event import Event, EventKind, reread_event
from headwater.formats.openlineage.flows import (
    declares_lineage,
    endpoints_of,
    flows_of_dataset,
    flows_of_job,
    flows_of_run,
)
from headwater.model.lineage import Origin
from headwater.store.engine.dialect import dialect_of
from headwater.store.engine.prepared import Lookup, Prepared
from headwater.store.fold.entities import Entities
from headwater.store.fold.intervals import Intervals
from headwater.store.fold.repeats import RunOutcome, said_by
from headwater.store.fold.rows import Group, RunRow
from headwater.store.fold.writes import Draft, Writer, draft_flows, remove_versions, signature
from headwater.store.schema.stored_rows import StoredVersion
from headwater.store.schema.tables import dataset, event, lineage, to_micros, version

_EVENTS_OF_RUNS = Lookup(select(event.c.run_id, event.c.digest, event.c.body), event.c.run_id)
_VERSIONS_OF_RUN = select(version).where(version.c.run_id == bindparam("run"))


_DECLARATIONS = select(event.c.id, event.c.digest, event.c.body)
# Each once for every dataset that declares anything of itself: an import has as many as there are nodes.
_DECLARED_OF_DATASET = Prepared(
    _DECLARATIONS.where(
        event.c.dataset_id.in_(select(dataset.c.id).where(dataset.c.canonical_id == bindparam("dataset"))),
        event.c.kind == EventKind.DATASET,
    )
)
_VERSION_OF_DATASET = Prepared(
    select(version.c.id)
    .where(version.c.dataset_id == bindparam("dataset"), version.c.origin == Origin.DATASET)
    .limit(1)
)


def _declared_by(job_id: int) -> ColumnElement[bool]:
    return and_(event.c.job_id == job_id, event.c.run_id.is_(None), event.c.kind == EventKind.JOB)


class Graph:
    def __init__(self, conn: Connection, entities: Entities) -> None:
        self._conn = conn
        self._max_direct_edges = entities.standing.max_direct_edges
        self._entities = entities
        self._intervals = Intervals(conn, entities)
        self._fresh: dict[bytes, Event] = {}
        """The events just stored, by their digests: these need not be read again."""

    def fold(self, new: Collection[Event], renamed: Collection[int]) -> None:
        """Fold the events just stored; fold again what was known under a name that is no longer valid."""
        self._fresh = {event.digest: event for event in new}
        runs: dict[int, RunRow] = {}
        jobs: set[int] = set()
        datasets: set[int] = set()
        for fresh in new:
            if fresh.kind is EventKind.RUN:
                row = self._entities.run(fresh.run_id)
                if row.complete or row.was_complete:
                    runs[row.id] = row
            elif declares_lineage(fresh):
                if fresh.dataset is not None:
                    datasets.add(self._entities.canonical_id(fresh.dataset.dataset))
                else:
                    jobs.add(self._entities.job(fresh.job).id)
        if renamed:
            touched_runs, touched_jobs, touched_datasets = self._writers_touching(renamed)
            runs |= touched_runs
            jobs |= touched_jobs
            datasets |= touched_datasets
        self.fold_writers(runs, jobs, datasets)

    def fold_writers(self, runs: Mapping[int, RunRow], jobs: Iterable[int], datasets: Iterable[int]) -> None:
        """Bring the graph up to date with what these say: runs, jobs that declare and datasets that declare."""
        self._load_events(runs)
        # In the order they ended, in which each only has to follow the one before.
        for row in sorted(runs.values(), key=lambda row: (row.ended_at or 0, row.key)):
            self._fold_run(row)
        for job_id in sorted(jobs):
            self._fold_job(job_id)
        for dataset_id in sorted(datasets):
            self._fold_dataset(dataset_id)

    # -- runs -------------------------------------------------------------------------------------

    def _fold_run(self, row: RunRow) -> None:
        drafts: list[Draft] = []
        if row.complete:
            assert row.ended_at is not None
            writer = Writer(Origin.RUN, row.job_id, row.id, None, row.ended_at, row.key)
            drafts = self._drafts(row, writer)
        before = self._conn.execute(_VERSIONS_OF_RUN, {"run": row.id}).all() if row.was_complete else []
        self._reconcile(before, drafts)
        row.was_complete = row.complete
        row.events = None  # seldom is there another

    def _drafts(self, row: RunRow, writer: Writer) -> list[Draft]:
        assert row.events is not None
        events = sorted(row.events, key=lambda event: event.stamp)
        said, outcomes = said_by(events), self._entities.memory.outcomes
        last = outcomes.get(row.job_id)
        if last is not None and last.said == said and self._entities.canonical_ids(last.names) == last.names:
            return [draft.by(writer) for draft in last.drafts]
        flows = flows_of_run(accumulate(events), self._max_direct_edges)
        drafts = draft_flows(self._entities, writer, flows)
        outcomes[row.job_id] = RunOutcome(said, events, self._entities.canonical_ids(endpoints_of(flows)), drafts)
        return drafts

    def _load_events(self, runs: Mapping[int, RunRow]) -> None:
        missing = {run_id: row for run_id, row in runs.items() if row.events is None}
        for row in missing.values():
            row.events = []
        for run_id, digest, body in _EVENTS_OF_RUNS.rows(self._conn, list(missing)):
            events = missing[run_id].events
            assert events is not None
            events.append(self._fresh.get(digest) or reread_event(body, digest))
            self._entities.memory.weight += len(body)

    # -- declarations -----------------------------------------------------------------------------

    def _fold_job(self, job_id: int) -> None:
        """Each declaration of a job replaces the one before, also for targets that it no longer names."""
        declarations = [
            (
                Writer(Origin.JOB, job_id, None, event_id, to_micros(e.time), e.digest),
                flows_of_job(e, self._max_direct_edges),
            )
            for event_id, e in self._declared(self._conn.execute(_DECLARATIONS.where(_declared_by(job_id))).all())
        ]
        drafts = []
        declared: dict[tuple[Group, int | None], None] = {}
        for writer, flows in sorted(declarations, key=lambda d: (d[0].written_at, d[0].tiebreak)):
            named = {(draft.group, draft.partition_id): draft for draft in draft_flows(self._entities, writer, flows)}
            emptied = [
                Draft(group, partition_id, writer)
                for group, partition_id in declared
                if (group, partition_id) not in named
            ]
            drafts += [*named.values(), *emptied]
            declared |= dict.fromkeys(named)
        self._reconcile(self._versions(version.c.job_id == job_id, version.c.origin == Origin.JOB), drafts)

    def _fold_dataset(self, dataset_id: int) -> None:
        """A dataset's own declarations, made under any of its names."""
        drafts = [
            draft
            for event_id, e in self._declared(_DECLARED_OF_DATASET.rows(self._conn, {"dataset": dataset_id}))
            for draft in draft_flows(
                self._entities,
                Writer(Origin.DATASET, None, None, event_id, to_micros(e.time), e.digest),
                flows_of_dataset(e),
            )
        ]
        mine = (version.c.dataset_id == dataset_id, version.c.origin == Origin.DATASET)
        before = self._versions(*mine) if _VERSION_OF_DATASET.rows(self._conn, {"dataset": dataset_id}) else []
        self._reconcile(before, drafts)

    def _declared(self, rows: Iterable[tuple[int, bytes, bytes]]) -> Iterator[tuple[int, Event]]:
        for event_id, digest, body in rows:
            declaration = self._fresh.get(digest) or reread_event(body, digest)
            if declares_lineage(declaration):
                yield event_id, declaration

    # -- versions ---------------------------------------------------------------------------------

    def _versions(self, *mine: ColumnElement[bool]) -> Sequence[StoredVersion]:
        return self._conn.execute(select(version).where(*mine)).all()

    def _reconcile(self, before: Sequence[StoredVersion], drafts: Sequence[Draft]) -> None:
        """Make the stored versions those of ``drafts``, touching only what differs."""
        wanted = {draft.signature for draft in drafts}
        stale = [row for row in before if signature(row) not in wanted]
        if stale:
            remove_versions(self._conn, [row.id for row in stale])
            gone: dict[Group, list[StoredVersion]] = {}
            for row in stale:
                gone.setdefault(Group(Origin(row.origin), row.job_id, row.dataset_id), []).append(row)
            for group in sorted(gone, key=repr):
                self._intervals.remove(group, gone[group])
        kept = {signature(row) for row in before}
        for draft in sorted(drafts, key=lambda d: (d.writer.written_at, d.writer.tiebreak)):
            if draft.signature not in kept:
                self._intervals.add(draft)

    def _writers_touching(self, ids: Collection[int]) -> tuple[dict[int, RunRow], set[int], set[int]]:
        """The runs, jobs and datasets whose versions were written to, or read from, one of the datasets ``ids``."""
        columns = (version.c.run_id, version.c.job_id, version.c.dataset_id, version.c.origin)
        written = select(*columns).where(dialect_of(self._conn).one_of(version.c.dataset_id, ids))
        rows = set(self._conn.execute(written).all())
        rows |= set(
            self._conn.execute(
                select(*columns)
                .join(lineage, lineage.c.version_id == version.c.id)
                .where(dialect_of(self._conn).one_of(lineage.c.upstream_id, ids))
            ).all()
        )
        run_ids = {row.run_id for row in rows if row.origin == Origin.RUN}
        jobs = {row.job_id for row in rows if row.origin == Origin.JOB}
        datasets = {row.dataset_id for row in rows if row.origin == Origin.DATASET} | set(ids)
        return self._entities.load_run_ids(run_ids), jobs, datasets
