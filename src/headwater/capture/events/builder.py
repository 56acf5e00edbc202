"""OpenLineage events of captured runs, built with the classes of `openlineage-python`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from openlineage.client import event_v2 as ol
from openlineage.client.facet_v2 import (
    base_subset_dataset,
    catalog_dataset,
    column_lineage_dataset,
    data_quality_metrics_dataset,
    dataset_type_dataset,
    dataset_version_dataset,
    datasource_dataset,
    error_message_run,
    input_statistics_input_dataset,
    job_type_job,
    lifecycle_state_change_dataset,
    output_statistics_output_dataset,
    parent_run,
    processing_engine_run,
    schema_dataset,
    source_code_location_job,
    sql_job,
    storage_dataset,
    symlinks_dataset,
)
from openlineage.client.generated import lineage as lineage_facet
from openlineage.client.serde import Serde
from openlineage.client.uuid import generate_new_uuid

from headwater.capture.events.facets import Facets, own_dataset_facets, own_output_facets, run_facets
from headwater.capture.events.inputs import InputColumn, WriteInput
from headwater.capture.events.run_types import Engine, Failure, ParentRun, RunIdentity, WriteOutcome
from headwater.capture.events.schema_fields import schema_fields
from headwater.capture.events.table_events import TableEvent
from headwater.capture.events.writes import CapturedWrite
from headwater.capture.listener.statistics import Amount
from headwater.capture.naming.dataset_ref import DatasetRef
from headwater.formats.openlineage.facet_names import PROVENANCE_FACET, schema_url

_LIFECYCLE = {"overwrite": "OVERWRITE", "create": "CREATE", "replace": "OVERWRITE", "rename": "RENAME"}
_MAX_TEXT_LENGTH = 100_000  # of a query, an error or a stack trace

Event = dict[str, object]


def new_run_id() -> str:
    """A UUID of version 7, as OpenLineage recommends: ids sort by time."""
    return str(generate_new_uuid())


class EventBuilder:
    """Builds the events of one application."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._producer = engine.producer

    def start(self, run: RunIdentity, at: datetime, written: CapturedWrite | None = None) -> Event:
        job_facets = self._job_facets(run, written.sql if written else None)
        return self._event(ol.RunState.START, run, at, {}, job_facets, *_planned_datasets(written))

    def progress(self, run: RunIdentity, at: datetime, outcome: WriteOutcome) -> Event:
        """One of several writes of a run. The event states its own lineage, so that the inputs of other writes of the
        run are not taken for its own."""
        if not outcome.wrote_anything:
            return self._event(ol.RunState.RUNNING, run, at, {}, self._job_facets(run, outcome.written.sql), [], [])
        inputs, fields = _lineage_members(outcome.written)
        entry = lineage_facet.LineageDatasetEntry(
            *outcome.written.target.key, type="DATASET", inputs=inputs, fields=fields
        )
        facets = self._job_facets(run, outcome.written.sql)
        facets["lineage"] = lineage_facet.LineageJobFacet(entries=[entry], producer=self._producer)
        return self._event(ol.RunState.RUNNING, run, at, {}, facets, *self._datasets([outcome]))

    def complete(
        self,
        run: RunIdentity,
        at: datetime,
        outcomes: Sequence[WriteOutcome] = (),
        reported: Sequence[WriteOutcome] = (),
        inputs: Iterable[WriteInput] = (),
        extra_facets: Mapping[str, Mapping[str, object]] | None = None,
    ) -> Event:
        """``reported`` are writes that events of their own have described: only their metrics are added.
        ``inputs`` are those of a run without a known output; ``extra_facets`` are further facets of the run."""
        outcomes = [outcome for outcome in outcomes if outcome.wrote_anything]
        facets = self._with_producer(extra_facets) | run_facets([*reported, *outcomes], self._producer)
        sql = outcomes[0].written.sql if len(outcomes) == 1 else None
        read, written = self._datasets(outcomes)
        read += [self._input(item, None) for item in inputs]
        return self._event(ol.RunState.COMPLETE, run, at, facets, self._job_facets(run, sql), read, written)

    def fail(
        self,
        run: RunIdentity,
        at: datetime,
        failure: Failure,
        written: CapturedWrite | None = None,
        extra_facets: Mapping[str, Mapping[str, object]] | None = None,
    ) -> Event:
        facets = self._with_producer(extra_facets) | {
            "errorMessage": error_message_run.ErrorMessageRunFacet(
                message=failure.message[:_MAX_TEXT_LENGTH],
                programmingLanguage=failure.language,
                stackTrace=failure.stack_trace and failure.stack_trace[:_MAX_TEXT_LENGTH],
                producer=self._producer,
            )
        }
        job_facets = self._job_facets(run, written.sql if written else None)
        return self._event(ol.RunState.FAIL, run, at, facets, job_facets, *_planned_datasets(written))

    def view(self, written: CapturedWrite, at: datetime) -> Event:
        """The definition of a view, as an event about the view itself: no captured run created it."""
        inputs, fields = _lineage_members(written)
        facets = self._dataset_facets(written.target) | self._output_facets(written)
        facets["lineage"] = lineage_facet.LineageDatasetFacet(inputs=inputs, fields=fields, producer=self._producer)
        event = ol.DatasetEvent(
            eventTime=_time_text(at),
            producer=self._producer,
            dataset=ol.StaticDataset(*written.target.key, facets=facets),
        )
        return _to_dict(event)

    def dropped(
        self, table: DatasetRef, at: datetime, run: RunIdentity, facets: Mapping[str, Mapping[str, object]]
    ) -> Event:
        """An event about the table itself. As an event of a run it would state that the job now writes this table from
        no input.

        ``facets`` of the run may state its purpose.
        """
        return self.table_changed(TableEvent(table, "DROP", f"DROP {table.kind}", {}), at, run, facets)

    def table_changed(
        self, change: TableEvent, at: datetime, run: RunIdentity, facets: Mapping[str, Mapping[str, object]]
    ) -> Event:
        """The same about another change that moves no rows."""
        table = change.dataset
        provenance = {
            "event_type": "deleted" if change.state == "DROP" else "modified",
            "agent": {"type": "job", "id": f"{run.namespace or self._engine.namespace}/{run.job}"},
            "operation": {
                "type": "write",
                "method": change.method,
                "parameters": {"run_id": run.run_id, **change.parameters},
            },
            **facets.get(PROVENANCE_FACET, {}),
        }
        stated = {
            "lifecycleStateChange": self._lifecycle(change.state, change.previous),
            **self._with_producer({PROVENANCE_FACET: provenance}),
        }
        event = ol.DatasetEvent(
            eventTime=_time_text(at),
            producer=self._producer,
            dataset=ol.StaticDataset(*table.key, facets=self._dataset_facets(table) | stated),
        )
        return _to_dict(event)

    def _with_producer(self, facets: Mapping[str, Mapping[str, object]] | None) -> Facets:
        return {
            name: {"_producer": self._producer, "_schemaURL": schema_url(name), **content}
            for name, content in (facets or {}).items()
        }

    # -- parts --------------------------------------------------------------------------------------------------------

    def _event(
        self,
        state: ol.RunState,
        run: RunIdentity,
        at: datetime,
        run_facets: Facets,
        job_facets: Facets,
        inputs: list[ol.InputDataset],
        outputs: list[ol.OutputDataset],
    ) -> Event:
        facets = {
            "processing_engine": processing_engine_run.ProcessingEngineRunFacet(
                version=self._engine.spark_version,
                name="spark",
                openlineageAdapterVersion=self._engine.headwater_version,
                producer=self._producer,
            ),
            **run_facets,
        }
        if run.parent is not None:
            facets["parent"] = self._parent(run.parent)
        event = ol.RunEvent(
            eventType=state,
            eventTime=_time_text(at),
            run=ol.Run(run.run_id, facets=facets),
            job=ol.Job(run.namespace or self._engine.namespace, run.job, facets=job_facets),
            inputs=inputs,
            outputs=outputs,
            producer=self._producer,
        )
        return _to_dict(event)

    def _parent(self, parent: ParentRun) -> parent_run.ParentRunFacet:
        root = None
        if parent.root is not None:
            root_job = parent_run.RootJob(parent.root.namespace, parent.root.job)
            root = parent_run.Root(parent_run.RootRun(parent.root.run_id), root_job)
        return parent_run.ParentRunFacet(
            run=parent_run.Run(parent.run_id),
            job=parent_run.Job(parent.namespace, parent.job),
            root=root,
            producer=self._producer,
        )

    def _job_facets(self, run: RunIdentity, sql: str | None) -> Facets:
        facets: Facets = {
            "jobType": job_type_job.JobTypeJobFacet(
                processingType="STREAMING" if run.streaming else "BATCH",
                integration="SPARK",
                jobType="QUERY" if sql else "JOB",
                producer=self._producer,
            )
        }
        if sql:
            facets["sql"] = sql_job.SQLJobFacet(query=sql[:_MAX_TEXT_LENGTH], dialect="spark", producer=self._producer)
        code = self._engine.code
        if code is not None:
            facets["sourceCodeLocation"] = source_code_location_job.SourceCodeLocationJobFacet(
                type="git" if code.commit else "file",
                url=code.url,
                repoUrl=code.repository,
                path=code.path,
                version=code.commit,
                branch=code.branch,
                producer=self._producer,
            )
        return facets

    def _datasets(self, outcomes: Sequence[WriteOutcome]) -> tuple[list[ol.InputDataset], list[ol.OutputDataset]]:
        inputs: dict[tuple[str, str], ol.InputDataset] = {}
        for outcome in outcomes:
            for item in outcome.written.inputs:
                inputs[item.dataset.key] = self._input(item, outcome.read.get(item.dataset.key))
        return list(inputs.values()), [self._output(outcome) for outcome in outcomes]

    def _input(self, item: WriteInput, amount: Amount | None) -> ol.InputDataset:
        facets = self._dataset_facets(item.dataset)
        if item.columns:
            facets["schema"] = self._schema((column.name, column.type) for column in item.columns)
        input_facets: Facets = {}
        if amount:
            input_facets["inputStatistics"] = input_statistics_input_dataset.InputStatisticsInputDatasetFacet(
                rowCount=amount.rows, size=amount.bytes, fileCount=amount.files, producer=self._producer
            )
        if item.dataset.partitions:
            condition = _partition_condition(item.dataset.partitions)
            input_facets["subset"] = base_subset_dataset.InputSubsetInputDatasetFacet(
                inputCondition=condition, producer=self._producer
            )
        return ol.InputDataset(*item.dataset.key, facets=facets, inputFacets=input_facets)

    def _output(self, outcome: WriteOutcome) -> ol.OutputDataset:
        written, amount = outcome.written, outcome.amount
        facets = self._dataset_facets(written.target) | self._output_facets(written)
        if outcome.quality is not None:
            facets["dataQualityMetrics"] = data_quality_metrics_dataset.DataQualityMetricsDatasetFacet(
                rowCount=outcome.quality.rows,
                columnMetrics={
                    name: data_quality_metrics_dataset.ColumnMetrics(
                        nullCount=counts.nulls, distinctCount=counts.distinct
                    )
                    for name, counts in outcome.quality.columns.items()
                },
                producer=self._producer,
            )
        output_facets: Facets = {}
        if amount:
            output_facets["outputStatistics"] = output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(
                rowCount=amount.rows, size=amount.bytes, fileCount=amount.files, producer=self._producer
            )
        if outcome.partition is not None:
            named = base_subset_dataset.Partition(dimensions={}, identifier=outcome.partition)
            output_facets["subset"] = base_subset_dataset.OutputSubsetOutputDatasetFacet(
                outputCondition=base_subset_dataset.PartitionSubsetCondition(partitions=[named]),
                producer=self._producer,
            )
        elif written.target.partitions:
            output_facets["subset"] = base_subset_dataset.OutputSubsetOutputDatasetFacet(
                outputCondition=_partition_condition(written.target.partitions), producer=self._producer
            )
        output_facets |= own_output_facets(outcome, self._producer)
        return ol.OutputDataset(*written.target.key, facets=facets, outputFacets=output_facets)

    def _dataset_facets(self, dataset: DatasetRef) -> Facets:
        facets: Facets = {
            "datasetType": dataset_type_dataset.DatasetTypeDatasetFacet(dataset.kind, producer=self._producer)
        }
        if dataset.uri:
            facets["dataSource"] = datasource_dataset.DatasourceDatasetFacet(
                name=dataset.namespace, uri=dataset.uri, producer=self._producer
            )
        if dataset.symlink:
            symlink = symlinks_dataset.Identifier(*dataset.symlink, type="TABLE")
            facets["symlinks"] = symlinks_dataset.SymlinksDatasetFacet([symlink], producer=self._producer)
        if dataset.format:
            facets["storage"] = storage_dataset.StorageDatasetFacet(
                storageLayer=_storage_layer(dataset), fileFormat=dataset.format, producer=self._producer
            )
        if dataset.catalog:
            facets["catalog"] = catalog_dataset.CatalogDatasetFacet(
                framework=dataset.catalog.framework,
                type=dataset.catalog.type,
                name=dataset.catalog.name,
                metadataUri=dataset.catalog.metadata_uri,
                warehouseUri=dataset.catalog.warehouse_uri,
                source="spark",
                producer=self._producer,
            )
        if dataset.version:
            facets["version"] = dataset_version_dataset.DatasetVersionDatasetFacet(
                dataset.version, producer=self._producer
            )
        return facets

    def _output_facets(self, written: CapturedWrite) -> Facets:
        facets = own_dataset_facets(written, self._producer)
        if written.columns:
            facets["schema"] = self._schema((column.name, column.type) for column in written.columns)
        if any(written.fields.values()) or written.whole:
            facets["columnLineage"] = column_lineage_dataset.ColumnLineageDatasetFacet(
                fields={
                    name: column_lineage_dataset.Fields(inputFields=_input_fields(sources))
                    for name, sources in written.fields.items()
                    if sources
                },
                dataset=_input_fields(written.whole),
                producer=self._producer,
            )
        if written.kind in _LIFECYCLE:
            previous = written.inputs[0].dataset.key if written.kind == "rename" and written.inputs else None
            facets["lifecycleStateChange"] = self._lifecycle(_LIFECYCLE[written.kind], previous)
        return facets

    def _lifecycle(
        self, state: str, previous: tuple[str, str] | None
    ) -> lifecycle_state_change_dataset.LifecycleStateChangeDatasetFacet:
        """``previous``: namespace and name before a table was renamed."""
        return lifecycle_state_change_dataset.LifecycleStateChangeDatasetFacet(
            lifecycle_state_change_dataset.LifecycleStateChange(state),
            None
            if previous is None
            else lifecycle_state_change_dataset.PreviousIdentifier(name=previous[1], namespace=previous[0]),
            producer=self._producer,
        )

    def _schema(self, columns: Iterable[tuple[str, object]]) -> schema_dataset.SchemaDatasetFacet:
        return schema_dataset.SchemaDatasetFacet(fields=schema_fields(columns), producer=self._producer)


