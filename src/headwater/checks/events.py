"""A check as two OpenLineage events: a run that reads a dataset, writes nothing, and reports quality as input
facets."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import attr
from openlineage.client import event_v2 as ol
from openlineage.client.facet_v2 import (
    data_quality_assertions_dataset,
    data_quality_metrics_input_dataset,
    dataset_version_dataset,
    job_type_job,
)
from openlineage.client.generated.base import DatasetFacet, InputDatasetFacet, JobFacet
from openlineage.client.serde import Serde

from headwater.checks.measuring import RuleCounts
from headwater.formats.openlineage.facet_names import QUALITY_FACET, schema_url
from headwater.model.names import Dataset, Job
from headwater.model.quality import QualityReport, Rule, RuleKind

_PRODUCER = "urn:headwater:checks"


@attr.define
class QualityInputDatasetFacet(InputDatasetFacet):
    """The document of WIA-DATA-008."""

    measured_at: str
    metrics: dict[str, object]
    validations: list[dict[str, object]]
    anomalies: list[dict[str, object]]
    rows: int

    @staticmethod
    def _get_schema() -> str:
        return schema_url(QUALITY_FACET)


@attr.define
class ChecksJobFacet(JobFacet):
    """Marks a job whose runs measure quality."""

    checks: bool

    @staticmethod
    def _get_schema() -> str:
        return schema_url(QUALITY_FACET)


def quality_events(
    run_id: str,
    job: Job,
    dataset: Dataset,
    version: str | None,
    began: datetime,
    rules: Sequence[Rule],
    counts: RuleCounts,
    report: QualityReport,
) -> list[dict[str, object]]:
    """``version`` is the table version that was read."""
    input_facets = {
        "dataQualityMetrics": _metrics(counts),
        "dataQualityAssertions": _assertions(rules, report),
        QUALITY_FACET: QualityInputDatasetFacet(**report.document(), producer=_PRODUCER),
    }
    facets: dict[str, DatasetFacet] = {}
    if version is not None:
        facets["version"] = dataset_version_dataset.DatasetVersionDatasetFacet(version, producer=_PRODUCER)
    assert report.measured_at is not None
    return [
        _event(ol.RunState.START, run_id, job, began, ol.InputDataset(dataset.namespace, dataset.name)),
        _event(
            ol.RunState.COMPLETE,
            run_id,
            job,
            datetime.now(UTC),
            ol.InputDataset(dataset.namespace, dataset.name, facets=facets, inputFacets=input_facets),
        ),
    ]


def _event(state: ol.RunState, run_id: str, job: Job, time: datetime, read: ol.InputDataset) -> dict[str, object]:
    kind = job_type_job.JobTypeJobFacet(
        processingType="BATCH", integration="HEADWATER", jobType="QUALITY", producer=_PRODUCER
    )
    # Beside the job type, which differs in other runs of a job that also writes.
    facets = {"jobType": kind, QUALITY_FACET: ChecksJobFacet(checks=True, producer=_PRODUCER)}
    event = ol.RunEvent(
        eventType=state,
        eventTime=time.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z"),
        run=ol.Run(run_id),
        job=ol.Job(job.namespace, job.name, facets=facets),
        inputs=[read],
        outputs=[],
        producer=_PRODUCER,
    )
    document: dict[str, object] = Serde.to_dict(event)
    return document


def _metrics(counts: RuleCounts) -> data_quality_metrics_input_dataset.DataQualityMetricsInputDatasetFacet:
    columns = dict.fromkeys([*counts.nulls, *counts.distinct])
    return data_quality_metrics_input_dataset.DataQualityMetricsInputDatasetFacet(
        rowCount=counts.rows,
        columnMetrics={
            name: data_quality_metrics_input_dataset.ColumnMetrics(
                nullCount=counts.nulls.get(name), distinctCount=counts.distinct.get(name), quantiles=None
            )
            for name in columns
        },
        producer=_PRODUCER,
    )


def _assertions(
    rules: Sequence[Rule], report: QualityReport
) -> data_quality_assertions_dataset.DataQualityAssertionsDatasetFacet:
    return data_quality_assertions_dataset.DataQualityAssertionsDatasetFacet(
        assertions=[
            data_quality_assertions_dataset.Assertion(
                assertion=str(rule.kind),
                success=bool(validation.passed),
                column=rule.columns[0] if len(rule.columns) == 1 else None,
                name=rule.name,
                description=rule.asks,
                expected="0",
                actual=str(validation.failed_count),
                content=rule.condition if rule.kind is RuleKind.CUSTOM else None,
                contentType="sql" if rule.kind is RuleKind.CUSTOM else None,
                params=None,
            )
            for rule, validation in zip(rules, report.validations, strict=True)
        ],
        producer=_PRODUCER,
    )
