"""`hw.quality`, where the checks, the capture and the store meet."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

from headwater.errors import QualityError, QueryError, RulesBroken, StoreError, UnknownDataset
from headwater.model.names import Dataset, Job

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headwater.checks.checked import QualityCheck
    from headwater.model.quality import Rule
    from headwater.store.store import Store

Answer = TypeVar("Answer")

_log = logging.getLogger("headwater")
_NO_DATASET = "The frame is not a plain read of one dataset: name the dataset with dataset=."


def quality(
    df: DataFrame,
    rules: Sequence[Rule],
    *,
    dataset: str | Dataset | None = None,
    store: str | Store | None = None,
    job: str | None = None,
    namespace: str | None = None,
    strict: bool = False,
) -> QualityCheck:
    """Measure the quality of ``df`` by ``rules`` (:mod:`headwater.rules`), by one pass of Spark over it.

    The report is stored as the quality of ``dataset``, by default the one that ``df`` reads. A text names a dataset
    that the store knows. ``store`` is a store or its address; by default the report goes where the capture of this
    Spark application sends its events, else to the store of `HEADWATER_STORE`, else it is not stored. ``job`` and
    ``namespace`` name the job that measures. If the store cannot be reached, a warning is logged. ``strict`` raises
    :class:`~headwater.errors.RulesBroken` where rules are broken, after the report is stored.
    """
    from headwater.capture.listener.session import refuse_connect
    from headwater.checks import measuring
    from headwater.checks.breaking import refuse_unfit
    from headwater.checks.checked import QualityCheck

    refuse_connect(df.sparkSession)
    asked = tuple(rules)
    if not asked:
        raise QualityError("There are no rules: pass at least one of hw.rules.")
    refuse_unfit(df, asked)
    target = _QualityTarget(df, store, namespace or os.environ.get("HEADWATER_NAMESPACE"))
    read = target.dataset(dataset)
    began = datetime.now(UTC)
    counts = measuring.count(df, asked, began)
    report = measuring.report(asked, counts, began)
    run_id = None
    if read is not None:
        from headwater.capture.events.builder import new_run_id
        from headwater.checks.events import quality_events

        named, version = read
        by = Job(target.namespace, job or f"quality of {named.name}")
        run_id = new_run_id()
        if not target.send(quality_events(run_id, by, named, version, began, asked, counts, report)):
            read = run_id = None
    checked = QualityCheck(
        measured_at=report.measured_at,
        rows=report.rows,
        metrics=report.metrics,
        validations=report.validations,
        anomalies=report.anomalies,
        dataset=read[0] if read else None,
        run_id=run_id,
        frame=df,
        rules=asked,
    )
    if strict and not checked.passed:
        raise RulesBroken([(rule.name, failed) for rule, failed in zip(asked, counts.failed, strict=True) if failed])
    return checked


class _QualityTarget:
    """The dataset and the store that a report belongs to."""

    def __init__(self, frame: DataFrame, store: str | Store | None, namespace: str | None) -> None:
        from headwater.capture.listener import session
        from headwater.store.engine.database import shown_address

        if isinstance(store, str):
            shown_address(store)  # refuses an invalid address before anything is measured
        self._frame = frame
        self._has_explicit_store = store is not None
        context = frame.sparkSession.sparkContext
        captures = [capture for capture in session.active() if capture.context is context] if store is None else []
        self._capture = captures[-1] if captures else None
        self._store = store if store is not None or captures else os.environ.get("HEADWATER_STORE")
        self.namespace = namespace or (self._capture.namespace if self._capture else None) or "default"

    def dataset(self, requested: str | Dataset | None) -> tuple[Dataset, str | None] | None:
        """The dataset, with the version that a table format gives it. A name that the store does not know is refused
        before anything is measured; a store that cannot be reached only causes a warning."""
        from headwater.checks.naming import dataset_read

        if self._store is None and self._capture is None:
            if requested is not None:
                _log.warning("The quality of %s is not stored: pass store= or call hw.enable.", requested)
            return None
        read = dataset_read(self._frame)
        if requested is None:
            if read is not None:
                return read.dataset, read.version
            if self._has_explicit_store:
                raise QualityError(_NO_DATASET)
            _log.warning("The quality is not stored. %s", _NO_DATASET)
            return None
        named = requested if isinstance(requested, Dataset) else self._find_dataset(requested)
        if named is None:
            return None
        return named, read.version if read is not None and read.dataset == named else None

    def _find_dataset(self, name: str) -> Dataset | None:
        from headwater.rows.spellings import dataset_of_path

        if self._store is None:
            raise QualityError(f"'{name}' cannot be looked up without a store: pass hw.Dataset(namespace, name).")

        def look(store: Store) -> Dataset:
            try:
                return store.dataset(name).summary.dataset
            except UnknownDataset as unknown:
                try:
                    return store.dataset(dataset_of_path(name)).summary.dataset
                except QueryError:
                    raise unknown from None

        return self._with_store(look)

    def send(self, events: Sequence[dict[str, object]]) -> bool:
        if self._capture is not None:
            for event in events:
                self._capture.send_event(event)
            return True
        return self._with_store(lambda store: store.ingest_many(events)) is not None

    def _with_store(self, ask: Callable[[Store], Answer]) -> Answer | None:
        """Returns None and logs a warning if the store cannot be reached. A store that the caller passed stays open."""
        from headwater.store.store import Store as Opened

        assert self._store is not None
        try:
            if not isinstance(self._store, str):
                return ask(self._store)
            with Opened(self._store) as opened:
                return ask(opened)
        except StoreError as down:
            _log.warning("The quality is not stored; the report is returned all the same. %s", down)
            return None
