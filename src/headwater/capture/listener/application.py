"""The capture of one Spark application: from the listener in Spark to the sinks."""

from __future__ import annotations

import atexit
import logging
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, TypedDict, TypeVar

from headwater.capture.delivery import Delivery, DeliveryCounts, EventSink
from headwater.capture.events.evidence import EvidenceOptions, EvidenceProvider
from headwater.capture.events.literals import failure_without_literals
from headwater.capture.events.output_quality import measure
from headwater.capture.events.redaction import RedactedFrames
from headwater.capture.events.row_capture import RowCapture
from headwater.capture.events.run_types import Engine, Failure, ParentRun, RunIdentity
from headwater.capture.events.signing import CaptureSigningKey
from headwater.capture.events.writes import WriteReader
from headwater.capture.listener.code import CodeLocation, running_code, script_file
from headwater.capture.listener.jvm import Bridge
from headwater.capture.listener.named_runs import CaptureOptions, NamedRun, current
from headwater.capture.listener.observer import CaptureComponents, Observer
from headwater.capture.listener.parents import parent_of_application
from headwater.capture.listener.program_calls import ProgramCalls
from headwater.capture.listener.program_exit import ProgramExit, failure_of
from headwater.capture.listener.table_changes import TableChangeReader
from headwater.capture.naming.catalogs import catalogs_of
from headwater.model.expectations import Expectation
from headwater.redaction.logs import redact_logs
from headwater.redaction.redactor import REDACTION_SETTINGS, Redactor

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

_Part = TypeVar("_Part")
_log = logging.getLogger("headwater")
_READY_TIMEOUT = 60.0  # seconds that a named run waits for the capture to be ready; that takes one
AT_EXIT = 10.0
"""Seconds to wait for events that have not been sent and delivered when the program ends."""
WITH_TABLES = 600.0
"""The same if row lineage is written as tables or evidence reads data again: that takes about half as long as the
job."""


MakeEvidenceProvider = Callable[
    ["SparkSession", CodeLocation | None, Callable[[Exception], None], Redactor], EvidenceProvider
]
"""Takes the running code, the function that reports errors, and the redactor of text before it is hashed."""


@dataclass(frozen=True)
class CaptureSettings:
    sinks: Sequence[EventSink]
    namespace: str
    job: str | None
    spool: Path
    options: CaptureOptions
    make_row_capture: Callable[[SparkSession, Redactor], RowCapture] | None = None
    make_evidence: MakeEvidenceProvider | None = None
    key: CaptureSigningKey | None = None
    """Signs kept plans."""


class CaptureStatus(TypedDict):
    writes: int
    faults: int
    missed: int
    own_seconds: float
    sinks: Mapping[str, DeliveryCounts]


