"""The thread that turns what Spark says into events.

It alone reads plans and measurements, so the order of events is the order in which things happened, and a fault of ours
stays here: it is logged once, counted, and the next message is read.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from threading import Event as Signal
from threading import Thread
from typing import TYPE_CHECKING, Any

from headwater.capture.events.evidence import EvidenceKeeper, RunEnded, WriteEnded
from headwater.capture.events.literals import (
    failure_without_literals,
    node_without_literals,
    rows_without_literals,
    written_without_literals,
)
from headwater.capture.events.output_quality import Asked, Quality
from headwater.capture.events.row_capture import KEPT_WORK, OWN_WORK, RowKeeper, RowsAsked
from headwater.capture.events.run_types import Failure, Outcome, ParentRun, RunIdentity, moment
from headwater.capture.events.witness import Witness, unless_over
from headwater.capture.events.writes import Reader, Written
from headwater.capture.listener.jvm import Bridge, Message
from headwater.capture.listener.named_runs import Measuring, NamedRun, OpenRuns
from headwater.capture.listener.statistics import amount_told, read_amounts, telemetry, written_amount
from headwater.capture.listener.streams import Streams
from headwater.capture.naming.dataset_ref import Place
from headwater.capture.naming.jobs import JobNames
from headwater.redaction.redactor import Redactor

if TYPE_CHECKING:
    from headwater.capture.events.builder import Events

_log = logging.getLogger("headwater")
_PATIENCE = 2.0  # seconds the thread waits for a message before it looks whether it should end


@dataclass
class Execution:
    """A write under way."""

    started: datetime
    written: Written
    named: NamedRun | None
    identity: RunIdentity | None
    """Of the run that this write alone makes; None if it belongs to a named run or a stream."""
    stream: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    """Of its session, where they differ from the application's."""


@dataclass
class Effort:
    """What the capture has cost so far, and what it could not do."""

    seconds: float = 0.0
    writes: int = 0
    faults: int = 0


@dataclass(frozen=True)
class Workshop:
    """What the observer works with. It takes a second to import, so it is made in the observer's own thread."""

    reader: Reader
    events: Events
    application: RunIdentity
    parent: ParentRun
    """The application, as the runs within it name it."""
    new_run_id: Callable[[], str]
    measuring: Measuring
    quality: Callable[[Place, Asked], Quality | None]
    keeper: RowKeeper | None = None
    evidence: EvidenceKeeper | None = None
    redactor: Redactor | None = None
    """Which learns from the settings of sessions what is secret."""


