"""What is known of the quality of datasets: measured by runs, stated, or brought by imports.

The documents are nowhere but in events. Which events may hold one is known without reading them: those of runs of jobs
that say they check quality, and declarations of the dataset itself.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from sqlalchemy import Text, select, type_coerce

from headwater.formats.openlineage.facet_names import QUALITY_FACET
from headwater.formats.wia.events import read_wia_facet
from headwater.formats.wia.ids import StableIds
from headwater.formats.wia.quality import read_quality
from headwater.model.names import Dataset, Job
from headwater.model.quality import QualityBasis, QualityStatement
from headwater.model.runs import RunState
from headwater.model.versions import VersionOf
from headwater.store.access.view import View
from headwater.store.fold.descriptions import merged_document
from headwater.store.schema.tables import from_micros, to_micros

_AT_ONCE = 50
_CHECKS_QUALITY = f'"{QUALITY_FACET}":'  # among the facets of a job, as they are written down: see tables.Json


@dataclass(frozen=True)
class QualityOfDataset:
    """A statement, of a dataset by its number. ``at`` is the moment whose version it is about."""

    dataset_id: int
    at: int
    statement: QualityStatement


def quality(view: View, dataset_id: int, limit: int) -> list[QualityStatement]:
    """The newest first, by when it was measured."""
    told = [*quality_of_datasets(view, [dataset_id]), *_imported_quality(view, dataset_id)]
    first: dict[str, QualityOfDataset] = {}
    for one in told:  # an import may bring back what was measured here
        first.setdefault(one.statement.quality_id, one)
    newest = sorted(first.values(), key=lambda one: (one.statement.at, one.statement.quality_id), reverse=True)
    return [replace(one.statement, version=version_at(view, one.dataset_id, one.at)) for one in newest[:limit]]


def quality_of_datasets(view: View, dataset_ids: Collection[int]) -> Iterator[QualityOfDataset]:
    """Of datasets by their canonical numbers: what was measured, and what was stated. The names under which a dataset
    is known are one."""
    dataset = view.tables.dataset
    query = select(dataset.c.id, dataset.c.canonical_id, dataset.c.namespace, dataset.c.name)
    query = query.where(view.one_of(dataset.c.canonical_id, dataset_ids))
    rows = view.execute(query).all()
    names = {Dataset(row.namespace, row.name): row.canonical_id for row in rows}
    ids = [row.id for row in rows]
    mint = StableIds(view.exchange_secret())
    yield from _measured_quality(view, ids, names, mint)
    yield from _stated_quality(view, ids, names, mint)


def _measured_quality(
    view: View, ids: Collection[int], names: Mapping[Dataset, int], mint: StableIds
) -> Iterator[QualityOfDataset]:
    job, run, event, run_dataset = view.tables.job, view.tables.run, view.tables.run_event, view.tables.run_dataset
    checking = select(job.c.id).where(type_coerce(job.c.facets, Text).contains(_CHECKS_QUALITY, autoescape=True))
    read = select(run_dataset.c.run_id).where(
        view.one_of(run_dataset.c.dataset_id, ids), run_dataset.c.direction == "input"
    )
    query = (
        select(event.c.body, event.c.event_time, run.c.run_id, run.c.started_at, run.c.first_event_at)
        .add_columns(job.c.namespace, job.c.name)
        .join(run, run.c.id == event.c.run_id)
        .join(job, job.c.id == run.c.job_id)
        .where(run.c.job_id.in_(checking), run.c.state == RunState.COMPLETE, run.c.id.in_(read))
        .where(view.tables.run_is_whole(run.c.id))
        .order_by(event.c.event_time.desc(), event.c.digest)
    )
    seen: set[tuple[str, int]] = set()
    with view.execute(query.execution_options(yield_per=_AT_ONCE)) as rows:
        for row in rows:
            for named, facets in _inputs(row.body):
                found, dataset_id = read_quality(facets.get(QUALITY_FACET)), names.get(named)
                if found is None or dataset_id is None or (row.run_id, dataset_id) in seen:
                    continue
                seen.add((row.run_id, dataset_id))  # the last that a run says of one counts
                report, own_id = found
                quality_id = own_id or mint.id("quality", named.namespace, named.name, row.run_id)
                at = row.started_at if row.started_at is not None else row.first_event_at
                by = Job(row.namespace, row.name)
                told_at = from_micros(row.event_time)
                yield QualityOfDataset(
                    dataset_id,
                    at,
                    QualityStatement(
                        quality_id=quality_id,
                        dataset=named,
                        basis=QualityBasis.MEASURED,
                        told_at=told_at,
                        report=report,
                        job=by,
                        run_id=row.run_id,
                    ),
                )


def _inputs(body: bytes) -> Iterator[tuple[Dataset, Mapping[str, object]]]:
    if QUALITY_FACET.encode() not in body:
        return
    for used in json.loads(body).get("inputs") or ():
        facets = used.get("inputFacets")
        if isinstance(facets, Mapping):
            yield Dataset(used["namespace"], used["name"]), facets


def _stated_quality(
    view: View, ids: Collection[int], names: Mapping[Dataset, int], mint: StableIds
) -> Iterator[QualityOfDataset]:
    event = view.tables.event
    query = select(event.c.body, event.c.event_time, event.c.digest).where(view.one_of(event.c.dataset_id, ids))
    with view.execute(query.order_by(event.c.id).execution_options(yield_per=_AT_ONCE)) as rows:
        for row in rows:
            if QUALITY_FACET.encode() not in row.body:
                continue
            said = json.loads(row.body)["dataset"]
            named, facets = Dataset(said["namespace"], said["name"]), said.get("facets")
            found = read_quality(facets.get(QUALITY_FACET)) if isinstance(facets, Mapping) else None
            if found is not None and named in names:
                report, own_id = found
                quality_id = own_id or mint.id("quality", named.namespace, named.name, row.digest.hex())
                statement = QualityStatement(
                    quality_id, named, QualityBasis.STATED, from_micros(row.event_time), report
                )
                yield QualityOfDataset(names[named], to_micros(statement.at), statement)


def _imported_quality(view: View, dataset_id: int) -> Iterator[QualityOfDataset]:
    """As an export gives them back: those of the last import."""
    dataset = view.tables.dataset
    query = select(dataset.c.namespace, dataset.c.name, dataset.c.facets).where(dataset.c.canonical_id == dataset_id)
    query = query.order_by(dataset.c.id != dataset_id, dataset.c.namespace, dataset.c.name)
    rows = view.execute(query).all()
    kept = read_wia_facet(merged_document([row.facets for row in rows]))
    for document in kept.quality:
        found = read_quality(document)
        if found is not None and found[1] is not None:
            named, told_at = Dataset(rows[0].namespace, rows[0].name), from_micros(kept.micros)
            statement = QualityStatement(found[1], named, QualityBasis.IMPORTED, told_at, found[0])
            yield QualityOfDataset(dataset_id, to_micros(statement.at), statement)


def version_at(view: View, dataset_id: int, at: int) -> VersionOf | None:
    """The version that a dataset had at a moment."""
    dataset, run, version, label = view.tables.dataset, view.tables.run, view.tables.version, view.tables.label
    query = (
        select(dataset.c.namespace, dataset.c.name, version.c.written_at)
        .add_columns(run.c.run_id, label.c.text.label("partition"))
        .join(dataset, dataset.c.id == version.c.dataset_id)
        .outerjoin(run, run.c.id == version.c.run_id)
        .outerjoin(label, label.c.id == version.c.partition_id)
        .where(version.c.dataset_id == dataset_id, version.c.written_at <= at)
        .order_by(version.c.written_at.desc(), version.c.tiebreak.desc())
    )
    row = view.execute(query.limit(1)).first()
    if row is None:
        return None
    return VersionOf(Dataset(row.namespace, row.name), from_micros(row.written_at), row.partition, row.run_id)
