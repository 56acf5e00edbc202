"""`hw.quality`, where the checks, the capture and the store meet."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from headwater.errors import QualityError, QueryError, RulesBroken, StoreError, UnknownDataset
from headwater.model.names import Dataset, Job

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headwater.checks.checked import QualityCheck
    from headwater.model.quality import Rule
    from headwater.store.store import Store

Answer = TypeVar("Answer")

_log = logging.getLogger("headwater")
_NO_DATASET = "The frame is not simply a read of one dataset: say with dataset= of which this is the quality."


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

    What is found is stored as the quality of ``dataset``: the one that ``df`` is a read of, unless told. A text names
    one that the store knows. ``store`` is a store or its address; without it, it goes where the capture of this Spark
    application sends its events, or to the store of `HEADWATER_STORE`; with neither, nowhere. ``job`` and ``namespace``
    name the job that measures. If the store cannot be reached, a warning is all that comes of it. ``strict`` raises
    :class:`~headwater.errors.RulesBroken` where rules are broken, after all is stored.
    """
    from headwater.capture.listener.session import refuse_connect
    from headwater.checks import measuring
    from headwater.checks.breaking import refuse_unfit
    from headwater.checks.checked import QualityCheck

    refuse_connect(df.sparkSession)
    asked = tuple(rules)
    if not asked:
        raise QualityError("There is no rule to measure by: see hw.rules.")
    refuse_unfit(df, asked)
    way = _QualityTarget(df, store, namespace or os.environ.get("HEADWATER_NAMESPACE"))
    read = way.dataset(dataset)
    began = datetime.now(UTC)
    counts = measuring.count(df, asked, began)
    found = measuring.report(asked, counts, began)
    run_id = None
    if read is not None:
        from headwater.capture.events.builder import new_run_id
        from headwater.checks.events import quality_events

        named, version = read
        by = Job(way.namespace, job or f"quality of {named.name}")
        run_id = new_run_id()
        if not way.send(quality_events(run_id, by, named, version, began, asked, counts, found)):
            read = run_id = None
    checked = QualityCheck(
        found.measured_at, found.rows, found.metrics, found.validations, found.anomalies,
        read[0] if read else None, run_id, df, asked,
    )  # fmt: skip
    if strict and not checked.passed:
        raise RulesBroken([(rule.name, failed) for rule, failed in zip(asked, counts.failed, strict=True) if failed])
    return checked


class _QualityTarget:
    """Where what is found goes, if anywhere."""

    def __init__(self, frame: DataFrame, store: str | Store | None, namespace: str | None) -> None:
        from headwater.capture.listener import session
        from headwater.store.engine.database import shown_address

        if isinstance(store, str):
            shown_address(store)  # an address that no store can have is refused before anything is measured
        self._frame = frame
        self._has_explicit_store = store is not None
        context = frame.sparkSession.sparkContext
        captures = [each for each in session.active() if each.context is context] if store is None else []
        self._capture = captures[-1] if captures else None
        self._store = store if store is not None or captures else os.environ.get("HEADWATER_STORE")
        self.namespace = namespace or (self._capture.namespace if self._capture else None) or "default"

    def dataset(self, asked: str | Dataset | None) -> tuple[Dataset, str | None] | None:
        """The dataset, with the version that a table format gives it. A name that the store does not know is refused
        before anything is measured; of a store that is not there, nothing can be said."""
        from headwater.checks.naming import dataset_read

        if self._store is None and self._capture is None:
            if asked is not None:
                _log.warning("What is measured of %s is stored nowhere: give store=, or call hw.enable.", asked)
            return None
        read = dataset_read(self._frame)
        if asked is None:
            if read is not None:
                return read.dataset, read.version
            if self._has_explicit_store:
                raise QualityError(_NO_DATASET)
            _log.warning("What is measured is not stored. %s", _NO_DATASET)
            return None
        named = asked if isinstance(asked, Dataset) else self._find_dataset(asked)
        if named is None:
            return None
        return named, read.version if read is not None and read.dataset == named else None

    def _find_dataset(self, asked: str) -> Dataset | None:
        from headwater.rows.stored_writes import dataset_of_path

        if self._store is None:
            raise QualityError(f"'{asked}' cannot be looked up without a store: give hw.Dataset(namespace, name).")

        def look(store: Store) -> Dataset:
            try:
                return store.dataset(asked).summary.dataset
            except UnknownDataset as unknown:
                try:
                    return store.dataset(dataset_of_path(asked)).summary.dataset
                except QueryError:
                    raise unknown from None

        return self._with_store(look)

    def send(self, events: Sequence[dict[str, Any]]) -> bool:
        if self._capture is not None:
            for event in events:
                self._capture.tell(event)
            return True
        return self._with_store(lambda store: store.ingest_many(events)) is not None

    def _with_store(self, ask: Callable[[Store], Answer]) -> Answer | None:
        """None, and a warning, where there is no store that answers. A store that is handed over stays open."""
        from headwater.store.store import Store as Opened

        assert self._store is not None
        try:
            if not isinstance(self._store, str):
                return ask(self._store)
            with Opened(self._store) as opened:
                return ask(opened)
        except StoreError as down:
            _log.warning("Quality is not stored; what was measured is answered all the same. %s", down)
            return None
