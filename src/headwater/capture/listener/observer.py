"""The thread that turns listener messages into events.

Only this thread reads plans and metrics, so events have the order in which things happened. An error of Headwater stays
here: it is logged once, counted, and the next message is read.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from threading import Event as Signal
from threading import Thread, current_thread
from typing import TYPE_CHECKING

from headwater.capture.events.evidence import (
    EndedRun,
    EndedWrite,
    EvidenceProvider,
    OptionalEvidence,
    report_unless_stopped,
)
from headwater.capture.events.literals import (
    failure_without_literals,
    node_without_literals,
    rows_without_literals,
    written_without_literals,
)
from headwater.capture.events.output_quality import OutputQuality, QualityColumns
from headwater.capture.events.row_capture import INTERNAL_JOB_TAG, KEPT_TABLE_JOB_TAG, RowCapture, RowCaptureOptions
from headwater.capture.events.run_types import Failure, ParentRun, RunIdentity, WriteOutcome, time_from_millis
from headwater.capture.events.table_events import TableEvent
from headwater.capture.events.writes import CapturedWrite, WriteReader
from headwater.capture.listener.call_runs import ProgramCallRuns
from headwater.capture.listener.drops import read_drop_command
from headwater.capture.listener.jvm import Bridge
from headwater.capture.listener.messages import ExecutionId, ListenerMessage, Message
from headwater.capture.listener.named_runs import CaptureOptions, NamedRun, NamedRunRegistry
from headwater.capture.listener.program_calls import MODEL_JOB_TAG, ProgramCalls
from headwater.capture.listener.statistics import amount_from_tasks, read_amounts, telemetry, written_amount
from headwater.capture.listener.streams import StreamRuns
from headwater.capture.listener.table_changes import TableChange, TableChangeReader, is_table_change
from headwater.capture.naming.dataset_ref import DatasetRef
from headwater.capture.naming.jobs import JobNames
from headwater.jvm import JavaObject
from headwater.redaction.redactor import Redactor

if TYPE_CHECKING:
    from headwater.capture.events.builder import EventBuilder

_log = logging.getLogger("headwater")
_INTERNAL_TAGS = frozenset({INTERNAL_JOB_TAG, KEPT_TABLE_JOB_TAG, MODEL_JOB_TAG})
_PATIENCE = 2.0  # seconds the thread waits for a message before it checks whether it should end


@dataclass
class PendingWrite:
    """A running write."""

    started: datetime
    written: CapturedWrite
    named: NamedRun | None
    identity: RunIdentity | None
    """Of the run that this write is by itself; None if it belongs to a named run or a stream."""
    stream: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    """Of its session, if they differ from the application's."""


@dataclass
class CaptureCost:
    """What the capture has cost so far, and its errors."""

    seconds: float = 0.0
    writes: int = 0
    faults: int = 0


@dataclass(frozen=True)
class CaptureComponents:
    """What the observer works with. Importing it takes a second, so it is made in the observer's own thread."""

    reader: WriteReader
    events: EventBuilder
    application: RunIdentity
    parent: ParentRun
    """The application, as the parent of its runs."""
    new_run_id: Callable[[], str]
    options: CaptureOptions
    quality: Callable[[DatasetRef, QualityColumns], OutputQuality | None]
    table_changes: TableChangeReader
    calls: ProgramCalls
    row_capture: RowCapture | None = None
    evidence: EvidenceProvider | None = None
    redactor: Redactor | None = None
    """It learns from session settings what is secret."""


