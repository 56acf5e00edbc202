"""`hw.Pipeline`: where a declared pipeline, the capture and the store meet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from headwater.errors import HeadwaterError
from headwater.pipeline.declare import pipeline as declared
from headwater.pipeline.declare.options import LineageOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headwater.capture.listener.application import Capture
    from headwater.pipeline.dead_letters.replay import ReplayResult
    from headwater.pipeline.run.background import BackgroundRun
    from headwater.pipeline.run.pipeline_run import PipelineRun
    from headwater.pipeline.run.result import Result
    from headwater.pipeline.sinks import Sink
    from headwater.store.store import Store


class Pipeline(declared.PipelineDeclaration):
    """A declared pipeline that runs on Spark and records the outcome of each item.

    >>> p = Pipeline("daily_revenue", namespace="prod")
    >>> orders = p.source("orders", lambda spark: spark.read.parquet("raw/orders"), key="order_id")
    >>> valid = p.transform("valid", orders, lambda df: df.where("amount > 0"))
    >>> report = p.sink("report", valid, format="parquet", path="warehouse/valid")
    >>> [node.name for node in p.check()]
    ['orders', 'valid', 'report']
    """

    def run(
        self,
        spark: SparkSession,
        *,
        partition: str | None = None,
        options: LineageOptions | None = None,
        store: str | Store | None = None,
        sinks: Sequence[Sink] = (),
        progress: bool | None = None,
        checksums: str | None = None,
    ) -> Result:
        """Run it and wait.

        ``partition`` names the partition of its outputs that the run writes. ``options`` choose what is recorded of
        items; ``sinks`` receive the records and the report. The run's events go where `hw.enable` sends them; if it was
        not called, to ``store``, by default that of `HEADWATER_STORE` or `sqlite:///.headwater/lineage.db`. With
        ``LineageOptions.off()`` and without `hw.enable` there are no events. ``progress``: a bar for each node; None
        shows it in a terminal and in a notebook. ``checksums`` are as in `hw.enable`.

        Where every item is followed (``LineageOptions(mode="full")``), the run ends well only if every row of its
        sources is accounted for.
        """
        options = options or LineageOptions()
        with _capturing(self, spark, store, options) as capture:
            return self._pipeline_run(spark, partition, options, capture, sinks, progress, checksums).run()

    def replay(
        self,
        spark: SparkSession,
        *,
        run_id: str | None = None,
        node: str | None = None,
        mode: str | None = None,
        partition: str | None = None,
        options: LineageOptions | None = None,
        store: str | Store | None = None,
        sinks: Sequence[Sink] = (),
        progress: bool | None = None,
        checksums: str | None = None,
    ) -> list[ReplayResult]:
        """Replay dead letters with the current functions: those of a run, of a node, or all that were not replayed yet.
        Each node's letters are a run of their own, through the nodes after it into the sinks.

        The results are appended to the sinks. Where that would be wrong, as behind an aggregate, the replay is refused
        with the node's name; ``mode`` writes the sinks anyway, in that mode. By default all items of the letters
        are followed; letters are read from ``options.location``.
        """
        from headwater.pipeline.dead_letters.replay import ReplayRun
        from headwater.pipeline.dead_letters.waiting import find_waiting_letters
        from headwater.pipeline.run.pipeline_run import DEFAULT_LOCATION

        options = options or LineageOptions(mode="full")
        replays = find_waiting_letters(self, spark, options.location or DEFAULT_LOCATION, run_id, node, mode)
        if not replays:
            return []
        with _capturing(self, spark, store, options) as capture:
            return [
                ReplayRun(
                    letters,
                    self,
                    spark,
                    partition=partition,
                    options=options,
                    capture=capture,
                    sinks=sinks,
                    progress=progress,
                    checksums=checksums,
                ).replay()
                for letters in replays
            ]

    def start(
        self,
        spark: SparkSession,
        *,
        partition: str | None = None,
        options: LineageOptions | None = None,
        sinks: Sequence[Sink] = (),
        checksums: str | None = None,
    ) -> BackgroundRun:
        """Run it in a thread of its own: `started.wait()` returns the result, `started.cancel()` ends the run. Its
        events go where `hw.enable` sends them."""
        from headwater.pipeline.run.background import BackgroundRun

        options = options or LineageOptions()
        return BackgroundRun(self._pipeline_run(spark, partition, options, _active(spark), sinks, False, checksums))

    def _pipeline_run(
        self,
        spark: SparkSession,
        partition: str | None,
        options: LineageOptions,
        capture: Capture | None,
        sinks: Sequence[Sink],
        progress: bool | None,
        checksums: str | None = None,
    ) -> PipelineRun:
        from headwater.pipeline.run.pipeline_run import PipelineRun

        return PipelineRun(
            self,
            spark,
            partition=partition,
            options=options,
            capture=capture,
            sinks=sinks,
            progress=progress,
            checksums=checksums,
        )


def _active(spark: SparkSession) -> Capture | None:
    from headwater.capture.listener import session

    return next((capture for capture in session.active() if capture.context is spark.sparkContext), None)


@contextmanager
def _capturing(
    pipeline: Pipeline, spark: SparkSession, store: str | Store | None, options: LineageOptions
) -> Iterator[Capture | None]:
    from headwater import capturing

    active = _active(spark)
    if active is not None and store is not None:
        raise HeadwaterError("hw.enable has been called for this session: its events go there, and not to store=.")
    if active is not None or (options.mode == "off" and store is None):
        yield active
        return
    capturing.enable(spark, store=store, namespace=pipeline.namespace)
    try:
        yield _active(spark)
    finally:
        capturing.disable(spark)