def _planned_datasets(written: CapturedWrite | None) -> tuple[list[ol.InputDataset], list[ol.OutputDataset]]:
    """What a write that has not ended will read and write, as far as that is certain."""
    if written is None or not written.is_certain:
        return [], []
    return [ol.InputDataset(*item.dataset.key) for item in written.inputs], [ol.OutputDataset(*written.target.key)]


def _input_fields(columns: Iterable[InputColumn]) -> list[column_lineage_dataset.InputField]:
    """One entry per source column, with all its transformations."""
    transformations_by_column: dict[tuple[str, str, str], list[column_lineage_dataset.Transformation]] = {}
    for column in columns:
        transformation = column_lineage_dataset.Transformation(
            type=column.type, subtype=column.subtype, description=column.logic, masking=column.masking
        )
        transformations_by_column.setdefault((*column.dataset.key, column.field), []).append(transformation)
    return [
        column_lineage_dataset.InputField(*key, transformations=transformations)
        for key, transformations in transformations_by_column.items()
    ]


def _lineage_members(
    written: CapturedWrite,
) -> tuple[list[lineage_facet.LineageInput], dict[str, lineage_facet.LineageFieldEntry]]:
    """The write in terms of the `lineage` facet: every input, the columns that decide over rows, and the fields."""
    inputs = [lineage_facet.LineageDatasetInput(*item.dataset.key, type="DATASET") for item in written.inputs]
    fields = {
        name: lineage_facet.LineageFieldEntry(inputs=[_lineage_input(source) for source in sources])
        for name, sources in written.fields.items()
        if sources
    }
    return [*inputs, *(_lineage_input(column) for column in written.whole)], fields


def _lineage_input(column: InputColumn) -> lineage_facet.LineageDatasetInput:
    transformation = lineage_facet.LineageTransformation(
        type=column.type, subtype=column.subtype, description=column.logic, masking=column.masking
    )
    return lineage_facet.LineageDatasetInput(
        *column.dataset.key, type="DATASET", field=column.field, transformations=[transformation]
    )


def _partition_condition(partitions: Iterable[Mapping[str, str]]) -> base_subset_dataset.PartitionSubsetCondition:
    named = [base_subset_dataset.Partition(dimensions=dict(partition)) for partition in partitions]
    return base_subset_dataset.PartitionSubsetCondition(partitions=named)


def _storage_layer(dataset: DatasetRef) -> str:
    return dataset.format if dataset.format in ("delta", "iceberg", "hudi") else dataset.namespace.split(":", 1)[0]


def _time_text(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _to_dict(event: ol.RunEvent | ol.DatasetEvent) -> Event:
    plain: Event = Serde.to_dict(event)
    return plain
