"""From the job to the sinks: order, independence, counts, and nothing left behind."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from headwater.capture.delivery import Delivery, DeliveryCounts
from headwater.errors import HeadwaterError
from tests.capture.delivery.conftest import Deliver
from tests.capture.delivery.watching import Recorder, files_in, numbered, soon


def test_events_arrive_in_order_and_nothing_stays(deliver: Deliver, spool: Path, warnings: list[str]) -> None:
    sink = Recorder(batch=7)
    delivery = deliver(sink)
    for number in range(100):
        delivery.send(numbered(number))
    assert delivery.flush(60)
    assert sink.numbers == list(range(100))
    assert delivery.counts == {"recorder": DeliveryCounts(delivered=100, waiting=0, refused=0, dropped=0)}
    delivery.close(5)
    assert list(spool.iterdir()) == []
    assert warnings == []


def test_an_event_is_on_disk_when_send_returns(deliver: Deliver, spool: Path) -> None:
    delivery = deliver(Recorder(down=True))
    delivery.send(numbered(4711))
    (log,) = spool.rglob("*.log")
    assert b'"number":4711' in log.read_bytes()


def test_sinks_are_independent(deliver: Deliver, spool: Path, warnings: list[str]) -> None:
    well, dead, stuck = Recorder("well"), Recorder("dead", down=True), Recorder("stuck")
    stuck.let_go.clear()
    delivery = deliver(stuck, dead, well)
    for number in range(20):
        delivery.send(numbered(number))
    soon(lambda: well.numbers == list(range(20)))
    assert not delivery.flush(0.05)
    assert delivery.counts["well"] == DeliveryCounts(20, 0, 0, 0)
    assert delivery.counts["dead"] == DeliveryCounts(0, 20, 0, 0)
    assert delivery.counts["stuck"] == DeliveryCounts(0, 20, 0, 0)
    assert [warning for warning in warnings if "dead" in warning] == [
        f"dead takes no events (out of order). They wait in {spool}."
    ]
    stuck.let_go.set()
    dead.down = False
    assert delivery.flush(60)
    assert dead.numbers == stuck.numbers == list(range(20))
    assert warnings[1:] == ["dead takes events again."]


def test_a_flush_does_not_wait_for_the_next_try(deliver: Deliver) -> None:
    sink = Recorder(down=True)
    delivery = deliver(sink)
    delivery.send(numbered(0))
    soon(lambda: sink.attempts >= 4)  # by now it pauses for more than a second
    sink.down = False
    began = time.monotonic()
    assert delivery.flush(60)
    assert time.monotonic() - began < 1


def test_what_cannot_be_taken_is_skipped_counted_and_told_once(deliver: Deliver, warnings: list[str]) -> None:
    sink = Recorder(batch=10)
    sink.refuses = lambda event: event["number"] % 3 == 0
    delivery = deliver(sink)
    for number in range(30):
        delivery.send(numbered(number))
    assert delivery.flush(60)
    assert sink.numbers == [number for number in range(30) if number % 3]
    assert delivery.counts["recorder"] == DeliveryCounts(delivered=20, waiting=0, refused=10, dropped=0)
    assert len(warnings) == 1
    assert "refused an event (not this one)" in warnings[0]


def test_an_event_that_makes_a_sink_stumble_does_not_block_the_way(
    deliver: Deliver, warnings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headwater.capture.delivery.forwarder._FIRST_PAUSE", 0.01)

    def stumbles(event: dict[str, object]) -> bool:
        if event["number"] == 3:
            raise ZeroDivisionError("three")
        return False

    sink = Recorder(batch=10)
    sink.refuses = stumbles
    delivery = deliver(sink)
    for number in range(10):
        delivery.send(numbered(number))
    assert delivery.flush(60)
    assert sink.numbers == [0, 1, 2, 4, 5, 6, 7, 8, 9]
    assert delivery.counts["recorder"].refused == 1
    assert any("refused an event (ZeroDivisionError: three)" in warning for warning in warnings)


@pytest.mark.parametrize("event", [{"x": object()}, {"x": float("nan")}, {1: {2: {3}}}, ["not", "a", "mapping"], None])
def test_what_is_no_event_is_dropped_without_a_word_to_the_job(
    deliver: Deliver, warnings: list[str], event: dict[str, object]
) -> None:
    sink = Recorder()
    delivery = deliver(sink)
    delivery.send(event)
    delivery.send(event)
    delivery.send(numbered(1))
    assert delivery.flush(60)
    assert sink.numbers == [1]
    assert delivery.counts["recorder"].dropped == 2
    assert len(warnings) == 1
    assert "An event is dropped" in warnings[0]


def test_text_of_any_kind_arrives_as_it_was(deliver: Deliver) -> None:
    import json

    sink = Recorder()
    delivery = deliver(sink)
    event = numbered(0) | {"run": {"runId": "a\tb\nc\x00\ud800 é 行"}, "eventType": "START"}
    delivery.send(event)
    assert delivery.flush(60)
    assert json.loads(sink.got[0]) == event


def test_threads_send_at_once(deliver: Deliver) -> None:
    sink = Recorder(batch=50)
    delivery = deliver(sink)

    def send(thread: int) -> None:
        for number in range(200):
            delivery.send(numbered(thread * 1000 + number))

    threads = [threading.Thread(target=send, args=(number,)) for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert delivery.flush(60)
    for thread_number in range(5):
        mine = [number for number in sink.numbers if number // 1000 == thread_number]
        assert mine == [thread_number * 1000 + number for number in range(200)]
    assert len(sink.got) == 1000


@pytest.mark.parametrize("count", [3_000, pytest.param(10_000, marks=pytest.mark.long)])
def test_many_events_of_some_size(deliver: Deliver, spool: Path, count: int) -> None:
    sink = Recorder(batch=100)
    delivery = deliver(sink)
    for number in range(count):
        delivery.send(numbered(number, size=4000))
    assert delivery.flush(60)
    assert sink.numbers == list(range(count))
    # Twelve megabytes or more went through; what is left is the segment that was written last.
    assert sum(file.stat().st_size for file in spool.rglob("*.log")) < 5 * 2**20


def test_an_idle_delivery_does_nothing(deliver: Deliver, spool: Path) -> None:
    sink = Recorder()
    deliver(sink)
    before = {path: path.stat() for path in spool.rglob("*")}
    time.sleep(0.3)
    assert {path: path.stat() for path in spool.rglob("*")} == before
    assert files_in(spool) == [next(name for name in files_in(spool) if name.endswith(".cursor")), "lock"]
    assert sink.attempts == 0


def test_closing_twice_and_sending_afterwards(deliver: Deliver, warnings: list[str]) -> None:
    before = threading.active_count()
    sink = Recorder()
    delivery = deliver(sink)
    assert threading.active_count() == before + 1
    delivery.send(numbered(0))
    delivery.close(5)
    delivery.close(5)
    assert threading.active_count() == before
    delivery.send(numbered(1))
    assert sink.numbers == [0]
    assert delivery.counts["recorder"] == DeliveryCounts(delivered=1, waiting=0, refused=0, dropped=1)
    assert warnings == ["Events are dropped, because their delivery is closed."]


def test_closing_does_not_wait_for_a_sink_that_stays_down(deliver: Deliver, spool: Path) -> None:
    sink = Recorder(down=True)
    delivery = deliver(sink)
    delivery.send(numbered(0))
    soon(lambda: delivery._forwarders[0].down)  # an attempt alone may still succeed, as far as is known
    began = time.monotonic()
    delivery.close(60)
    assert time.monotonic() - began < 30
    assert any(name.endswith(".log") for name in files_in(spool))


def test_a_sink_that_does_not_let_go_keeps_its_log_until_it_does(
    deliver: Deliver, spool: Path, warnings: list[str]
) -> None:
    """If another process took the log over, the event that is under way could be delivered twice."""
    stuck = Recorder("slow")
    stuck.let_go.clear()
    delivery = deliver(stuck)
    delivery.send(numbered(0))
    delivery.send(numbered(1))
    soon(lambda: stuck.attempts)
    began = time.monotonic()
    delivery.close(0.2)
    assert time.monotonic() - began < 30
    told = f"Not delivered to slow in time: 2 events, which the next process that uses {spool} will deliver."
    assert warnings == [told]
    second = Recorder("slow")
    with_lock_held = deliver(second)
    assert with_lock_held.flush(60)
    assert second.got == []
    stuck.let_go.set()
    soon(lambda: stuck.numbers == [0])
    soon(lambda: not any(thread.name == "headwater-slow" for thread in delivery._threads if thread.is_alive()))
    third = Recorder("slow")
    assert deliver(third).flush(60)
    assert third.numbers == [1]


def test_no_sinks_no_spool(deliver: Deliver, spool: Path) -> None:
    delivery = deliver()
    delivery.send(numbered(0))
    assert delivery.flush(0)
    assert delivery.counts == {}
    assert not spool.exists()


def test_the_same_sink_twice_is_a_mistake(deliver: Deliver) -> None:
    with pytest.raises(HeadwaterError, match="sent twice to recorder"):
        deliver(Recorder(), Recorder())


def test_warnings_go_to_the_log_of_that_name(spool: Path, caplog: pytest.LogCaptureFixture) -> None:
    sink = Recorder(down=True)
    delivery = Delivery([sink], spool)
    with caplog.at_level(logging.WARNING, "headwater"):
        delivery.send(numbered(0))
        soon(lambda: sink.attempts >= 2)
        delivery.close(0)
    assert [(record.name, record.levelname) for record in caplog.records] == [("headwater", "WARNING")]


def test_a_handler_that_fails_is_no_harm(spool: Path) -> None:
    def broken(message: str) -> None:
        raise RuntimeError(message)

    sink = Recorder(down=True)
    delivery = Delivery([sink], spool, warn=broken)
    delivery.send(numbered(0))
    soon(lambda: sink.attempts >= 1)
    sink.down = False
    assert delivery.flush(60)
    delivery.close(5)
    assert sink.numbers == [0]


def test_a_system_without_threads_to_spare(
    deliver: Deliver, spool: Path, warnings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    sink = Recorder()
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        delivery = deliver(sink)
    delivery.send(numbered(0))
    assert not delivery.flush(0.1)
    delivery.close(0.1)
    assert warnings[0] == f"Events wait in {spool}: can't start new thread."
    assert deliver(sink).flush(60)
    assert sink.numbers == [0]


def test_a_sink_that_stumbles_over_everything_is_not_called_well(
    deliver: Deliver, warnings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headwater.capture.delivery.forwarder._FIRST_PAUSE", 0.001)
    monkeypatch.setattr("headwater.capture.delivery.forwarder._MAX_PAUSE", 0.01)

    class Broken(Recorder):
        def deliver(self, events: Sequence[bytes]) -> None:
            raise ImportError("no such module")

    delivery = deliver(Broken())
    for number in range(3):
        delivery.send(numbered(number))
    assert delivery.flush(60)
    assert delivery.counts["recorder"].refused == 3
    assert len(warnings) == 2
    assert "takes no events (ImportError: no such module)" in warnings[0]
    assert "refused an event" in warnings[1]


def test_an_event_that_comes_after_the_end_is_counted(deliver: Deliver) -> None:
    """One thread is about to send while another closes."""
    delivery = deliver(Recorder())
    delivery.close(5)
    delivery._closed = False  # as the sending thread saw it
    delivery.send(numbered(0))
    assert delivery.counts["recorder"] == DeliveryCounts(0, 0, 0, dropped=1)
    delivery._closed = True
