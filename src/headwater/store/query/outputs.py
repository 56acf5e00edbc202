"""Facets of the datasets that runs wrote: one facet, write by write."""

from __future__ import annotations

import json
from collections.abc import Generator

from sqlalchemy import select

from headwater.model.names import Dataset, Job
from headwater.model.runs import OutputFacet, RunState
from headwater.store.access.view import View
from headwater.store.query.lookup import find_run
from headwater.store.schema.tables import from_micros

_AT_ONCE = 50


def output_facets(
    view: View,
    facet: str,
    *,
    dataset_id: int | None = None,
    run_id: str | None = None,
) -> Generator[OutputFacet]:
    """Newest first. All names of a dataset count as one. A run may report its writes before it ends, and again at
    its end: each is one."""
    dataset, job, run, event, run_dataset = (
        view.tables.dataset,
        view.tables.job,
        view.tables.run,
        view.tables.run_event,
        view.tables.run_dataset,
    )
    query = (
        select(
            event.c.body,
            event.c.event_time,
            run.c.run_id,
            job.c.namespace.label("job_namespace"),
            job.c.name.label("job_name"),
        )
        .join(run, run.c.id == event.c.run_id)
        .join(job, job.c.id == run.c.job_id)
        .where(run.c.state == RunState.COMPLETE, view.tables.run_is_whole(run.c.id))
        .order_by(event.c.event_time.desc(), event.c.id.desc())
    )
    names: set[tuple[str, str]] | None = None
    if dataset_id is not None:
        known = select(dataset.c.id, dataset.c.namespace, dataset.c.name).where(dataset.c.canonical_id == dataset_id)
        named = list(view.execute(known))
        names = {(row.namespace, row.name) for row in named}
        wrote = select(run_dataset.c.run_id).where(
            run_dataset.c.dataset_id.in_([row.id for row in named]), run_dataset.c.direction == "output"
        )
        query = query.where(event.c.run_id.in_(wrote))
    if run_id is not None:
        query = query.where(event.c.run_id == find_run(view, run_id).id)
    seen: tuple[str, list[object]] = ("", [])
    with view.execute(query.execution_options(yield_per=_AT_ONCE)) as rows:  # closed also if nobody asks for the rest
        for row in rows:
            if row.run_id != seen[0]:
                seen = (row.run_id, [])
            for output in json.loads(row.body).get("outputs") or ():
                told = (output.get("outputFacets") or {}).get(facet) or (output.get("facets") or {}).get(facet)
                wanted = names is None or (output["namespace"], output["name"]) in names
                if told is None or not wanted or told in seen[1]:
                    continue
                seen[1].append(told)
                yield OutputFacet(
                    Dataset(output["namespace"], output["name"]),
                    row.run_id,
                    Job(row.job_namespace, row.job_name),
                    from_micros(row.event_time),
                    told,
                )
