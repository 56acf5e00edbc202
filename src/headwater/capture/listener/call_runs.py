"""Runs of what the program does outside of Spark SQL (program_calls.py): an RDD that is saved, a model that is saved,
and a function that is run for its effects, of which only the inputs are known.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from headwater.capture.events.inputs import WriteInput
from headwater.capture.events.run_types import Failure, ParentRun, RunIdentity, WriteOutcome, time_from_millis
from headwater.capture.events.writes import CapturedWrite, WriteReader
from headwater.capture.listener.messages import Message
from headwater.capture.listener.named_runs import NamedRun, NamedRunRegistry
from headwater.capture.listener.program_calls import ProgramCall, ProgramCalls
from headwater.capture.naming.dataset_ref import DatasetRef
from headwater.capture.naming.jobs import JobNames
from headwater.capture.naming.paths import file_dataset
from headwater.plan.lineage import Gap

if TYPE_CHECKING:
    from headwater.capture.events.builder import EventBuilder

_RDD_CODE = "the code of an RDD cannot be read: which column became which is not known"
_EFFECTS = "what its function does with the rows outside of Spark is not captured"
_NO_FILES = "the configuration of the Hadoop job names no folder that it writes"
_UNSEEN_TRAINING = "what the model was fitted on was not seen: it was fitted before the capture, or loaded"
_MAX_TRAININGS = 256


@dataclass
class _OpenCall:
    started: datetime
    identity: RunIdentity | None
    """Of the run that this call is by itself; None if it belongs to a named run."""
    named: NamedRun | None
    written: CapturedWrite | None
    inputs: tuple[WriteInput, ...]
    gap: Gap | None = None
    """Of a call without an output that is known."""


class ProgramCallRuns:
    """The calls of one application that the observer has messages about."""

    def __init__(
        self,
        *,
        calls: ProgramCalls,
        reader: WriteReader,
        events: EventBuilder,
        send: Callable[[dict[str, object]], None],
        parent: ParentRun,
        new_run_id: Callable[[], str],
        open_runs: NamedRunRegistry,
        names: Callable[[], JobNames],
    ) -> None:
        self._calls = calls
        self._reader = reader
        self._events = events
        self._send = send
        self._parent = parent
        self._new_run_id = new_run_id
        self._open_runs = open_runs
        self._names = names
        self._open: dict[str, _OpenCall] = {}
        self._trainings: OrderedDict[str, CapturedWrite] = OrderedDict()

    def handle(self, kind: str, message: Message) -> bool:
        """Whether the message is about such a call."""
        what, _, when = kind.rpartition("-")
        if what not in ("save", "effect", "fit", "model") or when not in ("begin", "end"):
            return False
        if when == "end":
            self._end(message)
            return True
        call = self._calls.take(message["token"])
        if call is None:
            return True
        if what == "fit":
            self._remember_training(message["token"], call)
        elif what == "model":
            self._begin(message, self._model(call), (), None)
        else:
            self._begin_of_rdd(message, call)
        return True

    def end(self, at: datetime, failure: Failure) -> None:
        """The application has ended, and every call with it."""
        for call in self._open.values():
            if call.identity is not None:
                self._send(self._events.fail(call.identity, at, failure, call.written))
        self._open.clear()

    # -- the calls --------------------------------------------------------------------------------

    def _begin_of_rdd(self, message: Message, call: ProgramCall) -> None:
        inputs, gaps = self._reader.read_rdd(call.rdd, self._parent.job) if call.rdd is not None else ((), ())
        if call.format is None and call.path is None:
            reason = _NO_FILES if call.method.startswith("save") else _EFFECTS
            self._begin(message, None, inputs, Gap(call.method, reason, ()))
            return
        target = file_dataset(self._reader.qualified(call.path or ""), format=call.format)
        gap = Gap(call.method, _RDD_CODE, ())
        written = _write_without_columns(call.method, "create", target, inputs, (gap, *gaps))
        self._begin(message, written, inputs, None)

    def _remember_training(self, token: str, call: ProgramCall) -> None:
        assert call.frame is not None
        self._trainings[token] = self._reader.read_frame(call.frame, call.method, self._parent.job)
        while len(self._trainings) > _MAX_TRAININGS:
            self._trainings.popitem(last=False)

    def _model(self, call: ProgramCall) -> CapturedWrite:
        folder = file_dataset(self._reader.qualified(call.path or ""), format="ml")
        target = replace(folder, kind="MODEL")
        training = self._trainings.get(call.training or "")
        if training is None:
            gap = Gap(call.method, _UNSEEN_TRAINING, ())
            return _write_without_columns(call.method, "overwrite", target, (), (gap,))
        return replace(training, command=call.method, kind="overwrite", target=target)

    # -- their runs -------------------------------------------------------------------------------

    def _begin(
        self, message: Message, written: CapturedWrite | None, inputs: tuple[WriteInput, ...], gap: Gap | None
    ) -> None:
        at = time_from_millis(message["time"])
        named = self._open_runs.owner(message.get("tags") or (), at)
        identity = None
        if named is None:
            name = (
                f"{self._parent.job}.{gap.operator}"
                if written is None and gap is not None
                else self._names().of(*_target_of(written))
            )
            identity = RunIdentity(self._new_run_id(), name, self._parent)
            self._send(self._events.start(identity, at, written))
        self._open[message["token"]] = _OpenCall(at, identity, named, written, inputs, gap)

    def _end(self, message: Message) -> None:
        call = self._open.pop(message["token"], None)
        if call is None:
            return
        at, failure = time_from_millis(message["time"]), message.get("failure")
        if failure is not None:
            if call.identity is not None:
                reason = Failure(failure, "PYTHON", message.get("stack"))
                self._send(self._events.fail(call.identity, at, reason, call.written))
            return
        if call.written is not None:
            self._complete(call, WriteOutcome(call.written, partition=call.named.partition if call.named else None), at)
        elif call.gap is not None:
            self._end_with_gap(call, call.gap, at)

    def _end_with_gap(self, call: _OpenCall, gap: Gap, at: datetime) -> None:
        """The end of a call without an output that is known."""
        from headwater.capture.events.facets import coverage_of_run

        if call.identity is not None:
            facets = coverage_of_run([gap])
            self._send(self._events.complete(call.identity, at, extra_facets=facets, inputs=call.inputs))
        elif call.named is not None:
            call.named.gaps.append(gap)
            call.named.facets.update(coverage_of_run(call.named.gaps))

    def _complete(self, call: _OpenCall, outcome: WriteOutcome, at: datetime) -> None:
        if call.named is not None:
            call.named.add_outcome(outcome)
            self._send(self._events.progress(call.named.identity, at, outcome))
        elif call.identity is not None:
            self._send(self._events.complete(call.identity, at, [outcome]))


def _write_without_columns(
    command: str, kind: str, target: DatasetRef, inputs: tuple[WriteInput, ...], gaps: Iterable[Gap]
) -> CapturedWrite:
    return CapturedWrite(
        command=command,
        kind=kind,
        target=target,
        columns=(),
        inputs=inputs,
        fields={},
        whole=(),
        gaps=tuple(dict.fromkeys(gaps)),
    )


def _target_of(written: CapturedWrite | None) -> tuple[DatasetRef, object]:
    assert written is not None
    return written.target, written.statement
