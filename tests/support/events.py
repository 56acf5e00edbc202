"""OpenLineage events, as small as a test needs them.

A dataset is given by its plain name, which puts it into :data:`NAMESPACE`, or in full by :func:`used`. A run is
given by a nickname, from which :func:`run_id` makes a UUID. Times are minutes after :data:`DAWN`.
"""

from __future__ import annotations

import copy
import uuid
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from headwater.model.names import Dataset, Job

NAMESPACE = "warehouse"
JOB_NAMESPACE = "scheduler"
DAWN = datetime(2026, 11, 15, 6, 0, tzinfo=UTC)
PRODUCER = "https://example.com/producer"
CORE = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs"
FACETS = "https://openlineage.io/spec/facets"

Json = dict[str, Any]
Use = str | Mapping[str, Any]
ColumnSource = tuple[str, str] | tuple[str, str, str, str]
"""Dataset and column; then, where it matters, the type and the subtype of the transformation."""


def at(minute: float) -> datetime:
    return DAWN + timedelta(minutes=minute)


def run_id(nickname: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, nickname))


def ds(name: str) -> Dataset:
    return Dataset(NAMESPACE, name)


def named_job(name: str) -> Job:
    return Job(JOB_NAMESPACE, name)


# -- events -----------------------------------------------------------------------------------------------------------


def run_event(
    event_type: str | None = "COMPLETE",
    *,
    run: str = "run",
    job: str = "job",
    inputs: Iterable[Use] = (),
    outputs: Iterable[Use] = (),
    minute: float = 0,
    run_facets: Mapping[str, Any] | None = None,
    job_facets: Mapping[str, Any] | None = None,
) -> Json:
    event: Json = {
        "eventTime": at(minute).isoformat(),
        "producer": PRODUCER,
        "schemaURL": f"{CORE}/RunEvent",
        "run": {"runId": run_id(run), "facets": dict(run_facets or {})},
        "job": {"namespace": JOB_NAMESPACE, "name": job, "facets": dict(job_facets or {})},
        "inputs": [_use(use) for use in inputs],
        "outputs": [_use(use) for use in outputs],
    }
    if event_type is not None:
        event["eventType"] = event_type
    return event


def job_event(
    *,
    job: str = "job",
    inputs: Iterable[Use] = (),
    outputs: Iterable[Use] = (),
    minute: float = 0,
    job_facets: Mapping[str, Any] | None = None,
) -> Json:
    event = run_event(None, job=job, inputs=inputs, outputs=outputs, minute=minute, job_facets=job_facets)
    del event["run"]
    return event | {"schemaURL": f"{CORE}/JobEvent"}


def dataset_event(use: Use, *, minute: float = 0) -> Json:
    return {
        "eventTime": at(minute).isoformat(),
        "producer": PRODUCER,
        "schemaURL": f"{CORE}/DatasetEvent",
        "dataset": _use(use),
    }


def used(
    name: str,
    *,
    namespace: str = NAMESPACE,
    facets: Mapping[str, Any] | None = None,
    input_facets: Mapping[str, Any] | None = None,
    output_facets: Mapping[str, Any] | None = None,
) -> Json:
    """A dataset with all its facets."""
    use: Json = {"namespace": namespace, "name": name}
    for key, value in (("facets", facets), ("inputFacets", input_facets), ("outputFacets", output_facets)):
        if value is not None:
            use[key] = dict(value)
    return use


def read_in_part(name: str, *partitions: str) -> Json:
    return used(name, input_facets={"subset": facet(inputCondition=_partitions(partitions))})


def written_in_part(name: str, *partitions: str, **facets: Any) -> Json:
    return used(name, facets=facets, output_facets={"subset": facet(outputCondition=_partitions(partitions))})


def chain(length: int, *, prefix: str = "step") -> list[Json]:
    """``length`` hops in a row: step-0 → step-1 → … → step-<length>."""
    return [
        run_event(
            run=f"{prefix}-{i}", job=f"{prefix}-{i}", inputs=[f"{prefix}-{i}"], outputs=[f"{prefix}-{i + 1}"], minute=i
        )
        for i in range(length)
    ]


def _use(use: Use) -> Json:
    return used(use) if isinstance(use, str) else copy.deepcopy(dict(use))


def _partitions(names: Iterable[str]) -> Json:
    return {"type": "partition", "partitions": [{"identifier": name, "dimensions": {"day": name}} for name in names]}


# -- facets -----------------------------------------------------------------------------------------------------------


def facet(**body: Any) -> Json:
    return {"_producer": PRODUCER, "_schemaURL": f"{FACETS}/1-0-0/AnyFacet.json", **body}


def deleted() -> Json:
    return facet(_deleted=True)


def schema(*columns: str) -> Json:
    """From `name` or `name:type`."""
    fields = []
    for column in columns:
        name, _, kind = column.partition(":")
        fields.append({"name": name, "type": kind} if kind else {"name": name})
    return facet(fields=fields)


def column_lineage(
    fields: Mapping[str, Iterable[ColumnSource]], *, dataset: Iterable[ColumnSource] | None = None
) -> Json:
    """Both forms: the second, with ``dataset``, states dependencies of every row once."""
    body: Json = {
        "fields": {name: {"inputFields": [_input_field(s) for s in sources]} for name, sources in fields.items()}
    }
    if dataset is not None:
        body["dataset"] = [_input_field(source) for source in dataset]
    return facet(**body)


def legacy_column_lineage(fields: Mapping[str, Iterable[ColumnSource]], kind: str, description: str) -> Json:
    """The first form of the facet: one transformation per output column, none per input."""
    return facet(
        fields={
            name: {
                "inputFields": [_input_field(source) for source in sources],
                "transformationType": kind,
                "transformationDescription": description,
            }
            for name, sources in fields.items()
        }
    )


def _input_field(source: ColumnSource) -> Json:
    field: Json = {"namespace": NAMESPACE, "name": source[0], "field": source[1]}
    if len(source) == 4:
        field["transformations"] = [{"type": source[2], "subtype": source[3]}]
    return field


def lineage_facet(*entries: Mapping[str, Any]) -> Json:
    """The explicit `lineage` facet of a job."""
    return facet(entries=list(entries))


def dataset_entry(name: str, inputs: Iterable[Mapping[str, Any]] = (), **more: Any) -> Json:
    return {"type": "DATASET", "namespace": NAMESPACE, "name": name, "inputs": list(inputs), **more}


def job_entry(name: str, inputs: Iterable[Mapping[str, Any]] = (), **more: Any) -> Json:
    return {"type": "JOB", "namespace": JOB_NAMESPACE, "name": name, "inputs": list(inputs), **more}


def from_dataset(name: str, **more: Any) -> Json:
    return {"type": "DATASET", "namespace": NAMESPACE, "name": name, **more}


def from_job(name: str, **more: Any) -> Json:
    return {"type": "JOB", "namespace": JOB_NAMESPACE, "name": name, **more}


def symlinks(*names: str, namespace: str = "catalog") -> Json:
    return facet(identifiers=[{"namespace": namespace, "name": name, "type": "TABLE"} for name in names])


def ownership(*owners: str) -> Json:
    return facet(owners=[{"name": owner} for owner in owners])


def tags(**values: str) -> Json:
    return facet(tags=[{"key": key, "value": value} for key, value in values.items()])


def parent(run: str, job: str = "parent") -> Json:
    return facet(run={"runId": run_id(run)}, job={"namespace": JOB_NAMESPACE, "name": job})
