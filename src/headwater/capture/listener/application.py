"""The capture of one Spark application: from the listener in Spark to the sinks."""

from __future__ import annotations

import atexit
import logging
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwater.capture.delivery import Delivery, Sink
from headwater.capture.events.evidence import EvidenceAsked, EvidenceKeeper
from headwater.capture.events.literals import failure_without_literals
from headwater.capture.events.output_quality import measure
from headwater.capture.events.redaction import RedactedFrames
from headwater.capture.events.row_capture import RowKeeper
from headwater.capture.events.run_types import Engine, Failure, ParentRun, RunIdentity
from headwater.capture.events.signing import CaptureKey
from headwater.capture.events.writes import Reader
from headwater.capture.listener.code import CodeLocation, running_code
from headwater.capture.listener.jvm import Bridge
from headwater.capture.listener.named_runs import Measuring, NamedRun, current
from headwater.capture.listener.observer import Observer, Workshop
from headwater.capture.listener.parents import parent_of_application
from headwater.capture.naming.catalogs import catalogs_of
from headwater.model.expectations import Expectation
from headwater.redaction.logs import redact_logs
from headwater.redaction.redactor import SETTINGS, Redactor

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

_log = logging.getLogger("headwater")
_READY = 60.0  # seconds that a named run waits for the capture to get ready; it takes one
AT_EXIT = 10.0
"""Seconds for what has not been told and delivered when the program ends."""
WITH_TABLES = 600.0
"""The same where tables of row lineage are written, or evidence reads the data again: that takes about half as long as
the job did."""


MakeEvidence = Callable[["SparkSession", CodeLocation | None, Callable[[Exception], None], Redactor], EvidenceKeeper]
"""Of the code that runs, of whom to tell of faults, and of what takes secrets out of text before it is hashed."""


@dataclass(frozen=True)
class Settings:
    sinks: Sequence[Sink]
    namespace: str
    job: str | None
    spool: Path
    measuring: Measuring
    keeper: Callable[[SparkSession, Redactor], RowKeeper] | None = None
    evidence: MakeEvidence | None = None
    key: CaptureKey | None = None
    """Signs kept plans."""


