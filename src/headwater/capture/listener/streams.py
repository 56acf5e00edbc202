"""Streaming queries: one run a query, not one a micro-batch.

The run begins with the query and ends with it. What flows where is told with the first batch, and again only when one
does something new: a stream that runs for a month says it once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from headwater.capture.events.evidence import RunEnded, WriteEnded
from headwater.capture.events.inputs import InputColumn
from headwater.capture.events.literals import failure_without_literals, written_without_literals
from headwater.capture.events.run_types import Failure, Outcome, ParentRun, RunIdentity, moment
from headwater.capture.events.witness import Witness
from headwater.capture.events.writes import Reader, Written
from headwater.capture.listener.statistics import Amount, amount_told
from headwater.capture.naming.jobs import job_name

if TYPE_CHECKING:
    from headwater.capture.events.builder import Events


@dataclass
class Stream:
    run_id: str
    started: datetime
    name: str | None
    identity: RunIdentity | None = None
    """Known with the first batch: an unnamed query is called after what it writes."""
    told: dict[tuple[str, str], list[Written]] = field(default_factory=dict)
    """By what they write: the ways of writing it that have been told of."""
    amounts: dict[tuple[str, str], Amount] = field(default_factory=dict)
    """What all batches together have written; of an output that each replaces, the last one."""
    rows_in: int = 0
    rows_out: int | None = None
    watched: bool = False
    """Whether its batches' plan has been read."""
    own: Written | None = None
    """What the batches write themselves; None where that is up to `foreachBatch`."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Of its session, where they differ from the application's."""
    evidence: list[Any] = field(default_factory=list)
    """What each way of writing says for itself."""


class Streams:
    def __init__(
        self,
        reader: Reader,
        events: Events,
        send: Callable[[dict[str, Any]], None],
        application: ParentRun,
        witness: Witness,
        literals: str = "keep",
    ) -> None:
        self._reader = reader
        self._events = events
        self._send = send
        self._application = application
        self._witness = witness
        self._literals = literals
        self._streams: dict[str, Stream] = {}
        self._batches: dict[int, tuple[str, Written | None]] = {}

    def take(self, kind: str, said: dict[str, Any]) -> None:
        if kind == "QueryStartedEvent":
            self._known(said["runId"], said["time"]).name = said.get("name")
        elif kind == "QueryProgressEvent":
            self._progress(said["runId"], json.loads(said["progress"]))
        elif kind == "QueryTerminatedEvent":
            failure = said.get("failure")
            told = None if failure is None else failure_without_literals(Failure(failure), self._literals).message
            self._terminated(said["runId"], moment(said["time"]), told)

    def of_batch(self, execution: int | None) -> str | None:
        """The query that a micro-batch belongs to: what runs within a batch is its doing."""
        batch = self._batches.get(execution) if execution is not None else None
        return batch[0] if batch else None

    def batch_started(self, id: int, said: dict[str, Any], execution: Any) -> None:
        stream = self._known(said["stream"], said["time"])
        written = None
        if not stream.watched:
            stream.watched = True
            stream.settings = said.get("settings") or {}
            written = self._reader.read(execution, self._application.job)
            if written is not None:
                written = written_without_literals(written, self._literals)
                stream.own = _unnarrowed(written)
                self._begin(stream, written)
            self._reader.remember_batch(execution)
        self._batches[id] = stream.run_id, written

    def batch_ended(self, id: int, said: dict[str, Any], execution: Any) -> None:
        if id not in self._batches:
            self.batch_started(id, said, execution)
        run_id, written = self._batches.pop(id)
        stream = self._streams.get(run_id)
        if stream is None:
            return
        if said["failure"] is not None:
            stream.watched = stream.watched and written is None  # the next batch tells it
        elif stream.own is not None:
            # Delta writes a batch in steps of its own, whose tasks would count twice.
            amount = Amount() if stream.own.target.format == "delta" else amount_told(said)
            _add(stream, stream.own, amount)
            if written is not None:
                at = moment(said["time"])
                ended = WriteEnded(execution, written, at, stream.settings, literals=self._literals)
                self._tell(stream, Outcome(stream.own, amount), at, ended)

    def wrote(self, run_id: str, outcome: Outcome, at: datetime, ended: WriteEnded) -> None:
        """Something that was written within a batch: in the user's `foreachBatch`, or as a step of the batch's own
        write, which counts what its steps write."""
        stream = self._streams.get(run_id)
        if stream is None:
            return
        written = _unnarrowed(outcome.written)
        if stream.own is None or stream.own.target.key != written.target.key:
            _add(stream, written, outcome.amount)
        self._tell(stream, replace(outcome, written=written), at, ended)

    def _tell(self, stream: Stream, outcome: Outcome, at: datetime, ended: WriteEnded) -> None:
        self._begin(stream, outcome.written)
        assert stream.identity is not None
        known = stream.told.setdefault(outcome.written.target.key, [])
        if not any(_same(one, outcome.written) for one in known):
            known.append(outcome.written)
            stream.evidence.append(self._witness.of_stream(ended))
            self._send(self._events.progress(stream.identity, at, outcome))

    def end(self, at: datetime, failure: Failure) -> None:
        """The application is over, and with it every query."""
        for run_id in list(self._streams):
            self._terminated(run_id, at, failure.message)

    def _known(self, run_id: str, time: int) -> Stream:
        return self._streams.setdefault(run_id, Stream(run_id, moment(time), None))

    def _begin(self, stream: Stream, written: Written | None) -> None:
        if stream.identity is not None:
            return
        if stream.name:
            name = f"{self._application.job}.{stream.name}"
        else:
            name = job_name(self._application.job, written.target) if written else f"{self._application.job}.stream"
        stream.identity = RunIdentity(stream.run_id, name, self._application, streaming=True)
        self._send(self._events.start(stream.identity, stream.started, written))

    def _progress(self, run_id: str, progress: dict[str, Any]) -> None:
        stream = self._streams.get(run_id)
        if stream is None:
            return
        stream.rows_in += max(0, progress.get("numInputRows") or 0)
        rows = (progress.get("sink") or {}).get("numOutputRows", -1)
        if rows is not None and rows >= 0:
            stream.rows_out = (stream.rows_out or 0) + rows

    def _terminated(self, run_id: str, at: datetime, failure: str | None) -> None:
        stream = self._streams.pop(run_id, None)
        if stream is None:
            return
        if stream.identity is None and failure is None:
            return  # it kept nothing: a console, a table in memory
        self._begin(stream, None)
        assert stream.identity is not None
        proof = self._witness.facets(RunEnded([part for part in stream.evidence if part is not None]))
        if failure is not None:
            self._send(self._events.fail(stream.identity, at, Failure(failure), more=proof))
        else:
            self._send(self._events.complete(stream.identity, at, list(_outcomes(stream)), more=proof))