class Capture:
    """The capture of one Spark application."""

    def __init__(self, spark: SparkSession, settings: CaptureSettings, version: str) -> None:
        self._spark = spark
        self._settings = settings
        self._version = version
        self._bridge = Bridge(spark.sparkContext)
        self._redactor = Redactor(on_unreadable=_warn_unreadable_pattern)
        redact_logs(self._redactor)
        self._delivery = self._new_delivery()
        self._observer = Observer(self._bridge, self._delivery.send, self._make_components, self._on_application_end)
        self._ended = False
        self._ending = Lock()
        self._exit = ProgramExit()
        self._calls = ProgramCalls(spark.sparkContext, self._mark)
        self.context = spark.sparkContext
        self._context_stop = self.context.stop
        self.patience = _end_timeout(settings.options)
        """Seconds to wait at the end for pending work."""

    def _new_delivery(self) -> Delivery:
        frames = RedactedFrames(self._redactor, self._settings.key)
        return Delivery(self._settings.sinks, self._settings.spool, make_frame=frames)

    def begin(self) -> None:
        atexit.register(self._at_exit)  # after the delivery has registered its own: the last registered runs first
        self._bridge.register()
        self._observer.start()
        self._calls.begin()
        vars(self.context)["stop"] = self._stop_application  # of this one object: `SparkSession.stop` calls it as well

    def _make_components(self) -> CaptureComponents:
        from headwater.capture.events.builder import EventBuilder, new_run_id

        context = self._spark.sparkContext
        conf = dict(context.getConf().getAll())
        self._redactor.learn({**conf, **_session_settings(self._spark)})
        # Before jobs are named after it: a secret matched in a whole job name could include what distinguishes jobs.
        name = self._redactor.text(self._settings.job or _application_name(context))
        parent = _optional("the run that started it", partial(parent_of_application, conf, os.environ))
        application = RunIdentity(new_run_id(), name, parent)
        root = None if parent is None else parent.root or parent
        code = _optional("the place of its code", running_code)
        evidence, row_capture = self._make_evidence(code), self._make_row_capture()
        catalogs = catalogs_of(self._spark, conf)
        return CaptureComponents(
            reader=WriteReader(self._bridge, catalogs, evidence.steps if evidence else None),
            events=EventBuilder(Engine(self._settings.namespace, self._spark.version, self._version, code)),
            application=application,
            parent=ParentRun(self._settings.namespace, name, application.run_id, root),
            new_run_id=new_run_id,
            options=self._settings.options,
            quality=partial(measure, self._spark),
            table_changes=TableChangeReader(self._bridge, catalogs),
            calls=self._calls,
            row_capture=row_capture,
            evidence=evidence,
            redactor=self._redactor,
        )

    def _make_evidence(self, code: CodeLocation | None) -> EvidenceProvider | None:
        make = self._settings.make_evidence
        if make is None:
            return None
        arguments = self._spark, code, self._observer.report_error, self._redactor
        return _optional("the evidence of its runs", partial(make, *arguments))

    def _make_row_capture(self) -> RowCapture | None:
        make = self._settings.make_row_capture
        if make is None:
            return None
        return _optional("what is needed to trace rows", partial(make, self._spark, self._redactor))

    @contextmanager
    def run(
        self,
        job: str,
        partition: str | None,
        options: CaptureOptions | None,
        namespace: str | None = None,
        evidence: EvidenceOptions | None = None,
        literals: str | None = None,
    ) -> Iterator[NamedRun | None]:
        components = self._observer.components(_READY_TIMEOUT)
        if components is None:
            yield None
            return
        outer = current.get()
        parent_run = components.parent
        if outer is not None:
            parent_run = ParentRun(
                parent_run.namespace, outer.identity.job, outer.identity.run_id, parent_run.root or parent_run
            )
        run = NamedRun(
            RunIdentity(components.new_run_id(), job, parent_run, namespace=namespace),
            datetime.now(UTC),
            partition,
            self._measuring(options, evidence, literals),
        )
        self.patience = max(self.patience, _end_timeout(run.options))
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
            failure_fields = {} if failure is None else _failure_fields(failure, run)
            self._mark(kind="run-end", run=run.identity.run_id, time=int(time.time() * 1000), **failure_fields)

    def evidence_options(
        self,
        checksums: str | None,
        expectations: Sequence[Expectation] = (),
        *,
        ledger: bool = False,
        grain: bool = False,
        keys: Collection[frozenset[int]] = (),
    ) -> EvidenceOptions:
        """With the checksums of the application, unless the run states others."""
        application_options = self._settings.options.evidence or EvidenceOptions()
        return EvidenceOptions(checksums or application_options.checksums, ledger, tuple(expectations), grain, keys)

    def _measuring(
        self, options: CaptureOptions | None, evidence: EvidenceOptions | None, literals: str | None = None
    ) -> CaptureOptions:
        application_options = self._settings.options
        evidence = evidence or application_options.evidence
        if options is None:
            return replace(application_options, evidence=evidence, literals=literals or application_options.literals)
        literals = literals or options.literals or application_options.literals
        return replace(options, rows=options.rows or application_options.rows, evidence=evidence, literals=literals)

    def _mark(self, **fields: object) -> None:
        try:
            self._bridge.post_marker(**fields)
        except Exception as error:  # the run ends with the program, at the latest
            _log.debug("Spark no longer answers: %s", error)

    def _tag(self, leaving: NamedRun | None, entering: NamedRun | None) -> None:
        """Set the job tag of the run that this thread works for. One tag at a time: that of the innermost run."""
        try:
            if leaving is not None:
                self.context.removeJobTag(leaving.tag)
            if entering is not None:
                self.context.addJobTag(entering.tag)
        except Exception as error:  # the context was stopped within the block
            _log.debug("No job tag was set: %s", error)

    @property
    def namespace(self) -> str:
        return self._settings.namespace

    def send_event(self, event: dict[str, object]) -> None:
        """Deliver an event that another part of Headwater made to the same sinks."""
        self._delivery.send(event)

    def flush(self, seconds: float) -> bool:
        """Wait until everything that has happened so far is sent and delivered."""
        until = time.monotonic() + seconds
        caught_up = self._observer.catch_up(seconds)
        return self._delivery.flush(max(0.0, until - time.monotonic())) and caught_up

    def _stop_application(self) -> None:
        """`SparkContext.stop`: the session's end is the end of the application's run and of the capture.

        An observer that is slower than that loses nothing: its thread ends the capture when it has caught up
        (:meth:`_on_application_end`), or the process does.
        """
        self._has_caught_up(self.patience)  # while Spark still answers questions about its plans
        try:
            self._context_stop()
        finally:
            if not self._observer.is_running or self._has_caught_up(self.patience):
                self.end(None, self.patience)
                self._watch_exit()

    def _has_caught_up(self, seconds: float) -> bool:
        try:
            return self._observer.catch_up(seconds)
        except Exception as error:
            _log.debug("Spark no longer answers: %s", error)
            return False

    def _on_application_end(self) -> None:
        """In the observer's thread: Spark has stopped, maybe without `SparkContext.stop`."""
        if self._ending.acquire(blocking=False):  # else it is being ended, and its thread waits for this one
            try:
                self._end_once(None, self.patience)
            finally:
                self._ending.release()
            self._watch_exit()

    def _watch_exit(self) -> None:
        atexit.unregister(self._overrule)
        atexit.register(self._overrule)

    def _overrule(self) -> None:
        """The program failed after it had stopped Spark: the COMPLETE of its run is followed by a FAIL."""
        failure = self._exit.failure()
        components = self._observer.components(0)
        if failure is None or components is None:
            return
        try:
            delivery = self._new_delivery()
            failure = failure_without_literals(failure, components.options.literals_mode)
            delivery.send(components.events.fail(components.application, datetime.now(UTC), failure))
            delivery.close(AT_EXIT)
        except Exception:
            _log.debug("While the failure of the program was reported", exc_info=True)

    def supersede(self) -> None:
        """Another application has begun in this process: how the process ends says nothing about this one."""
        atexit.unregister(self._overrule)

    def end(self, failure: Failure | None, seconds: float) -> None:
        """Send what is pending, end the application's run and stop. A second call waits until the first has done it."""
        with self._ending:
            self._end_once(failure, seconds)

    def _end_once(self, failure: Failure | None, seconds: float) -> None:
        if self._ended:
            return
        self._ended = True
        self._calls.end()
        vars(self.context).pop("stop", None)
        until = time.monotonic() + seconds
        try:
            self._observer.catch_up(seconds)
            self._observer.stop(max(0.1, until - time.monotonic()))
            self._bridge.unregister()
        except Exception as error:
            _log.debug("Spark no longer answers: %s", error)
        if self._missed():
            _log.warning("%d messages of Spark's listener were dropped: its queue was full.", self._missed())
        components = self._observer.components(0)
        if components is not None:
            now, events = datetime.now(UTC), components.events
            if failure is None:
                self._delivery.send(events.complete(components.application, now))
            else:
                reason = failure_without_literals(failure, components.options.literals_mode)
                self._delivery.send(events.fail(components.application, now, reason))
        self._delivery.fail_open_runs()
        self._delivery.close(max(0.1, until - time.monotonic()))
        atexit.unregister(self._at_exit)

    def _missed(self) -> int:
        try:
            return self._bridge.dropped_messages
        except Exception as error:
            _log.debug("Spark no longer answers: %s", error)
            return 0

    def _at_exit(self) -> None:
        try:
            self.end(self._exit.failure(), self.patience)
        except Exception:
            _log.debug("While ending the capture", exc_info=True)

    @property
    def ended(self) -> bool:
        return self._ended

    def status(self) -> CaptureStatus:
        """What the capture has cost, and its errors."""
        effort = self._observer.cost
        return {
            "writes": effort.writes,
            "faults": effort.faults,
            "missed": self._missed(),
            "own_seconds": round(effort.seconds, 4),
            "sinks": self._delivery.counts,
        }


