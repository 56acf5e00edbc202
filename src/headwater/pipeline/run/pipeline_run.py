"""A run of a pipeline from beginning to end: nodes, items, sinks, report and events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from threading import Event
from typing import TYPE_CHECKING, TypedDict

from headwater.capture.listener.application import Capture
from headwater.capture.listener.named_runs import NamedRun
from headwater.errors import PipelineCancelled
from headwater.formats.openlineage.facet_names import PIPELINE_FACET, PROVENANCE_FACET
from headwater.model.expectations import Expectation
from headwater.model.runs import RunState
from headwater.pipeline.declare.nodes import PipelineNode, SourceNode
from headwater.pipeline.declare.options import LineageOptions
from headwater.pipeline.declare.pipeline import PipelineDeclaration, edges_of
from headwater.pipeline.items.finalize import ItemFinalizer
from headwater.pipeline.items.record_shape import describe_without_values
from headwater.pipeline.run.evidence import LedgerBalance, declared_evidence, key_column_ids
from headwater.pipeline.run.execution import PipelineExecution, Watcher
from headwater.pipeline.run.progress import ProgressBars
from headwater.pipeline.run.report import NodeReport, PipelineReport
from headwater.pipeline.run.result import Result
from headwater.pipeline.run.workspace import Workspace
from headwater.pipeline.sinks import RunInfo, Sink, SinkGroup

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFAULT_LOCATION = ".headwater/pipelines"


class RunArguments(TypedDict):
    """What a run takes besides the pipeline and the session."""

    partition: str | None
    options: LineageOptions
    capture: Capture | None
    sinks: Sequence[Sink]
    progress: bool | None
    checksums: str | None


class PipelineRun:
    """``run`` executes it in the calling thread; ``cancel`` ends it from any other thread."""

    def __init__(
        self,
        pipeline: PipelineDeclaration,
        spark: SparkSession,
        *,
        partition: str | None,
        options: LineageOptions,
        capture: Capture | None,
        sinks: Sequence[Sink],
        progress: bool | None,
        checksums: str | None = None,
    ) -> None:
        self.nodes = pipeline.check()
        self._pipeline = pipeline
        self._spark = spark
        self._partition = partition
        self._options = options
        self._capture = capture
        self._sinks = sinks
        self._progress = progress
        self._checksums = checksums
        self._keys: list[frozenset[int]] = []
        """The declared keys of the sources that were read."""
        self._cancelled = Event()
        self._tag: str | None = None

    @property
    def job(self) -> str:
        """The name of the job."""
        return self._pipeline.name

    @property
    def expectations(self) -> Sequence[Expectation]:
        return self._pipeline.expectations

    def cancel(self) -> None:
        self._cancelled.set()
        self._end_jobs()

    def _end_jobs(self) -> None:
        if self._tag is not None:
            self._spark.sparkContext.cancelJobsWithTag(self._tag)

    def run(self) -> Result:
        with self._named_run() as named:
            run_id = _new_run_id() if named is None else named.identity.run_id
            with (
                self._tag_jobs(f"headwater-pipeline-{run_id}"),
                ProgressBars(self.nodes, self._spark, self._progress) as bar,
            ):
                return self._run(run_id, named, bar)

    @contextmanager
    def _named_run(self) -> Iterator[NamedRun | None]:
        if self._capture is None:
            yield None
            return
        follows_all = self._options.mode == "full"
        evidence = self._capture.evidence_options(
            self._checksums, self.expectations, grain=follows_all, keys=self._keys
        )
        literals = self._options.literals
        with self._capture.run(self.job, self._partition, None, self._pipeline.namespace, evidence, literals) as named:
            if named is not None and self._options.redact:
                named.describe_failure = describe_without_values
            if named is not None and self._pipeline.context:
                named.facets[PROVENANCE_FACET] = {"context": self._pipeline.context}
            yield named

    @contextmanager
    def _tag_jobs(self, tag: str) -> Iterator[None]:
        self._tag = tag
        self._spark.sparkContext.addJobTag(tag)
        try:
            yield
        finally:
            with suppress(Exception):  # the session may have ended
                self._spark.sparkContext.removeJobTag(tag)

    def _run(self, run_id: str, named: NamedRun | None, bar: ProgressBars) -> Result:
        started = datetime.now(UTC)
        pipeline = self._pipeline
        run_info = RunInfo(run_id, pipeline.name, pipeline.id, pipeline.namespace, started, self._partition)
        workspace = Workspace(self._spark, self._options.location or DEFAULT_LOCATION, run_id, pipeline.id)

        def watcher(node: PipelineNode, state: str) -> None:
            if self._cancelled.is_set():
                raise PipelineCancelled(pipeline.name, node.name)
            if state == "done" and isinstance(node, SourceNode):
                self._keys.extend(key_column_ids(node, execution.frames.get(node.name)))
            bar.update(node, state)

        execution = self._execution(workspace, watcher)
        failure: BaseException | None = None
        with SinkGroup(self._sinks, run_info) as sink_group:
            try:
                execution.run()
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    # PySpark tries to cancel its jobs, but cannot while it waits for one: that job would continue,
                    # and the jobs below would wait for it.
                    self._end_jobs()
                failure = self._failure_of(error, execution)
            ran = failure is None
            bar.update(None, "items")
            items = ItemFinalizer(execution.account(), workspace, self._options, sink_group)
            try:
                items.finalize()
                items.check()
            except BaseException as error:
                failure = failure or error
            balance = LedgerBalance.of(execution, items, workspace, ran=ran)
            failure = failure or balance.refusal
            report = self._report(run_info, execution, items, failure)
            sink_group.record(report)
            if named is not None:
                named.facets[PIPELINE_FACET] = {**_facet(report, items, workspace), **self._extra_facets(execution)}
                named.declared = declared_evidence(self._pipeline, self.nodes, self._options, balance.ledger)
        if failure is not None:
            raise failure
        return Result(report, items.collector, items.item_log, items.counts, items.entered_ids, items.fault)

    def _execution(self, workspace: Workspace, watcher: Watcher) -> PipelineExecution:
        return PipelineExecution(self._spark, self.nodes, self._options, workspace, watcher)

    def _failure_of(self, error: BaseException, execution: PipelineExecution) -> BaseException:
        if not self._cancelled.is_set() or isinstance(error, PipelineCancelled):
            return error
        node_name = next(
            (node.name for node in self.nodes if node.name not in execution.finish_times), self.nodes[-1].name
        )
        cancelled = PipelineCancelled(self._pipeline.name, node_name)
        cancelled.__cause__ = error
        return cancelled

    def _extra_facets(self, execution: PipelineExecution) -> dict[str, object]:
        """Further members of the run facet."""
        return {}

    def _describe(self, failure: BaseException) -> str:
        if self._options.redact:
            return describe_without_values(failure)
        return (str(failure) or type(failure).__name__).splitlines()[0][:500]

    def _report(
        self, run_info: RunInfo, execution: PipelineExecution, items: ItemFinalizer, failure: BaseException | None
    ) -> PipelineReport:
        cancelled = isinstance(failure, PipelineCancelled | KeyboardInterrupt)
        state = RunState.COMPLETE if failure is None else RunState.ABORT if cancelled else RunState.FAIL
        return PipelineReport(
            pipeline=run_info.pipeline,
            namespace=run_info.namespace,
            pipeline_id=run_info.pipeline_id,
            run_id=run_info.run_id,
            state=state,
            nodes=tuple(
                NodeReport.of(node, items.node_counts(node.name), execution.seconds.get(node.name))
                for node in self.nodes
            ),
            edges=edges_of(self.nodes),
            started=run_info.started,
            ended=datetime.now(UTC),
            partition=run_info.partition,
            error=None if failure is None else self._describe(failure),
        )


def _facet(report: PipelineReport, items: ItemFinalizer, workspace: Workspace) -> dict[str, object]:
    document: dict[str, object] = {**report.to_dict()}
    if items.fault is not None:
        document["itemsFault"] = items.fault
    if items.item_log is not None:
        counts = {str(reason): count for reason, count in items.counts.items()}
        document["items"] = {"location": workspace.absolute(workspace.items), "counts": counts}
    return document


def _new_run_id() -> str:
    from headwater.capture.events.builder import new_run_id

    return new_run_id()
