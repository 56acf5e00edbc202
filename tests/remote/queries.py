"""Every query that a store and a server both answer, for any content of the store."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import cycle, pairwise
from typing import Any

from headwater.model.names import Dataset, Endpoint, Job
from headwater.store.store import Store
from tests.remote.contract import Query

MISSING: tuple[str | Endpoint, ...] = (
    "",
    "nowhere",
    "no/where",
    "..",
    "%2F",
    "größe\n",
    "a\x00b",
    Dataset("no", "where"),
    Dataset("", ""),
)
EVENTS_OF_PROVENANCE = (None, "created", "MODIFIED", "accessed", "deleted", "invented")


def all_queries(store: Store) -> Iterator[tuple[str, Query]]:
    names = [summary.dataset for summary in store.datasets(limit=1000)]
    aliases = [alias for summary in store.datasets(limit=1000) for alias in summary.aliases]
    runs = store.runs(limit=1000)
    jobs = sorted({run.job for run in runs})
    moments = sorted({run.last_event_at for run in runs})[:4]
    yield from of_lists()
    yield from of_proof(store)
    for moment in moments:
        yield f"runs around {moment}", _with(lambda lin, at: (lin.runs(since=at), lin.runs(until=at)), moment)
    for job in [*jobs, Job("no", "job"), Job("", ""), Job("..", ".")]:
        yield f"job {job}", _with(lambda lin, job: lin.pages.job(job), job)
        yield f"runs of {job}", _with(lambda lin, job: lin.runs(job=job.name, namespace=job.namespace), job)
        yield from of_edges(store, job, [None])
    for dataset in [*names, *aliases, *MISSING]:
        yield from of_dataset(dataset)
        yield from of_edges(store, dataset, [None, *moments])
    for run in runs:
        yield from of_run(run.run_id)
    for run_id in ("", "no-run", "..", "a/b", "größe"):
        yield from of_run(run_id)
    for one, other in pairwise(run.run_id for run in runs):
        yield f"diff {one} {other}", _with(lambda lin, pair: lin.diff(*pair), (one, other))


def of_lists() -> Iterator[tuple[str, Query]]:
    for limit in (-1, 0, 1, 2, 1000):
        yield f"datasets, {limit}", _with(lambda lin, limit: lin.datasets(limit=limit), limit)
        yield f"runs, {limit}", _with(lambda lin, limit: lin.runs(limit=limit), limit)
        yield f"audit, {limit}", _with(lambda lin, limit: lin.audit(limit=limit, before=20), limit)
        yield f"certificates, {limit}", _with(lambda lin, limit: lin.certificates(limit=limit), limit)
    for limit in (1, 3, 1000):
        for name in ("datasets", "jobs", "runs", "events", "coverage"):
            yield f"pages.{name}, {limit}", _with(_page_by_page, (name, limit))
    for search in ("", "a", "A", "%", "step", "\x00", "ß"):
        yield f"search {search!r}", _with(lambda lin, text: lin.datasets(search=text), search)
        yield f"find {search!r}", _with(lambda lin, text: lin.pages.find(text, kind="any"), search)
    for filters in ({"owner": "team"}, {"tag": "pii"}, {"kind": "table"}, {"namespace": "catalog"}, {"namespace": ""}):
        yield f"datasets {filters}", _with(lambda lin, filters: lin.datasets(**filters), filters)
    for state in ("COMPLETE", "fail", "asleep"):
        yield f"runs {state}", _with(lambda lin, state: lin.runs(state=state), state)
    yield "overview", lambda lin: lin.pages.overview()
    yield "map", lambda lin: lin.pages.map()
    yield "map of a namespace", lambda lin: lin.pages.map("warehouse")
    yield "event that is none", lambda lin: lin.pages.event_body("ab" * 32)


def of_proof(store: Store) -> Iterator[tuple[str, Query]]:
    yield "certificates of a namespace", lambda lin: lin.certificates(namespace="scheduler")
    yield "checkpoints", lambda lin: lin.checkpoints()
    yield "checkpoints before", lambda lin: lin.checkpoints(before=3)
    yield "signing keys", lambda lin: lin.signing_keys()
    yield "output facets", lambda lin: lin.output_facets("outputStatistics")
    yield "audit of one kind", lambda lin: lin.audit(event_type="event.ingested", limit=3)
    for entry in store.audit(limit=3):
        yield f"inclusion {entry.seq}", _with(lambda lin, seq: lin.inclusion(seq), entry.seq)
        yield f"consistency {entry.seq}", _with(lambda lin, seq: lin.consistency(1, seq), entry.seq)
        yield f"audit of {entry.resource_id}", _with(lambda lin, one: lin.audit(resource=one), entry.resource_id)
    yield "inclusion of what is not there", lambda lin: lin.inclusion(10**6)
    yield "inclusion of a negative number", lambda lin: lin.inclusion(-1)


def of_dataset(dataset: str | Endpoint) -> Iterator[tuple[str, Query]]:
    known = dataset not in MISSING
    for asked in [dataset, str(dataset), dataset.name] if known and not isinstance(dataset, str) else [dataset]:
        yield f"dataset {asked!r}", _with(lambda lin, asked: lin.dataset(asked), asked)
        yield f"upstream of {asked!r}", _with(lambda lin, asked: lin.upstream(asked), asked)
        yield f"quality of {asked!r}", _with(lambda lin, asked: lin.quality(asked), asked)
        yield f"provenance of {asked!r}", _with(lambda lin, asked: lin.provenance(asked), asked)
        yield f"runs of {asked!r}", _with(lambda lin, asked: lin.runs(dataset=asked), asked)
    yield f"around {dataset!r}", _with(lambda lin, one: lin.pages.neighbourhood(one, columns=True), dataset)
    yield f"column links of {dataset!r}", _with(lambda lin, one: lin.pages.column_links(one), dataset)
    yield f"facets of {dataset!r}", _with(lambda lin, one: lin.output_facets("outputStatistics", dataset=one), dataset)
    for event in EVENTS_OF_PROVENANCE if known else ():
        told = dataset, event
        yield f"{event} of {dataset!r}", _with(lambda lin, told: lin.provenance(told[0], event=told[1]), told)


def of_edges(store: Store, dataset: str | Endpoint, moments: list[datetime | None]) -> Iterator[tuple[str, Query]]:
    """For each column at one time and one depth: together they cover every time and depth."""
    columns: list[str | None] = [None, "not-a-column"]
    partitions: list[str | None] = ["not-a-partition"]
    if isinstance(dataset, Dataset) and dataset not in MISSING:
        detail = store.dataset(dataset)
        columns += [None, None, *(field.name for field in detail.schema)]
        partitions += detail.partitions
    turns = zip(cycle(moments), cycle((None, 1, 10**9)), strict=False)
    for column, (as_of, depth) in zip(columns, turns, strict=False):
        asked = dataset, column, None, depth, as_of
        yield f"upstream {asked}", _with(lambda lin, asked: lin.upstream(*asked), asked)
        yield f"downstream {asked}", _with(lambda lin, asked: lin.downstream(*asked), asked)
        about = dataset, column, depth, as_of
        yield f"impact {about}", _with(lambda lin, about: lin.impact(*about), about)
    for partition, as_of in zip(partitions, cycle(moments), strict=False):
        part = dataset, None, partition, None, as_of
        yield f"upstream {part}", _with(lambda lin, part: lin.upstream(*part), part)
        yield f"downstream {part}", _with(lambda lin, part: lin.downstream(*part), part)
    for wrong in ((dataset, "x", "y", None), (dataset, None, None, 0)):
        yield f"upstream {wrong}", _with(lambda lin, asked: lin.upstream(*asked), wrong)
    yield f"impact of no depth of {dataset}", _with(lambda lin, one: lin.impact(one, depth=0), dataset)


def of_run(run_id: str) -> Iterator[tuple[str, Query]]:
    yield f"run {run_id!r}", _with(lambda lin, run_id: lin.run(run_id), run_id)
    yield f"events of {run_id!r}", _with(_bodies, run_id)
    yield f"certificates of {run_id!r}", _with(lambda lin, run_id: lin.certificates(run_id=run_id), run_id)
    yield f"verified {run_id!r}", _with(lambda lin, run_id: lin.verify_run(run_id), run_id)
    yield f"bundle of {run_id!r}", _with(lambda lin, run_id: lin.bundle(run_id), run_id)
    yield f"facets of {run_id!r}", _with(lambda lin, one: lin.output_facets("outputStatistics", run_id=one), run_id)
    yield f"diff {run_id!r} with itself", _with(lambda lin, run_id: lin.diff(run_id, run_id), run_id)


def _with(ask: Any, told: Any) -> Query:
    """A query with a bound argument: a closure over a variable of a loop would use the last one."""
    return lambda lin: ask(lin, told)


def _page_by_page(lin: Any, asked: tuple[str, int]) -> list[Any]:
    name, limit = asked
    pages: list[Any] = []
    cursor = None
    while not pages or cursor is not None:
        page = getattr(lin.pages, name)(cursor=cursor, limit=limit)
        pages.append(page)
        cursor = page.next
    return pages


def _bodies(lin: Any, run_id: str) -> list[Any]:
    listed = lin.pages.events(run_id).items
    return [(event, lin.pages.event_body(event.digest)) for event in listed]