class Observer:
    def __init__(
        self, bridge: Bridge, send: Callable[[dict[str, Any]], None], workshop: Callable[[], Workshop]
    ) -> None:
        self._bridge = bridge
        self._send = send
        self._make_workshop = workshop
        self._executions: dict[int, Execution] = {}
        self._passed_over: set[int] = set()
        self._views: set[tuple[str, str, int]] = set()
        self._waiting: dict[str, Signal] = {}
        self._stopping = Signal()
        self._ready = Signal()
        self._thread = Thread(target=self._work, name="headwater-capture", daemon=True)
        self._faults_told: set[str] = set()
        self.open_runs = OpenRuns()
        self.effort = Effort()

    def start(self) -> None:
        self._thread.start()

    def workshop(self, seconds: float) -> Workshop | None:
        """None if it cannot be had, or not in time."""
        self._ready.wait(seconds)
        return getattr(self, "_workshop", None)

    def catch_up(self, seconds: float) -> bool:
        """Wait until everything that has happened so far is told."""
        if not self._thread.is_alive():
            return False
        token, reached = f"{time.monotonic_ns()}", Signal()
        self._waiting[token] = reached
        self._bridge.mark(kind="caught-up", token=token)
        done = reached.wait(seconds)
        self._waiting.pop(token, None)
        return done

    def stop(self, seconds: float) -> None:
        self._stopping.set()
        self._bridge.mark(kind="stop")
        self._thread.join(seconds)

    def _work(self) -> None:
        began = datetime.now(UTC)
        try:
            self._workshop = self._make_workshop()
            self._reader, self._events = self._workshop.reader, self._workshop.events
            self._names = JobNames(self._workshop.application.job)
            self._witness = Witness(self._workshop.evidence, self.fault)
            literals = self._workshop.measuring.kept_literals
            self._streams = Streams(
                self._reader, self._events, self._send, self._workshop.parent, self._witness, literals
            )
            self._send(self._events.start(self._workshop.application, began))
        except Exception as fault:
            self._report("Lineage is not captured in this session", fault)
            return
        finally:
            self._ready.set()
        self._listen()

    def _listen(self) -> None:
        while not self._stopping.is_set():
            try:
                message = self._bridge.next_message(_PATIENCE)
            except Exception as gone:  # the JVM has ended: nothing more will be said
                _log.debug("Spark no longer answers: %s", gone)
                return
            if message is not None:
                began = time.perf_counter()
                self._take(message)
                self.effort.seconds += time.perf_counter() - began

    def _take(self, message: Message) -> None:
        kind = message.said["kind"]
        try:
            handler = getattr(self, f"_on_{kind.replace('-', '_')}", None)
            if handler is not None:
                handler(message.said, message.execution)
            else:
                self._streams.take(kind, message.said)
        except Exception as fault:
            self.fault(fault)

    def fault(self, fault: Exception) -> None:
        """Something about a write could not be found out."""
        self.effort.faults += 1
        self._report("The lineage of a write was not captured, or not all of it", fault)

    def _report(self, what: str, fault: Exception) -> None:
        """Once a kind: a fault in a loop of a thousand writes is one warning."""
        kind = type(fault).__name__
        if kind not in self._faults_told:
            self._faults_told.add(kind)
            reason = (str(fault).splitlines() or [""])[0]
            _log.warning("%s; the job is not affected. %s: %s", what, kind, reason[:500])
        _log.debug("%s", what, exc_info=fault)

    # -- executions ---------------------------------------------------------------------------------------------------

    def _on_start(self, said: dict[str, Any], execution: Any) -> None:
        id, root = said["id"], said.get("root")
        tags = said.get("tags") or ()
        if OWN_WORK in tags or KEPT_WORK in tags:
            self._passed_over.add(id)
            if KEPT_WORK in tags and root in (None, id):
                self._reader.remember_table(execution)
            return
        if said.get("stream"):
            self._streams.batch_started(id, said, execution)
            return
        stream = self._streams.of_batch(root) if root != id else None
        if stream is None and root != id and (root in self._executions or root in self._passed_over):
            self._passed_over.add(id)  # a step of a write that is told as a whole
            return
        at = moment(said["time"])
        self._passed_over.add(id)  # unless it turns out to be a write, and we can read it
        written = self._reader.read(execution, self._workshop.parent.job)
        if written is None:
            dropping = self._reader.dropping(execution)
            if dropping is not None:
                self._reader.drops.began(id, dropping, tags)
            return
        self._passed_over.discard(id)
        if self._workshop.redactor is not None:
            self._workshop.redactor.learn(said.get("settings") or {})
        named = None if stream else self.open_runs.owner(said.get("tags") or (), at)
        written = written_without_literals(written, self._literals(named))
        identity = None
        if stream is None and named is None:
            name = self._names.of(written.target, written.kind, (item.place for item in written.inputs))
            identity = RunIdentity(self._workshop.new_run_id(), name, self._workshop.parent)
            self._send(self._events.start(identity, at, written))
        self._executions[id] = Execution(at, written, named, identity, stream, said.get("settings") or {})

    def _on_end(self, said: dict[str, Any], execution: Any) -> None:
        try:
            self._end(said, execution)
        finally:
            self._reader.drops.execution_ended()

    def _end(self, said: dict[str, Any], execution: Any) -> None:
        id = said["id"]
        if said["checkpoint"]:
            self._reader.remember(execution)
            return
        if said.get("stream"):
            self._streams.batch_ended(id, said, execution)
            return
        if id in self._passed_over:
            self._passed_over.discard(id)
            self._tell_dropped(id, said)
            return
        if id not in self._executions:  # over before we heard that it began
            self._on_start({"root": id, **said}, execution)
        known = self._executions.pop(id, None)
        if known is None:
            self._passed_over.discard(id)
            self._tell_dropped(id, said)
            return
        self.effort.writes += 1
        self._finish(known, said, execution)

    def _finish(self, known: Execution, said: dict[str, Any], execution: Any) -> None:
        at = moment(said["time"])
        if said["failure"] is not None:
            if known.identity is not None:
                failure = Failure(said["failure"], "JAVA", _stack(said.get("trace")))
                failure = failure_without_literals(failure, self._literals(known.named))
                found = self._evidence(known, known.written, execution, failed=True)
                proof = self._witness.facets(RunEnded.of_one(found))
                self._send(self._events.fail(known.identity, at, failure, known.written, proof))
            return
        named = known.named
        try:
            outcome = self._outcome(known, said, execution)
        except Exception as fault:  # it was written all the same: told without what could not be measured
            self.fault(fault)
            outcome = Outcome(known.written, partition=named.partition if named else None)
        if known.stream is None and outcome.kept:
            rows = rows_without_literals(self._rows(known, outcome.written, execution), self._literals(named))
            outcome = replace(outcome, rows=rows)
            found = self._evidence(known, outcome.written, execution, outcome.rows)
            outcome = replace(outcome, evidence=found, written=replace(outcome.written, plan=None, behind=(), cuts=()))
        self._reader.drops.met((outcome.written.target, *(item.place for item in outcome.written.inputs)))
        self._tell_views(outcome.written, at)
        if named is not None:
            named.tell(outcome)
            self._send(self._events.progress(named.identity, at, outcome))
        elif known.stream is not None:
            literals = self._literals(named)
            ended = WriteEnded(execution, outcome.written, known.started, known.settings, literals=literals)
            self._streams.wrote(known.stream, outcome, at, ended)
        elif known.identity is not None:
            proof = self._witness.facets(RunEnded.of_one(outcome.evidence))
            self._send(self._events.complete(known.identity, at, [outcome], more=proof))

    def _outcome(self, known: Execution, said: dict[str, Any], execution: Any) -> Outcome:
        named = known.named
        written = self._reader.settle(execution, known.written)
        nodes = self._bridge.survey("physical", execution.executedPlan())
        measuring = named.measuring if named else self._workshop.measuring
        return Outcome(
            written,
            written_amount(nodes) or amount_told(said),
            read_amounts(nodes, written.inputs),
            tuple(
                node_without_literals(node, measuring.kept_literals) for node in telemetry(nodes, measuring.leave_out)
            )
            if measuring.telemetry
            else (),
            named.partition if named else None,
            self._workshop.quality(written.target, measuring.quality) if measuring.quality else None,
        )

    def _rows(self, known: Execution, written: Written, execution: Any) -> dict[str, Any] | None:
        """What is kept for questions about rows; the event goes out without it if that fails."""
        keeper = self._workshop.keeper
        measuring = known.named.measuring if known.named else self._workshop.measuring
        asked = measuring.rows or RowsAsked()
        identity = known.named.identity if known.named else known.identity
        if keeper is None or asked.mode == "off" or identity is None:
            return None
        try:
            return keeper.keep(execution, written, asked, known.started, identity.run_id)
        except Exception as fault:
            unless_over(keeper, fault, self.fault)
            return None

    def _evidence(
        self,
        known: Execution,
        written: Written,
        execution: Any,
        rows: Mapping[str, Any] | None = None,
        *,
        failed: bool = False,
    ) -> Any:
        """What a write says for itself; None if that cannot be found out."""
        measuring = known.named.measuring if known.named else self._workshop.measuring
        literals = self._literals(known.named)
        ended = WriteEnded(execution, written, known.started, known.settings, rows, failed, literals)
        return self._witness.of_write(ended, measuring.evidence)

    def _literals(self, named: NamedRun | None) -> str:
        return (named.measuring if named else self._workshop.measuring).kept_literals

    def _on_dropped(self, said: dict[str, Any], _execution: Any) -> None:
        self._reader.drops.gone(said["database"], said["table"])

    def _tell_dropped(self, id: Any, said: dict[str, Any]) -> None:
        dropped = self._reader.drops.ended(id, failed=said["failure"] is not None)
        if dropped is None:
            return
        at = moment(said["time"])
        named = self.open_runs.owner(dropped.tags, at)
        run = named.identity if named else self._workshop.application
        self._send(self._events.dropped(dropped.place, at, run, named.facets if named else {}))

    def _tell_views(self, written: Written, at: datetime) -> None:
        """Each view once, and again when its definition has changed."""
        for definition in written.views:
            key = (*definition.view.key, hash((definition.written.whole, tuple(definition.written.fields.items()))))
            if key not in self._views:
                self._views.add(key)
                self._send(self._events.view(definition.written, at))
            self._tell_views(definition.written, at)

    # -- named runs, and the end --------------------------------------------------------------------------------------

    def _on_run_begin(self, said: dict[str, Any], _execution: Any) -> None:
        run = self.open_runs.get(said["run"])
        if run is not None:
            self._send(self._events.start(run.identity, run.started))

    def _on_run_end(self, said: dict[str, Any], _execution: Any) -> None:
        run = self.open_runs.remove(said["run"])
        if run is not None:
            self._end_run(run, moment(said["time"]), said.get("failure"), said.get("trace"))

    def _end_run(self, run: NamedRun, at: datetime, failure: str | None, trace: str | None) -> None:
        more = run.facets | self._witness.facets(run.ended())
        if failure is None:
            self._send(self._events.complete(run.identity, at, told=run.told, more=more))
        else:
            self._send(self._events.fail(run.identity, at, Failure(failure, "PYTHON", trace), more=more))

    def _on_caught_up(self, said: dict[str, Any], _execution: Any) -> None:
        reached = self._waiting.get(said["token"])
        if reached is not None:
            reached.set()

    def _on_stop(self, _said: dict[str, Any], _execution: Any) -> None:
        self._stopping.set()

    def _on_application_end(self, said: dict[str, Any], _execution: Any) -> None:
        """Whatever is still under way will not be heard of again."""
        at = moment(said["time"])
        lost = Failure("The Spark application ended before the write did.", "JAVA")
        for known in self._executions.values():
            if known.identity is not None:
                self._send(self._events.fail(known.identity, at, lost, known.written))
        self._executions.clear()
        self._streams.end(at, lost)


def _stack(trace: list[str] | None) -> str | None:
    return "\n".join(f"    at {line}" for line in trace) if trace else None