def _optional(what: str, make: Callable[[], _Part | None]) -> _Part | None:
    """A part of the capture; None if it cannot be made, which must not cost the rest."""
    try:
        return make()
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        _log.warning("Lineage of this session is captured without %s. %s", what, reason[:500])
        _log.debug("While the capture was prepared", exc_info=True)
        return None


def _end_timeout(options: CaptureOptions) -> float:
    tables = options.rows is not None and options.rows.writes_tables
    return WITH_TABLES if tables or (options.evidence or EvidenceOptions()).reads_data else AT_EXIT


def _failure_fields(failure: BaseException, run: NamedRun) -> dict[str, str | None]:
    """What the run's last event states about its failure."""
    reported = failure_of(failure)
    if run.describe_failure is not None:
        message = f"{type(failure).__name__}: {run.describe_failure(failure)}"
        reported = replace(failure_without_literals(reported, "drop"), message=message)
    else:
        reported = failure_without_literals(reported, run.options.literals_mode)
    return {"failure": reported.message, "stack": reported.stack_trace}


def _session_settings(spark: SparkSession) -> dict[str, str]:
    """The session settings that define what is secret."""
    return {name: value for name in REDACTION_SETTINGS if (value := spark.conf.get(name, None))}


def _warn_unreadable_pattern(name: str, reason: str) -> None:
    _log.warning("%s is ignored when secrets are removed from events: Python cannot compile it (%s).", name, reason)


def _application_name(context: SparkContext) -> str:
    """The application's name in Spark; the script's file name if it set none."""
    name = str(context.appName)
    if name not in ("pyspark-shell", "", "Spark shell"):
        return Path(name).stem if name.endswith(".py") else name
    script = script_file()
    if script is None:
        return "pyspark"
    return script.parent.name if script.stem == "__main__" else script.stem
