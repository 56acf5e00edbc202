"""What can be looked through page by page: ``store.pages``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

from headwater.errors import QueryError
from headwater.formats.openlineage.event import as_utc
from headwater.formats.openlineage.text import UNSTORABLE_REASON, is_storable
from headwater.model.answers import DatasetSummary, Version
from headwater.model.names import Dataset, Endpoint, Job
from headwater.model.overview import Overview
from headwater.model.pages import (
    Counts,
    Coverage,
    Hit,
    JobDetail,
    JobSummary,
    NamespaceSummary,
    Page,
    ReceivedEvent,
    Surroundings,
)
from headwater.model.picture import ColumnLink, EstateMap, Neighbourhood
from headwater.model.provenance import Provenance, ProvenanceEvent
from headwater.model.runs import Facets, Run, RunState
from headwater.model.versions import RunVersions
from headwater.store.access.view import View
from headwater.store.access.visibility import Visibility
from headwater.store.engine.database import Database
from headwater.store.query import catalog, counts, events, jobs, overview, runs, versions
from headwater.store.query.cursors import decode, page
from headwater.store.query.lookup import find_dataset, find_run
from headwater.store.query.picture import column_links, estate_map, neighbourhood, subgraph
from headwater.store.query.provenance import provenance
from headwater.store.query.search import search
from headwater.store.schema.tables import to_micros


class Pages:
    def __init__(self, database: Database, visibility: Visibility) -> None:
        self._database = database
        self._visibility = visibility

    @contextmanager
    def _view(self) -> Iterator[View]:
        with self._database.read() as conn:
            yield View(conn, self._visibility)

    def datasets(
        self, search: str | None = None, *, cursor: str | None = None, limit: int = 100,
        **filters: str | None,
    ) -> Page[DatasetSummary]:  # fmt: skip
        """``filters``: namespace, kind, owner, tag."""
        _askable(search, *filters.values())
        after = decode(cursor, str, str)
        with self._view() as view:
            found = catalog.list_datasets(view, search=search, after=after, limit=limit + 1, **filters)
        return page(found, limit, lambda one: (one.dataset.namespace, one.dataset.name))

    def jobs(
        self, namespace: str | None = None, *, cursor: str | None = None, limit: int = 100, offset: int = 0,
    ) -> Page[JobSummary]:  # fmt: skip
        _askable(namespace)
        after = decode(cursor, str, str)
        with self._view() as view:
            found = jobs.list_jobs(view, namespace=namespace, after=after, limit=limit + 1, offset=offset)
        return page(found, limit, lambda one: (one.job.namespace, one.job.name))

    def job_uses(self, named: Sequence[Job]) -> dict[Job, tuple[tuple[Dataset, ...], tuple[Dataset, ...]]]:
        """Inputs and outputs of each job's latest run."""
        with self._view() as view:
            return jobs.latest_uses(view, named)

    def run_versions(self, run_ids: Sequence[str]) -> dict[str, RunVersions]:
        with self._view() as view:
            return versions.versions_of_runs(view, run_ids)

    def version_facets(self, of: Dataset, listed: Sequence[Version]) -> list[Facets]:
        """What was said of each when it was written."""
        with self._view() as view:
            return versions.facets_of_versions(view, of, listed)

    def job(self, job: Job) -> JobDetail:
        with self._view() as view:
            return jobs.describe_job(view, job)

    def runs(
        self, *, job: str | None = None, namespace: str | None = None, state: RunState | None = None,
        dataset: str | Endpoint | None = None, since: datetime | None = None, until: datetime | None = None,
        cursor: str | None = None, limit: int = 100,
    ) -> Page[Run]:  # fmt: skip
        """Newest first. A run that gets another event during the listing moves to the front."""
        _askable(job, namespace)
        after = decode(cursor, int, str)
        with self._view() as view:
            found = runs.list_runs(
                view,
                job_name=job,
                namespace=namespace,
                state=state,
                dataset_id=find_dataset(view, dataset).id if dataset is not None else None,
                since=as_utc(since) if since else None,
                until=as_utc(until) if until else None,
                after=after,
                limit=limit + 1,
            )
        return page(found, limit, lambda one: (to_micros(one.last_event_at), one.run_id))

    def provenance(
        self, dataset: str | Endpoint, *, event: ProvenanceEvent | None = None, since: datetime | None = None,
        until: datetime | None = None, cursor: str | None = None, limit: int = 100,
    ) -> Page[Provenance]:  # fmt: skip
        """Who created, modified, accessed or deleted a dataset, the newest first; what has no time is last."""
        after = decode(cursor, *provenance.KINDS)
        with self._view() as view:
            found = provenance.list_provenance(
                view,
                find_dataset(view, dataset),
                event=event,
                since=_moment(since),
                until=_moment(until),
                after=after,
                limit=limit + 1,
            )
        shown = page(found, limit, lambda one: one.position)
        return Page(tuple(one.provenance for one in shown.items), shown.next)

    def events(self, run_id: str | None = None, *, cursor: str | None = None, limit: int = 100) -> Page[ReceivedEvent]:
        """The last to arrive first."""
        after = decode(cursor, int)
        with self._view() as view:
            number = find_run(view, run_id).id if run_id is not None else None
            found = events.list_events(view, run_id=number, after=after, limit=limit + 1)
        return page(found, limit, lambda one: (one.number,))

    def event_body(self, digest: str) -> bytes:
        with self._view() as view:
            return events.event_body(view, digest)

    def lines_after(self, number: int, limit: int) -> tuple[int | None, list[bytes]]:
        """Events one a line, in the order in which they arrived."""
        with self._view() as view:
            return events.lines_after(view, number, limit)

    def events_between(
        self, since: datetime | None, until: datetime | None, *, newest_first: bool = True, limit: int = 100,
        offset: int = 0,
    ) -> tuple[int, list[list[int]]]:  # fmt: skip
        """How many, and the numbers of some of them: their bodies are asked for portion by portion."""
        with self._view() as view:
            return events.events_between(
                view,
                since=as_utc(since) if since else None,
                until=as_utc(until) if until else None,
                newest_first=newest_first,
                limit=limit,
                offset=offset,
            )

    def event_bodies(self, numbers: Sequence[int]) -> list[bytes]:
        with self._view() as view:
            return events.bodies(view, numbers)

    def last_number(self) -> int:
        with self._view() as view:
            return events.last_number(view)

    def runs_after(self, number: int, *, limit: int = 500) -> list[ReceivedEvent]:
        with self._view() as view:
            return events.runs_after(view, number, limit)

    def find(
        self, text: str, *, kind: str | None = None, cursor: str | None = None, limit: int = 20,
    ) -> Page[Hit]:  # fmt: skip
        """By what is remembered of their names, the best match first: datasets and jobs, or of a ``kind``: `dataset`,
        `job`, `column`, `run`, or `any` of these."""
        _askable(text)
        after = decode(cursor, *search.RANK)
        with self._view() as view:
            hits = search.find(view, text, kind=kind, limit=_MOST_HITS)
        beyond = [hit for hit in hits if after is None or search.rank(hit) > after]
        return page(beyond[: limit + 1], limit, search.rank)

    def namespaces(self) -> list[NamespaceSummary]:
        with self._view() as view:
            return counts.namespaces(view)

    def around(self, kind: str, named: str, depth: int) -> Surroundings:
        """All edges within this many hops of a `dataset` or a `job`, named `namespace:name`."""
        _askable(named)
        look = subgraph.around_job if kind == "job" else subgraph.around_dataset
        with self._view() as view:
            return look(view, named, depth)

    def around_columns(self, kind: str, named: str, depth: int, *, downstream: bool = False) -> Surroundings:
        """The same for columns, by default upstream; also of one column: `datasetField`, `namespace:name:column`."""
        _askable(named)
        with self._view() as view:
            return subgraph.around_columns(view, kind, named, depth, downstream)

    def neighbourhood(
        self, dataset: str | Endpoint, *, upstream: int = 1, downstream: int = 1, as_of: datetime | None = None,
        limit: int = 8, columns: bool = False,
    ) -> Neighbourhood:  # fmt: skip
        """Everything within this many hops each way, with a limit of neighbours of each node on each side, and every
        edge between; with ``columns``, also the edges between the columns of all these."""
        with self._view() as view:
            start = find_dataset(view, dataset).id
            return neighbourhood.neighbourhood(
                view,
                start,
                upstream=upstream,
                downstream=downstream,
                limit=limit,
                columns=columns,
                as_of=_moment(as_of),
            )

    def column_links(
        self, dataset: str | Endpoint, *, as_of: datetime | None = None, cursor: str | None = None, limit: int = 1000,
    ) -> Page[ColumnLink]:  # fmt: skip
        """The column edges into a dataset and out of it."""
        after = decode(cursor, *column_links.KINDS)
        with self._view() as view:
            owner = find_dataset(view, dataset)
            found = column_links.column_links(view, owner, as_of=_moment(as_of), after=after, limit=limit + 1)
        shown = page(found, limit, lambda one: one.position)
        return Page(tuple(one.link for one in shown.items), shown.next)

    def map(self, namespace: str | None = None, *, as_of: datetime | None = None) -> EstateMap:
        """Every dataset and every edge, or of one namespace those between its own; only as much as draws them."""
        _askable(namespace)
        with self._view() as view:
            return estate_map.estate_map(view, namespace=namespace, as_of=_moment(as_of))

    def overview(self, now: datetime | None = None) -> Overview:
        """Problems that need attention first."""
        with self._view() as view:
            return overview.overview(view, as_utc(now) if now else datetime.now(UTC))

    def coverage(self, namespace: str | None = None, *, cursor: str | None = None, limit: int = 100) -> Page[Coverage]:
        _askable(namespace)
        after = decode(cursor, str, str)
        with self._view() as view:
            found = counts.coverage(view, namespace=namespace, after=after, limit=limit + 1)
        return page(found, limit, lambda one: (one.dataset.namespace, one.dataset.name))

    def counts(self) -> Counts:
        with self._view() as view:
            return counts.counts(view)


_MOST_HITS = 1_000


def _moment(moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(as_utc(moment))


def _askable(*values: str | None) -> None:
    for value in values:
        if value is not None and not is_storable(value):
            raise QueryError(f"What is asked for {UNSTORABLE_REASON}.")
