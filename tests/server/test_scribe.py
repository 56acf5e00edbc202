"""The process that writes: nothing but speed hangs on it."""

from __future__ import annotations

import json
import pickle
import signal
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from headwater.errors import EventRefused, HeadwaterError, NamespaceRefused, StoreUnavailable, UnknownDataset
from headwater.model.answers import Receipt
from headwater.model.audit import Actor
from headwater.server.app.settings import ServerSettings
from headwater.server.ingest import writer_supervisor
from headwater.server.ingest.local_ingest import BatchResult, IngestResult, LocalIngest, ReceivedBody
from headwater.server.ingest.writer_client import WriterClient
from headwater.server.ingest.writer_supervisor import WriterSupervisor
from headwater.store.access.visibility import Veil
from headwater.store.store import Store
from tests.server.running import ServerProcess
from tests.support.events import run_event

_PATIENCE = 60.0


class Counted(LocalIngest):
    """Stores here, and knows how often."""

    calls = 0

    def events(self, sent: Sequence[ReceivedBody]) -> list[IngestResult]:
        self.calls += 1
        return super().events(sent)

    def many(self, sent: ReceivedBody) -> BatchResult:
        self.calls += 1
        return super().many(sent)


class Desk:
    """A store, the process that writes to it, and who hands it events."""

    def __init__(self, store: Store, socket: Path) -> None:
        self.store = store
        self.here = Counted(store)
        self.keeper = WriterSupervisor(str(socket))
        self.dictating = WriterClient(str(socket), self.here)
        self._number = 0

    def send(self, *bodies: bytes) -> list[IngestResult]:
        return self.dictating.events([ReceivedBody(body, Actor("tester"), None) for body in bodies])

    def event(self) -> bytes:
        self._number += 1
        return json.dumps(
            run_event(run=str(self._number), job="job", inputs=["a"], outputs=["x"], minute=self._number)
        ).encode()

    def until_it_writes(self) -> None:
        """Until an event is stored there and not here."""
        deadline = time.monotonic() + _PATIENCE
        before = -1
        while before != self.here.calls:
            assert time.monotonic() < deadline, "the process that writes is not to be reached"
            time.sleep(0.1)
            before = self.here.calls
            self.send(self.event())


@pytest.fixture
def desk(durable_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    for name, value in ServerSettings(log_level="error").as_environment(durable_url).items():
        monkeypatch.setenv(name, value)
    with Store(durable_url) as store:
        made = Desk(store, tmp_path / "scribe")
        with made.keeper:
            made.until_it_writes()
            yield made


def test_what_it_answers_is_stored(desk: Desk) -> None:
    before = desk.here.calls
    body = desk.event()
    first, again = desk.send(body), desk.send(body)
    assert isinstance(first[0], Receipt)
    assert isinstance(again[0], Receipt)
    assert (first[0].duplicate, again[0].duplicate) == (False, True)
    assert desk.store.pages.event_body(first[0].digest) == body
    assert desk.here.calls == before


def test_what_is_wrong_with_one_event_costs_no_other(desk: Desk) -> None:
    good, bad, other = desk.send(desk.event(), b'{"run": {}}', desk.event())
    assert isinstance(good, Receipt)
    assert isinstance(other, Receipt)
    assert isinstance(bad, EventRefused)
    assert bad.path == "$.eventTime"


def test_what_a_key_may_not_speak_of_is_refused_there_too(desk: Desk) -> None:
    (refused,) = desk.dictating.events([ReceivedBody(desk.event(), Actor("tester"), Veil.of(["elsewhere"]))])
    assert isinstance(refused, NamespaceRefused)


def test_a_list_of_events(desk: Desk) -> None:
    before = desk.here.calls
    told = desk.dictating.many(ReceivedBody(b"[" + desk.event() + b", 7]", Actor("tester"), None))
    assert (told.received, len(told.receipts), [index for index, _ in told.refused]) == (2, 1, [1])
    with pytest.raises(EventRefused):
        desk.dictating.many(ReceivedBody(b"{", Actor("tester"), None))
    assert desk.here.calls == before


def test_killed_it_is_done_without_and_started_again(desk: Desk) -> None:
    killed = desk.keeper._process
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    before = desk.here.calls
    (receipt,) = desk.send(desk.event())
    assert isinstance(receipt, Receipt)
    assert desk.here.calls == before + 1
    desk.until_it_writes()
    assert desk.keeper._process is not killed
    assert len(desk.store.runs(limit=1000)) == desk._number
    desk.store.verify()


def test_it_hears_no_signals_of_the_servers_and_ends_with_it(desk: Desk) -> None:
    process = desk.keeper._process
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGINT)
    desk.send(desk.event())
    assert process.poll() is None
    with desk.keeper:
        pass
    assert process.wait(_PATIENCE) == 0


def test_a_store_in_memory_and_a_path_that_is_too_long_do_without(tmp_path: Path) -> None:
    assert not writer_supervisor.is_possible("memory://", "/tmp/scribe")
    assert not writer_supervisor.is_possible("sqlite:///a.db", "/" + "x" * 200)
    assert writer_supervisor.is_possible("sqlite:///a.db", "/tmp/scribe")


def test_a_drained_server_leaves_nothing_behind(sqlite_url: str, tmp_path: Path) -> None:
    with ServerProcess(sqlite_url, log=tmp_path / "server.log", TMPDIR=str(tmp_path)) as server:
        assert server.post("/api/v1/lineage", run_event(run="r", job="job", inputs=["a"], outputs=["x"]))[0] == 201
        assert server.drain() == 0
    assert list(tmp_path.glob("headwater-serve-*")) == []


@pytest.mark.parametrize(
    "error",
    [
        EventRefused("$.run", "missing"),
        NamespaceRefused(["a", "b*"]),
        StoreUnavailable("The store does not answer."),
        UnknownDataset("x", ["y"]),
    ],
)
def test_our_errors_pass_from_process_to_process_as_they_are(error: HeadwaterError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (str(again), again.__dict__) == (str(error), error.__dict__)
