"""Streaming queries: one run per query, not one per micro-batch.

The run starts and ends with the query. Lineage is sent with the first batch, and again only when a batch does something
new: a stream that runs for a month sends it once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from headwater.capture.events.evidence import EndedRun, EndedWrite, OptionalEvidence
from headwater.capture.events.inputs import InputColumn
from headwater.capture.events.literals import failure_without_literals, written_without_literals
from headwater.capture.events.run_types import Failure, ParentRun, RunIdentity, WriteOutcome, time_from_millis
from headwater.capture.events.writes import CapturedWrite, WriteReader
from headwater.capture.listener.messages import ExecutionId, Message
from headwater.capture.listener.statistics import Amount, amount_from_tasks
from headwater.capture.naming.jobs import job_name
from headwater.jvm import JavaObject

if TYPE_CHECKING:
    from headwater.capture.events.builder import EventBuilder


@dataclass
class StreamState:
    run_id: str
    started: datetime
    name: str | None
    identity: RunIdentity | None = None
    """Known with the first batch: an unnamed query is named after what it writes."""
    reported_writes: dict[tuple[str, str], list[CapturedWrite]] = field(default_factory=dict)
    """By target: the distinct writes that have been reported."""
    amounts: dict[tuple[str, str], Amount] = field(default_factory=dict)
    """What all batches together have written; of an output that each batch replaces, the last one."""
    rows_in: int = 0
    rows_out: int | None = None
    plan_read: bool = False
    """Whether the plan of its batches has been read."""
    own_write: CapturedWrite | None = None
    """What the batches themselves write; None if `foreachBatch` does."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Of its session, if they differ from the application's."""
    evidence: list[object] = field(default_factory=list)
    """The evidence of each reported write."""


class StreamRuns:
    """The streaming queries of one application."""

    def __init__(
        self,
        reader: WriteReader,
        events: EventBuilder,
        send: Callable[[dict[str, object]], None],
        application: ParentRun,
        evidence: OptionalEvidence,
        literals: str = "keep",
    ) -> None:
        self._reader = reader
        self._events = events
        self._send = send
        self._application = application
        self._evidence = evidence
        self._literals = literals
        self._streams: dict[str, StreamState] = {}
        self._batches: dict[ExecutionId, tuple[str, CapturedWrite | None]] = {}

    def handle_event(self, kind: str, message: Message) -> None:
        if kind == "QueryStartedEvent":
            self._stream(message["runId"], message["time"]).name = message.get("name")
        elif kind == "QueryProgressEvent":
            self._progress(message["runId"], json.loads(message["progress"]))
        elif kind == "QueryTerminatedEvent":
            failure = message.get("failure")
            reason = None if failure is None else failure_without_literals(Failure(failure), self._literals).message
            self._terminated(message["runId"], time_from_millis(message["time"]), reason)

    def stream_of_batch(self, execution: ExecutionId | None) -> str | None:
        """The query that a micro-batch belongs to: executions within a batch belong to it as well."""
        batch = self._batches.get(execution) if execution is not None else None
        return batch[0] if batch else None

    def batch_started(self, id: ExecutionId, message: Message, execution: JavaObject) -> None:
        stream = self._stream(message["stream"], message["time"])
        written = None
        if not stream.plan_read:
            stream.plan_read = True
            stream.settings = message.get("settings") or {}
            written = self._reader.read(execution, self._application.job)
            if written is not None:
                written = written_without_literals(written, self._literals)
                stream.own_write = _without_partitions(written)
                self._begin(stream, written)
            self._reader.remember_batch(execution)
        self._batches[id] = stream.run_id, written

    def batch_ended(self, id: ExecutionId, message: Message, execution: JavaObject) -> None:
        if id not in self._batches:
            self.batch_started(id, message, execution)
        run_id, written = self._batches.pop(id)
        stream = self._streams.get(run_id)
        if stream is None:
            return
        if message["failure"] is not None:
            stream.plan_read = stream.plan_read and written is None  # the next batch reports it
        elif stream.own_write is not None:
            # Delta writes a batch in steps of its own, whose tasks would count twice.
            amount = Amount() if stream.own_write.target.format == "delta" else amount_from_tasks(message)
            _add_amount(stream, stream.own_write, amount)
            if written is not None:
                at = time_from_millis(message["time"])
                ended = EndedWrite(execution, written, at, stream.settings, literals=self._literals)
                self._report_write(stream, WriteOutcome(stream.own_write, amount), at, ended)

    def write_ended(self, run_id: str, outcome: WriteOutcome, at: datetime, ended: EndedWrite) -> None:
        """A write within a batch: in the user's `foreachBatch`, or as a step of the batch's own write, which counts
        what its steps write."""
        stream = self._streams.get(run_id)
        if stream is None:
            return
        written = _without_partitions(outcome.written)
        if stream.own_write is None or stream.own_write.target.key != written.target.key:
            _add_amount(stream, written, outcome.amount)
        self._report_write(stream, replace(outcome, written=written), at, ended)

    def _report_write(self, stream: StreamState, outcome: WriteOutcome, at: datetime, ended: EndedWrite) -> None:
        self._begin(stream, outcome.written)
        assert stream.identity is not None
        writes = stream.reported_writes.setdefault(outcome.written.target.key, [])
        if not any(_is_same_flow(write, outcome.written) for write in writes):
            writes.append(outcome.written)
            stream.evidence.append(self._evidence.of_stream(ended))
            self._send(self._events.progress(stream.identity, at, outcome))

    def end(self, at: datetime, failure: Failure) -> None:
        """The application has ended, and every query with it."""
        for run_id in list(self._streams):
            self._terminated(run_id, at, failure.message)

    def _stream(self, run_id: str, time: int) -> StreamState:
        return self._streams.setdefault(run_id, StreamState(run_id, time_from_millis(time), None))

    def _begin(self, stream: StreamState, written: CapturedWrite | None) -> None:
        if stream.identity is not None:
            return
        if stream.name:
            name = f"{self._application.job}.{stream.name}"
        else:
            name = job_name(self._application.job, written.target) if written else f"{self._application.job}.stream"
        stream.identity = RunIdentity(stream.run_id, name, self._application, streaming=True)
        self._send(self._events.start(stream.identity, stream.started, written))

    def _progress(self, run_id: str, progress: Mapping[str, object]) -> None:
        stream = self._streams.get(run_id)
        if stream is None:
            return
        rows_in, sink = progress.get("numInputRows"), progress.get("sink")
        stream.rows_in += max(0, rows_in) if isinstance(rows_in, int) else 0
        rows = sink.get("numOutputRows") if isinstance(sink, Mapping) else None
        if isinstance(rows, int) and rows >= 0:
            stream.rows_out = (stream.rows_out or 0) + rows

    def _terminated(self, run_id: str, at: datetime, failure: str | None) -> None:
        stream = self._streams.pop(run_id, None)
        if stream is None:
            return
        if stream.identity is None and failure is None:
            return  # it stored nothing: a console, a table in memory
        self._begin(stream, None)
        assert stream.identity is not None
        facets = self._evidence.facets(EndedRun([part for part in stream.evidence if part is not None]))
        if failure is not None:
            self._send(self._events.fail(stream.identity, at, Failure(failure), extra_facets=facets))
        else:
            self._send(self._events.complete(stream.identity, at, list(_outcomes(stream)), extra_facets=facets))