class Capture:
    """The capture of one Spark application."""

    def __init__(self, spark: SparkSession, settings: Settings, version: str) -> None:
        self._spark = spark
        self._settings = settings
        self._version = version
        self._bridge = Bridge(spark.sparkContext)
        self._redactor = Redactor(on_unreadable=_unreadable)
        redact_logs(self._redactor)
        self._delivery = Delivery(
            settings.sinks, settings.spool, make_frame=RedactedFrames(self._redactor, settings.key)
        )
        self._observer = Observer(self._bridge, self._delivery.send, self._workshop)
        self._ended = False
        self.patience = _patience(settings.measuring)
        """Seconds to wait at the end for what is still to be done."""

    def begin(self) -> None:
        atexit.register(self._at_exit)  # after the delivery has registered its own: the last one goes first
        self._bridge.listen()
        self._observer.start()

    def _workshop(self) -> Workshop:
        from headwater.capture.events.builder import Events, new_run_id

        context = self._spark.sparkContext
        conf = dict(context.getConf().getAll())
        self._redactor.learn({**conf, **_session_settings(self._spark)})
        # Before jobs are named after it: in the whole of a name, a secret would reach over what tells them apart.
        name = self._redactor.text(self._settings.job or _application_name(context))
        above = parent_of_application(conf, os.environ)
        application = RunIdentity(new_run_id(), name, above)
        root = None if above is None else above.root or above
        code, make_evidence = running_code(), self._settings.evidence
        evidence = make_evidence(self._spark, code, self._observer.fault, self._redactor) if make_evidence else None
        return Workshop(
            Reader(self._bridge, catalogs_of(self._spark, conf), evidence.steps if evidence else None),
            Events(Engine(self._settings.namespace, self._spark.version, self._version, code)),
            application,
            ParentRun(self._settings.namespace, name, application.run_id, root),
            new_run_id,
            self._settings.measuring,
            partial(measure, self._spark),
            self._settings.keeper(self._spark, self._redactor) if self._settings.keeper else None,
            evidence,
            self._redactor,
        )

    @contextmanager
    def run(
        self,
        job: str,
        partition: str | None,
        measuring: Measuring | None,
        namespace: str | None = None,
        evidence: EvidenceAsked | None = None,
        literals: str | None = None,
    ) -> Iterator[NamedRun | None]:
        workshop = self._observer.workshop(_READY)
        if workshop is None:
            yield None
            return
        outer = current.get()
        above = workshop.parent
        if outer is not None:
            above = ParentRun(above.namespace, outer.identity.job, outer.identity.run_id, above.root or above)
        run = NamedRun(
            RunIdentity(workshop.new_run_id(), job, above, namespace=namespace),
            datetime.now(UTC),
            partition,
            self._measuring(measuring, evidence, literals),
        )
        self.patience = max(self.patience, _patience(run.measuring))
        self._observer.open_runs.add(run)
        token = current.set(run)
        self._mark(kind="run-begin", run=run.identity.run_id)
        self._tag(outer, run)
        failure: BaseException | None = None
        try:
            yield run
        except BaseException as error:
            failure = error
            raise
        finally:
            current.reset(token)
            self._tag(run, outer)
            said = {} if failure is None else _failure_said(failure, run)
            self._mark(kind="run-end", run=run.identity.run_id, time=int(time.time() * 1000), **said)

    def evidence_asked(
        self, checksums: str | None, expectations: Sequence[Expectation] = (), **others: Any
    ) -> EvidenceAsked:
        """With the checksums of the whole application, unless a run wants others."""
        whole = self._settings.measuring.evidence or EvidenceAsked()
        return EvidenceAsked(checksums or whole.checksums, expectations=tuple(expectations), **others)

    def _measuring(
        self, asked: Measuring | None, evidence: EvidenceAsked | None, literals: str | None = None
    ) -> Measuring:
        whole = self._settings.measuring
        evidence = evidence or whole.evidence
        if asked is None:
            return replace(whole, evidence=evidence, literals=literals or whole.literals)
        literals = literals or asked.literals or whole.literals
        return replace(asked, rows=asked.rows or whole.rows, evidence=evidence, literals=literals)

    def _mark(self, **said: Any) -> None:
        try:
            self._bridge.mark(**said)
        except Exception as gone:  # the run ends with the program, at the latest
            _log.debug("Spark no longer answers: %s", gone)

    def _tag(self, leaving: NamedRun | None, entering: NamedRun | None) -> None:
        """Tell Spark whose work this thread does. One tag at a time: the innermost run is the one."""
        try:
            if leaving is not None:
                self.context.removeJobTag(leaving.tag)
            if entering is not None:
                self.context.addJobTag(entering.tag)
        except Exception as gone:  # the context was stopped within the block
            _log.debug("No job tag was set: %s", gone)

    @property
    def namespace(self) -> str:
        return self._settings.namespace

    def tell(self, event: dict[str, Any]) -> None:
        """Deliver an event of somebody else's to the same sinks."""
        self._delivery.send(event)

    def flush(self, seconds: float) -> bool:
        """Wait until everything that happened so far is told and delivered."""
        until = time.monotonic() + seconds
        told = self._observer.catch_up(seconds)
        return self._delivery.flush(max(0.0, until - time.monotonic())) and told

    def end(self, failure: BaseException | None, seconds: float) -> None:
        """Tell what is left to tell, end the application's run and stop."""
        if self._ended:
            return
        self._ended = True
        until = time.monotonic() + seconds
        try:
            self._observer.catch_up(seconds)
            self._observer.stop(max(0.1, until - time.monotonic()))
            self._bridge.leave()
        except Exception as gone:
            _log.debug("Spark no longer answers: %s", gone)
        if self._missed():
            _log.warning("%d messages of Spark were not heard: it said more than could be read.", self._missed())
        workshop = self._observer.workshop(0)
        if workshop is not None:
            now, events = datetime.now(UTC), workshop.events
            if failure is None:
                self._delivery.send(events.complete(workshop.application, now))
            else:
                reason = failure_without_literals(
                    Failure(_named(failure), "PYTHON", _trace(failure)), workshop.measuring.kept_literals
                )
                self._delivery.send(events.fail(workshop.application, now, reason))
        self._delivery.fail_open_runs()
        self._delivery.close(max(0.1, until - time.monotonic()))
        atexit.unregister(self._at_exit)

    def _missed(self) -> int:
        try:
            return self._bridge.missed
        except Exception as gone:
            _log.debug("Spark no longer answers: %s", gone)
            return 0

    def _at_exit(self) -> None:
        try:
            self.end(getattr(sys, "last_exc", None) or getattr(sys, "last_value", None), self.patience)
        except Exception:
            _log.debug("While ending the capture", exc_info=True)

    @property
    def ended(self) -> bool:
        return self._ended

    @property
    def context(self) -> SparkContext:
        return self._spark.sparkContext

    def status(self) -> dict[str, Any]:
        """What the capture has cost and what it could not do."""
        effort = self._observer.effort
        return {
            "writes": effort.writes,
            "faults": effort.faults,
            "missed": self._missed(),
            "own_seconds": round(effort.seconds, 4),
            "sinks": self._delivery.counts,
        }


def _patience(measuring: Measuring) -> float:
    tables = measuring.rows is not None and measuring.rows.writes_tables
    return WITH_TABLES if tables or (measuring.evidence or EvidenceAsked()).reads_data else AT_EXIT


def _failure_said(failure: BaseException, run: NamedRun) -> dict[str, Any]:
    """What the run's last event says of it."""
    told = Failure(_named(failure), "PYTHON", _trace(failure))
    if run.describe_failure is not None:
        message = f"{type(failure).__name__}: {run.describe_failure(failure)}"
        told = replace(failure_without_literals(told, "drop"), message=message)
    else:
        told = failure_without_literals(told, run.measuring.kept_literals)
    return {"failure": told.message, "trace": told.stack_trace}


def _session_settings(spark: SparkSession) -> dict[str, str]:
    """Those of the session that say what is secret."""
    return {name: value for name in SETTINGS if (value := spark.conf.get(name, None))}


def _unreadable(name: str, reason: str) -> None:
    _log.warning("%s is not heeded when secrets are removed from events: Python cannot read it (%s).", name, reason)


def _named(failure: BaseException) -> str:
    return f"{type(failure).__name__}: {failure}"


def _trace(failure: BaseException) -> str:
    return "".join(traceback.format_exception(failure))


def _application_name(context: SparkContext) -> str:
    """Spark's name for it; a script that gave none goes by its file."""
    name = str(context.appName)
    if name not in ("pyspark-shell", "", "Spark shell"):
        return Path(name).stem if name.endswith(".py") else name
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    return Path(script).stem if script else "pyspark"