def _add(stream: Stream, written: Written, amount: Amount) -> None:
    key = written.target.key
    before = stream.amounts.get(key) if written.kind in ("append", "stream") else None
    stream.amounts[key] = amount if before is None else before + amount


def _outcomes(stream: Stream) -> Iterator[Outcome]:
    for key, ways in stream.told.items():
        # A table's files may have been told of before the table: `saveAsTable` writes them as a step of its own.
        written = next((way for way in ways if way.target.also), ways[-1])
        amount = stream.amounts.get(key, Amount())
        if len(stream.told) == 1 and stream.rows_out is not None:
            amount = Amount(stream.rows_out)
        read = {item.place.key: Amount(stream.rows_in) for item in written.inputs} if len(written.inputs) == 1 else {}
        yield Outcome(written, amount, read)


def _unnarrowed(written: Written) -> Written:
    """A batch reads a part; what the query reads is the whole."""
    inputs = (replace(item, place=replace(item.place, partitions=())) for item in written.inputs)
    return replace(written, inputs=tuple(inputs))


def _same(one: Written, other: Written) -> bool:
    return _flow(one) == _flow(other)


def _flow(written: Written) -> tuple[Any, ...]:
    """What does not change from batch to batch: not the ids in the plan, nor which files a batch has read."""
    columns = {name: [_name(source) for source in sources] for name, sources in written.fields.items()}
    inputs = [item.place.key for item in written.inputs]
    return written.target.also, inputs, columns, [_name(source) for source in written.whole]


def _name(column: InputColumn) -> tuple[Any, ...]:
    return *column.place.key, column.field, column.type, column.subtype, column.masking, column.logic