def _add_amount(stream: StreamState, written: CapturedWrite, amount: Amount) -> None:
    key = written.target.key
    before = stream.amounts.get(key) if written.kind in ("append", "stream") else None
    stream.amounts[key] = amount if before is None else before + amount


def _outcomes(stream: StreamState) -> Iterator[WriteOutcome]:
    for key, writes in stream.reported_writes.items():
        # A table's files may have been reported before the table: `saveAsTable` writes them as a step of its own.
        written = next((write for write in writes if write.target.symlink), writes[-1])
        amount = stream.amounts.get(key, Amount())
        if len(stream.reported_writes) == 1 and stream.rows_out is not None:
            amount = Amount(stream.rows_out)
        read = {item.dataset.key: Amount(stream.rows_in) for item in written.inputs} if len(written.inputs) == 1 else {}
        yield WriteOutcome(written, amount, read)


def _without_partitions(written: CapturedWrite) -> CapturedWrite:
    """A batch reads some partitions; the query reads the whole dataset."""
    inputs = (replace(item, dataset=replace(item.dataset, partitions=())) for item in written.inputs)
    return replace(written, inputs=tuple(inputs))


def _is_same_flow(one: CapturedWrite, other: CapturedWrite) -> bool:
    return _flow_key(one) == _flow_key(other)


def _flow_key(written: CapturedWrite) -> tuple[object, ...]:
    """What does not change from batch to batch: neither the ids in the plan, nor the files that a batch has read."""
    columns = {name: [_column_key(source) for source in sources] for name, sources in written.fields.items()}
    inputs = [item.dataset.key for item in written.inputs]
    return written.target.symlink, inputs, columns, [_column_key(source) for source in written.whole]


def _column_key(column: InputColumn) -> tuple[object, ...]:
    return *column.dataset.key, column.field, column.type, column.subtype, column.masking, column.logic