class Observer:
    """Reads the messages of the listener and sends events."""

    def __init__(
        self,
        bridge: Bridge,
        send: Callable[[dict[str, object]], None],
        make_components: Callable[[], CaptureComponents],
        on_application_end: Callable[[], None],
    ) -> None:
        """``on_application_end`` is called in the observer's thread, after the last message of the application."""
        self._bridge = bridge
        self._on_over = on_application_end
        self._application_ended = False
        self._send = send
        self._make_components = make_components
        self._executions: dict[ExecutionId, PendingWrite] = {}
        self._skipped: set[ExecutionId] = set()
        self._changes: dict[ExecutionId, TableChange] = {}
        self._views: set[tuple[str, str, int]] = set()
        self._waiting: dict[str, Signal] = {}
        self._stopping = Signal()
        self._ready = Signal()
        self._thread = Thread(target=self._run, name="headwater-capture", daemon=True)
        self._reported_errors: set[str] = set()
        self._execution_handlers = {"start": self._on_start, "end": self._on_end}
        self._handlers = {
            "dropped": self._on_dropped,
            "run-begin": self._on_run_begin,
            "run-end": self._on_run_end,
            "caught-up": self._on_caught_up,
            "stop": self._on_stop,
            "application-end": self._on_application_end,
        }
        self.open_runs = NamedRunRegistry()
        self.cost = CaptureCost()

    def start(self) -> None:
        self._thread.start()

    def components(self, seconds: float) -> CaptureComponents | None:
        """None if they could not be made, or not in time."""
        self._ready.wait(seconds)
        return getattr(self, "_components", None)

    def catch_up(self, seconds: float) -> bool:
        """Wait until everything that has happened so far is sent."""
        if self._application_ended or not self._thread.is_alive():
            return self._application_ended
        token, reached = f"{time.monotonic_ns()}", Signal()
        self._waiting[token] = reached
        self._bridge.post_marker(kind="caught-up", token=token)
        done = reached.wait(seconds)
        self._waiting.pop(token, None)
        return done

    @property
    def is_running(self) -> bool:
        """Whether its thread still reads messages."""
        return self._thread.is_alive() and not self._application_ended

    def stop(self, seconds: float) -> None:
        self._stopping.set()
        if current_thread() is not self._thread:
            self._bridge.post_marker(kind="stop")
            self._thread.join(seconds)

    def _run(self) -> None:
        began = datetime.now(UTC)
        try:
            self._components = self._make_components()
            self._reader, self._events = self._components.reader, self._components.events
            self._names = JobNames(self._components.application.job)
            self._run_evidence = OptionalEvidence(self._components.evidence, self.report_error)
            literals = self._components.options.literals_mode
            self._streams = StreamRuns(
                self._reader, self._events, self._send, self._components.parent, self._run_evidence, literals
            )
            self._call_runs = ProgramCallRuns(
                calls=self._components.calls,
                reader=self._reader,
                events=self._events,
                send=self._send,
                parent=self._components.parent,
                new_run_id=self._components.new_run_id,
                open_runs=self.open_runs,
                names=lambda: self._names,
            )
            self._send(self._events.start(self._components.application, began))
        except Exception as error:
            self._report("Lineage is not captured in this session", error)
            return
        finally:
            self._ready.set()
        self._listen()
        for reached in list(self._waiting.values()):  # no message will follow
            reached.set()
        if self._application_ended:
            self._on_over()

    def _listen(self) -> None:
        while not self._stopping.is_set():
            try:
                message = self._bridge.next_message(_PATIENCE)
            except Exception as error:  # the JVM has ended: there are no more messages
                _log.debug("Spark no longer answers: %s", error)
                return
            if message is not None:
                began = time.perf_counter()
                self._handle(message)
                self.cost.seconds += time.perf_counter() - began

    def _handle(self, message: ListenerMessage) -> None:
        kind = message.fields["kind"]
        try:
            if message.execution is not None:
                self._execution_handlers[kind](message.fields, message.execution)
            elif kind in self._handlers:
                self._handlers[kind](message.fields)
            elif not self._call_runs.handle(kind, message.fields):
                self._streams.handle_event(kind, message.fields)
        except Exception as error:
            self.report_error(error)

    def report_error(self, error: Exception) -> None:
        """Part of a write could not be captured."""
        self.cost.faults += 1
        self._report("The lineage of a write was not captured, or not all of it", error)

    def _report(self, what: str, error: Exception) -> None:
        """One warning per class of error: an error in a loop of a thousand writes is logged once."""
        kind = type(error).__name__
        if kind not in self._reported_errors:
            self._reported_errors.add(kind)
            reason = (str(error).splitlines() or [""])[0]
            _log.warning("%s; the job is not affected. %s: %s", what, kind, reason[:500])
        _log.debug("%s", what, exc_info=error)

    # -- executions ---------------------------------------------------------------------------------------------------

    def _on_start(self, message: Message, execution: JavaObject) -> None:
        id, root = message["id"], message.get("root")
        tags = message.get("tags") or ()
        if not _INTERNAL_TAGS.isdisjoint(tags):
            self._skipped.add(id)
            if KEPT_TABLE_JOB_TAG in tags and root in (None, id):
                self._reader.remember_table(execution)
            return
        if message.get("stream"):
            self._streams.batch_started(id, message, execution)
            return
        stream = self._streams.stream_of_batch(root) if root != id else None
        if stream is None and root != id and (root in self._executions or root in self._skipped):
            self._skipped.add(id)  # a step of a write that is reported as a whole
            return
        at = time_from_millis(message["time"])
        self._skipped.add(id)  # unless it turns out to be a write that can be read
        written = self._reader.read(execution, self._components.parent.job, bool(message.get("readsBefore")))
        if written is None:
            nodes = self._reader.nodes(execution)
            drop = read_drop_command(nodes)
            if drop is not None:
                self._reader.drops.command_started(id, drop, tags)
            elif is_table_change(nodes):
                self._changes[id] = TableChange(nodes, tuple(tags), at)
            return
        self._skipped.discard(id)
        if self._components.redactor is not None:
            self._components.redactor.learn(message.get("settings") or {})
        named = None if stream else self.open_runs.owner(message.get("tags") or (), at)
        written = written_without_literals(written, self._literals(named))
        identity = None
        if stream is None and named is None:
            name = self._names.of(written.target, written.statement)
            identity = RunIdentity(self._components.new_run_id(), name, self._components.parent)
            self._send(self._events.start(identity, at, written))
        self._executions[id] = PendingWrite(at, written, named, identity, stream, message.get("settings") or {})

    def _on_end(self, message: Message, execution: JavaObject) -> None:
        try:
            self._end(message, execution)
        finally:
            self._reader.drops.execution_ended()

    def _end(self, message: Message, execution: JavaObject) -> None:
        id = message["id"]
        if message["checkpoint"]:
            self._reader.remember(execution)
            return
        if message.get("stream"):
            self._streams.batch_ended(id, message, execution)
            return
        if id in self._skipped:
            self._end_skipped(id, message, execution)
            return
        if id not in self._executions:  # it ended before the message about its start was read
            self._on_start({"root": id, **message}, execution)
        pending = self._executions.pop(id, None)
        if pending is None:
            self._end_skipped(id, message, execution)
            return
        self.cost.writes += 1
        self._finish(pending, message, execution)

    def _end_skipped(self, id: ExecutionId, message: Message, execution: JavaObject) -> None:
        """The end of a command that is no write by a query."""
        self._skipped.discard(id)
        self._send_dropped(id, message)
        change = self._changes.pop(id, None)
        if change is None or message["failure"] is not None:
            return
        at = time_from_millis(message["time"])
        named = self.open_runs.owner(change.tags, change.started)
        for effect in self._components.table_changes.read(change, execution):
            if isinstance(effect, TableEvent):
                run = named.identity if named else self._components.application
                self._send(self._events.table_changed(effect, at, run, named.facets if named else {}))
            else:
                self._send_copied(effect, change.started, at, named)

    def _send_copied(self, written: CapturedWrite, started: datetime, at: datetime, named: NamedRun | None) -> None:
        """A write without a query, when it has ended."""
        outcome = WriteOutcome(written, partition=named.partition if named else None)
        self.cost.writes += 1
        self._reader.drops.add_known_tables((written.target, *(item.dataset for item in written.inputs)))
        if named is not None:
            named.add_outcome(outcome)
            self._send(self._events.progress(named.identity, at, outcome))
            return
        name = self._names.of(written.target, written.statement)
        identity = RunIdentity(self._components.new_run_id(), name, self._components.parent)
        self._send(self._events.start(identity, started, written))
        self._send(self._events.complete(identity, at, [outcome]))

    def _finish(self, pending: PendingWrite, message: Message, execution: JavaObject) -> None:
        at = time_from_millis(message["time"])
        if message["failure"] is not None:
            if pending.identity is not None:
                failure = Failure(message["failure"], "JAVA", _stack(message.get("trace")))
                failure = failure_without_literals(failure, self._literals(pending.named))
                evidence = self._evidence(pending, pending.written, execution, failed=True)
                facets = self._run_evidence.facets(EndedRun.of_one(evidence))
                self._send(self._events.fail(pending.identity, at, failure, pending.written, facets))
            return
        named = pending.named
        try:
            outcome = self._outcome(pending, message, execution)
        except Exception as error:  # the write succeeded: it is reported without its metrics
            self.report_error(error)
            outcome = WriteOutcome(pending.written, partition=named.partition if named else None)
        if pending.stream is None and outcome.wrote_anything:
            rows = rows_without_literals(self._rows(pending, outcome.written, execution), self._literals(named))
            outcome = replace(outcome, rows=rows)
            evidence = self._evidence(pending, outcome.written, execution, outcome.rows)
            outcome = replace(
                outcome, evidence=evidence, written=replace(outcome.written, plan=None, cut_plans=(), cuts=())
            )
        self._reader.drops.add_known_tables(
            (outcome.written.target, *(item.dataset for item in outcome.written.inputs))
        )
        self._send_views(outcome.written, at)
        if named is not None:
            named.add_outcome(outcome)
            self._send(self._events.progress(named.identity, at, outcome))
        elif pending.stream is not None:
            literals = self._literals(named)
            ended = EndedWrite(execution, outcome.written, pending.started, pending.settings, literals=literals)
            self._streams.write_ended(pending.stream, outcome, at, ended)
        elif pending.identity is not None:
            facets = self._run_evidence.facets(EndedRun.of_one(outcome.evidence))
            self._send(self._events.complete(pending.identity, at, [outcome], extra_facets=facets))

    def _outcome(self, pending: PendingWrite, message: Message, execution: JavaObject) -> WriteOutcome:
        named = pending.named
        written = self._reader.settle(execution, pending.written)
        nodes = self._bridge.plan_facts("physical", execution.executedPlan())
        options = named.options if named else self._components.options
        return WriteOutcome(
            written,
            written_amount(nodes) or amount_from_tasks(message),
            read_amounts(nodes, written.inputs),
            tuple(node_without_literals(node, options.literals_mode) for node in telemetry(nodes, options.leave_out))
            if options.telemetry
            else (),
            named.partition if named else None,
            self._components.quality(written.target, options.quality) if options.quality else None,
        )

    def _rows(self, pending: PendingWrite, written: CapturedWrite, execution: JavaObject) -> dict[str, object] | None:
        """The row capture of a write; if that fails, the event is sent without it."""
        row_capture = self._components.row_capture
        options = pending.named.options if pending.named else self._components.options
        row_options = options.rows or RowCaptureOptions()
        identity = pending.named.identity if pending.named else pending.identity
        if row_capture is None or row_options.mode == "off" or identity is None:
            return None
        try:
            return row_capture.keep(execution, written, row_options, pending.started, identity.run_id)
        except Exception as error:
            report_unless_stopped(row_capture, error, self.report_error)
            return None

    def _evidence(
        self,
        pending: PendingWrite,
        written: CapturedWrite,
        execution: JavaObject,
        rows: Mapping[str, object] | None = None,
        *,
        failed: bool = False,
    ) -> object:
        """The evidence of a write; None if it cannot be taken."""
        options = pending.named.options if pending.named else self._components.options
        literals = self._literals(pending.named)
        ended = EndedWrite(
            execution=execution,
            written=written,
            started=pending.started,
            settings=pending.settings,
            rows=rows,
            failed=failed,
            literals=literals,
        )
        return self._run_evidence.of_write(ended, options.evidence)

    def _literals(self, named: NamedRun | None) -> str:
        return (named.options if named else self._components.options).literals_mode

    def _on_dropped(self, message: Message) -> None:
        self._reader.drops.table_gone(message["database"], message["table"])

    def _send_dropped(self, id: ExecutionId, message: Message) -> None:
        dropped = self._reader.drops.command_ended(id, failed=message["failure"] is not None)
        if dropped is None:
            return
        at = time_from_millis(message["time"])
        named = self.open_runs.owner(dropped.tags, at)
        run = named.identity if named else self._components.application
        self._send(self._events.dropped(dropped.dataset, at, run, named.facets if named else {}))

    def _send_views(self, written: CapturedWrite, at: datetime) -> None:
        """Each view once, and again when its definition has changed."""
        for definition in written.views:
            key = (*definition.view.key, hash((definition.written.whole, tuple(definition.written.fields.items()))))
            if key not in self._views:
                self._views.add(key)
                self._send(self._events.view(definition.written, at))
            self._send_views(definition.written, at)

    # -- named runs, and the end --------------------------------------------------------------------------------------

    def _on_run_begin(self, message: Message) -> None:
        run = self.open_runs.get(message["run"])
        if run is not None:
            self._send(self._events.start(run.identity, run.started))

    def _on_run_end(self, message: Message) -> None:
        run = self.open_runs.remove(message["run"])
        if run is not None:
            self._end_run(run, time_from_millis(message["time"]), message.get("failure"), message.get("stack"))

    def _end_run(self, run: NamedRun, at: datetime, failure: str | None, trace: str | None) -> None:
        extra_facets = run.facets | self._run_evidence.facets(run.to_ended_run())
        if failure is None:
            self._send(self._events.complete(run.identity, at, reported=run.outcomes, extra_facets=extra_facets))
        else:
            self._send(
                self._events.fail(run.identity, at, Failure(failure, "PYTHON", trace), extra_facets=extra_facets)
            )

    def _on_caught_up(self, message: Message) -> None:
        reached = self._waiting.get(message["token"])
        if reached is not None:
            reached.set()

    def _on_stop(self, _message: Message) -> None:
        self._stopping.set()

    def _on_application_end(self, message: Message) -> None:
        """No message about pending writes will follow."""
        at = time_from_millis(message["time"])
        lost = Failure("The Spark application ended before the write did.", "JAVA")
        for pending in self._executions.values():
            if pending.identity is not None:
                self._send(self._events.fail(pending.identity, at, lost, pending.written))
        self._executions.clear()
        self._streams.end(at, lost)
        self._call_runs.end(at, lost)
        self._application_ended = True
        self._stopping.set()


def _stack(trace: list[str] | None) -> str | None:
    return "\n".join(f"    at {line}" for line in trace) if trace else None
