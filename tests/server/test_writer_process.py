"""The writer process: ingest is faster with it, and works without it."""

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
from headwater.store.access.visibility import EVERYTHING, Visibility
from headwater.store.store import Store
from tests.server.running import ServerProcess
from tests.support.events import run_event

_TIMEOUT = 60.0


class CountingIngest(LocalIngest):
    """Stores in this process and counts the calls."""

    calls = 0

    def events(self, bodies: Sequence[ReceivedBody]) -> list[IngestResult]:
        self.calls += 1
        return super().events(bodies)

    def batch(self, body: ReceivedBody) -> BatchResult:
        self.calls += 1
        return super().batch(body)


class WriterSetup:
    """A store, its writer process, and a client of it."""

    def __init__(self, store: Store, socket: Path) -> None:
        self.store = store
        self.local = CountingIngest(store)
        self.supervisor = WriterSupervisor(str(socket))
        self.client = WriterClient(str(socket), self.local)
        self._number = 0

    def send(self, *bodies: bytes) -> list[IngestResult]:
        return self.client.events([ReceivedBody(body, Actor("tester"), EVERYTHING) for body in bodies])

    def event(self) -> bytes:
        self._number += 1
        return json.dumps(
            run_event(run=str(self._number), job="job", inputs=["a"], outputs=["x"], minute=self._number)
        ).encode()

    def wait_for_writer(self) -> None:
        """Wait until the writer process stores an event, not this one."""
        deadline = time.monotonic() + _TIMEOUT
        before = -1
        while before != self.local.calls:
            assert time.monotonic() < deadline, "the writer process cannot be reached"
            time.sleep(0.1)
            before = self.local.calls
            self.send(self.event())


@pytest.fixture
def setup(durable_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WriterSetup]:
    for name, value in ServerSettings(log_level="error").as_environment(durable_url).items():
        monkeypatch.setenv(name, value)
    with Store(durable_url) as store:
        made = WriterSetup(store, tmp_path / "writer")
        with made.supervisor:
            made.wait_for_writer()
            yield made


def test_acknowledged_events_are_stored(setup: WriterSetup) -> None:
    before = setup.local.calls
    body = setup.event()
    first, again = setup.send(body), setup.send(body)
    assert isinstance(first[0], Receipt)
    assert isinstance(again[0], Receipt)
    assert (first[0].duplicate, again[0].duplicate) == (False, True)
    assert setup.store.pages.event_body(first[0].digest) == body
    assert setup.local.calls == before


def test_an_invalid_event_affects_no_other(setup: WriterSetup) -> None:
    good, bad, other = setup.send(setup.event(), b'{"run": {}}', setup.event())
    assert isinstance(good, Receipt)
    assert isinstance(other, Receipt)
    assert isinstance(bad, EventRefused)
    assert bad.path == "$.eventTime"


def test_visibility_is_enforced_in_the_writer_process(setup: WriterSetup) -> None:
    (refused,) = setup.client.events([ReceivedBody(setup.event(), Actor("tester"), Visibility.of(["elsewhere"]))])
    assert isinstance(refused, NamespaceRefused)


def test_a_list_of_events(setup: WriterSetup) -> None:
    before = setup.local.calls
    result = setup.client.batch(ReceivedBody(b"[" + setup.event() + b", 7]", Actor("tester"), EVERYTHING))
    assert (result.received, len(result.receipts), [index for index, _ in result.refused]) == (2, 1, [1])
    with pytest.raises(EventRefused):
        setup.client.batch(ReceivedBody(b"{", Actor("tester"), EVERYTHING))
    assert setup.local.calls == before


def test_a_killed_writer_process_is_replaced(setup: WriterSetup) -> None:
    killed = setup.supervisor._process
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    before = setup.local.calls
    (receipt,) = setup.send(setup.event())
    assert isinstance(receipt, Receipt)
    assert setup.local.calls == before + 1
    setup.wait_for_writer()
    assert setup.supervisor._process is not killed
    assert len(setup.store.runs(limit=1000)) == setup._number
    setup.store.verify()


def test_it_ignores_signals_and_ends_with_the_server(setup: WriterSetup) -> None:
    process = setup.supervisor._process
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGINT)
    setup.send(setup.event())
    assert process.poll() is None
    with setup.supervisor:
        pass
    assert process.wait(_TIMEOUT) == 0


def test_without_a_writer_process(tmp_path: Path) -> None:
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
def test_errors_cross_the_process_boundary_unchanged(error: HeadwaterError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (str(again), again.__dict__) == (str(error), error.__dict__)
