"""Lists that are read page by page over HTTP: ``store.pages`` of a :class:`RemoteStore`."""

from __future__ import annotations

from datetime import datetime
from typing import NoReturn, TypeVar

from headwater.errors import NotOffered, QueryError
from headwater.formats.openlineage.text import UNSTORABLE_REASON, is_storable
from headwater.model.answers import DatasetDetail, DatasetSummary
from headwater.model.names import Endpoint, Job
from headwater.model.overview import Overview
from headwater.model.pages import Coverage, Hit, JobDetail, JobSummary, Page, ReceivedEvent
from headwater.model.picture import ColumnLink, EstateMap, Neighbourhood
from headwater.model.provenance import Provenance, ProvenanceEvent
from headwater.model.runs import Run, RunState
from headwater.remote.client import Client, Parameters, segment
from headwater.remote.decoding import decode

Item = TypeVar("Item")


class RemotePages:
    """Cursors are those of the server. A limit above the size of its pages takes several requests."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def datasets(
        self, search: str | None = None, *, cursor: str | None = None, limit: int = 100,
        **filters: str | None,
    ) -> Page[DatasetSummary]:  # fmt: skip
        """``filters``: namespace, kind, owner, tag."""
        _refuse_unstorable(search, *filters.values())
        return self._page("/datasets", {"search": search, **filters}, DatasetSummary, limit, cursor)

    def jobs(
        self, namespace: str | None = None, *, cursor: str | None = None, limit: int = 100, offset: int = 0,
    ) -> Page[JobSummary]:  # fmt: skip
        if offset:
            raise NotOffered("pages.jobs with an offset")
        _refuse_unstorable(namespace)
        return self._page("/jobs", {"namespace": namespace}, JobSummary, limit, cursor)

    def job(self, job: Job) -> JobDetail:
        path = f"/jobs/named/{segment(job.namespace)}/{segment(job.name)}"
        return self._one(path, {}, JobDetail)

    def runs(
        self, *, job: str | None = None, namespace: str | None = None, state: RunState | None = None,
        dataset: str | Endpoint | None = None, since: datetime | None = None, until: datetime | None = None,
        cursor: str | None = None, limit: int = 100,
    ) -> Page[Run]:  # fmt: skip
        """Newest first. A run that gets another event during the listing moves to the front."""
        _refuse_unstorable(job, namespace)
        filters = run_filters(job, namespace, state, dataset, since, until)
        return self._page("/runs", filters, Run, limit, cursor)

    def provenance(
        self, dataset: str | Endpoint, *, event: ProvenanceEvent | None = None, since: datetime | None = None,
        until: datetime | None = None, cursor: str | None = None, limit: int = 100,
    ) -> Page[Provenance]:  # fmt: skip
        """Who created, modified, accessed or deleted a dataset: the newest first, those without a time last."""
        path = f"{self.address(dataset)}/provenance"
        return self._page(path, {"event": event, "since": since, "until": until}, Provenance, limit, cursor)

    def events(self, run_id: str | None = None, *, cursor: str | None = None, limit: int = 100) -> Page[ReceivedEvent]:
        """In the order of arrival, the last first."""
        return self._page("/events", {"run": run_id}, ReceivedEvent, limit, cursor)

    def event_body(self, digest: str) -> bytes:
        return self._client.get_bytes(f"/events/by-digest/{segment(digest)}")

    def find(
        self, text: str, *, kind: str | None = None, cursor: str | None = None, limit: int = 20,
    ) -> Page[Hit]:  # fmt: skip
        """Search by name, the best match first: datasets and jobs, or one ``kind``: `dataset`, `job`, `column`, `run`
        or `any`."""
        _refuse_unstorable(text)
        return self._page("/find", {"q": text, "type": kind}, Hit, limit, cursor)

    def neighbourhood(
        self, dataset: str | Endpoint, *, upstream: int = 1, downstream: int = 1, as_of: datetime | None = None,
        limit: int = 8, columns: bool = False,
    ) -> Neighbourhood:  # fmt: skip
        """Everything within this many hops each way, at most 3; at most 400 neighbours of each node on each side."""
        hops = {"upstream": upstream, "downstream": downstream, "limit": limit, "columns": columns}
        return self._one("/graph/around", {**named(dataset), "as_of": as_of, **hops}, Neighbourhood)

    def column_links(
        self, dataset: str | Endpoint, *, as_of: datetime | None = None, cursor: str | None = None, limit: int = 1000,
    ) -> Page[ColumnLink]:  # fmt: skip
        """The column edges into and out of a dataset."""
        return self._page("/graph/columns", {**named(dataset), "as_of": as_of}, ColumnLink, limit, cursor)

    def map(self, namespace: str | None = None, *, as_of: datetime | None = None) -> EstateMap:
        """All datasets and edges, or those within one namespace, with only as much as it takes to draw them."""
        _refuse_unstorable(namespace)
        return self._one("/graph/map", {"namespace": namespace, "as_of": as_of}, EstateMap)

    def overview(self, now: datetime | None = None) -> Overview:
        """Problems that need attention first."""
        if now is not None:
            raise NotOffered("pages.overview as of another time")
        return self._one("/overview", {}, Overview)

    def coverage(self, namespace: str | None = None, *, cursor: str | None = None, limit: int = 100) -> Page[Coverage]:
        _refuse_unstorable(namespace)
        return self._page("/coverage", {"namespace": namespace}, Coverage, limit, cursor)

    def address(self, dataset: str | Endpoint) -> str:
        """The path of a dataset. For a name without a namespace the server is asked first."""
        if isinstance(dataset, str):
            dataset = self._one("/datasets/named", endpoint_named(dataset), DatasetDetail).summary.dataset
        refuse_job(dataset)
        return f"/datasets/{segment(dataset.namespace)}/{segment(dataset.name)}"

    def _page(self, path: str, parameters: Parameters, kind: type[Item], limit: int, cursor: str | None) -> Page[Item]:
        items, following = self._client.items(path, parameters, kind, limit, cursor)
        return Page(tuple(items), following)

    def _one(self, path: str, parameters: Parameters, kind: type[Item]) -> Item:
        return self._client.read(decode, kind, self._client.get(path, parameters))

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        raise NotOffered(f"pages.{name}")


def named(dataset: str | Endpoint) -> dict[str, str]:
    """The parameters that name a dataset."""
    if isinstance(dataset, str):
        return {"dataset": dataset}
    refuse_job(dataset)
    return {"dataset": dataset.name, "namespace": dataset.namespace}


def endpoint_named(endpoint: str | Endpoint) -> dict[str, str | bool]:
    """The parameters that name a dataset or a job."""
    if isinstance(endpoint, Job):
        return {"dataset": endpoint.name, "namespace": endpoint.namespace, "job": True}
    return dict(named(endpoint))


def refuse_job(dataset: Endpoint) -> None:
    if isinstance(dataset, Job):
        raise NotOffered("This question about a job instead of a dataset")


def run_filters(
    job: str | None, namespace: str | None, state: RunState | None, dataset: str | Endpoint | None,
    since: datetime | None, until: datetime | None,
) -> Parameters:  # fmt: skip
    about = {} if dataset is None else named(dataset)
    return {
        "job": job,
        "namespace": namespace,
        "state": state,
        "dataset": about.get("dataset"),
        "dataset_namespace": about.get("namespace"),
        "since": since,
        "until": until,
    }


def _refuse_unstorable(*values: str | None) -> None:
    for value in values:
        if value is not None and not is_storable(value):
            raise QueryError(f"What is asked for {UNSTORABLE_REASON}.")
