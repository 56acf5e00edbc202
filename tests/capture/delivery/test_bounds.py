"""No room: limits, a full disk, a folder that cannot be written or goes away."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

from headwater.capture.delivery import Delivery, DeliveryCounts
from headwater.capture.delivery.segments import MemorySegment
from tests.capture.delivery.conftest import Deliver
from tests.capture.delivery.test_jsonl import files_no_larger_than
from tests.capture.delivery.watching import Recorder, numbered, soon


def size_of(spool: Path) -> int:
    total = 0
    for file in spool.rglob("*.log"):
        with suppress(FileNotFoundError):  # given back while we looked
            total += file.stat().st_size
    return total


def back_on_disk(delivery: Delivery, spool: Path, warnings: list[str]) -> None:
    """The disk is tried again after a while, with the next event."""

    def told() -> bool:
        delivery.send(numbered(-1))
        return f"The spool {spool} can be written again." in warnings

    soon(told)


def test_a_full_spool_keeps_what_it_has_and_serves_the_sink_that_works(
    deliver: Deliver, spool: Path, warnings: list[str]
) -> None:
    well, dead = Recorder("well", batch=10), Recorder("dead", batch=10, down=True)
    delivery = deliver(well, dead, limit=100_000, memory=20_000)
    for number in range(300):
        delivery.send(numbered(number, size=1000))
        soon(lambda number=number: len(well.got) > number)  # type: ignore[misc]
        assert size_of(spool) <= 100_000
    assert well.numbers == list(range(300))
    assert delivery.counts["well"] == DeliveryCounts(300, 0, 0, 0)
    counts = delivery.counts["dead"]
    assert counts.waiting + counts.dropped == 300
    assert counts.dropped > 150
    assert sum("cannot be written (it holds 100,000 bytes, which is its limit)" in w for w in warnings) == 1

    dead.down = False
    assert delivery.flush(60)
    assert dead.numbers == sorted(set(dead.numbers)), "in order, none twice"
    assert len(dead.got) == counts.waiting
    assert dead.numbers[0] == 0
    assert dead.numbers[-1] == 299
    assert delivery.counts["dead"].dropped == counts.dropped
    back_on_disk(delivery, spool, warnings)
    delivery.close(5)
    assert f"Dropped for dead: {counts.dropped} events. " in warnings[-1]
    assert "which is its limit" in warnings[-1]
    assert not any("Dropped for well" in warning for warning in warnings)


def test_the_limit_is_for_all_processes_together(deliver: Deliver, spool: Path, warnings: list[str]) -> None:
    """They look at each other's files now and then; a newcomer looks at once."""
    first = deliver(Recorder(down=True), limit=100_000)
    for number in range(60):
        first.send(numbered(number, size=1000))
    second = deliver(Recorder(down=True), limit=100_000)
    for number in range(60):
        second.send(numbered(number, size=1000))
    assert size_of(spool) <= 100_000
    assert any("which is its limit" in warning for warning in warnings)


def test_a_limit_that_is_filled_and_emptied_again_and_again(deliver: Deliver, spool: Path, warnings: list[str]) -> None:
    sink = Recorder(batch=10)
    delivery = deliver(sink, limit=50_000)
    for number in range(500):
        delivery.send(numbered(number, size=1000))
        if number % 20 == 19:
            assert delivery.flush(60)
        assert size_of(spool) <= 50_000
    assert delivery.flush(60)
    assert sink.numbers == list(range(500))
    assert warnings == []


def test_an_event_larger_than_all_bounds(deliver: Deliver, warnings: list[str]) -> None:
    sink = Recorder()
    delivery = deliver(sink, limit=50_000, memory=50_000)
    delivery.send(numbered(0))
    delivery.send(numbered(1, size=60_000))
    delivery.send(numbered(2))
    assert delivery.flush(60)
    assert sink.numbers == [0, 2]
    assert delivery.counts["recorder"] == DeliveryCounts(2, 0, 0, 1)


def test_a_disk_that_fills_up(deliver: Deliver, spool: Path, warnings: list[str]) -> None:
    sink = Recorder(batch=10)
    delivery = deliver(sink)
    delivery.send(numbered(0, size=1000))
    with files_no_larger_than(20_000):
        for number in range(1, 100):
            delivery.send(numbered(number, size=1000))
        assert size_of(spool) <= 20_000
        assert delivery.flush(60)
    assert sink.numbers == list(range(100))
    assert len(warnings) == 1
    assert "(File too large)" in warnings[0]
    back_on_disk(delivery, spool, warnings)


def test_a_disk_that_is_full_from_the_start(deliver: Deliver, warnings: list[str]) -> None:
    sink = Recorder(batch=10)
    with files_no_larger_than(0):
        delivery = deliver(sink)
        for number in range(100):
            delivery.send(numbered(number))
        assert delivery.flush(60)
    assert sink.numbers == list(range(100))
    assert len(warnings) == 1


def test_a_folder_that_cannot_be_made(deliver: Deliver, spool: Path, warnings: list[str]) -> None:
    spool.write_text("somebody's file")
    sink, dead = Recorder("well"), Recorder("dead", down=True)
    delivery = deliver(sink, dead, memory=10_000)
    for number in range(50):
        delivery.send(numbered(number, size=1000))
        soon(lambda number=number: len(sink.got) > number)  # type: ignore[misc]
    assert sink.numbers == list(range(50))
    counts = delivery.counts["dead"]
    assert counts.waiting + counts.dropped == 50
    assert counts.waiting < 10
    delivery.close(0)
    assert delivery.counts["dead"] == DeliveryCounts(0, 0, 0, 50), "nobody inherits memory"
    assert sum("cannot be written" in warning for warning in warnings) == 1
    assert sum("Dropped for dead: 50 events." in warning for warning in warnings) == 1
    assert spool.read_text() == "somebody's file"


def test_memory_is_given_back_as_the_sink_takes_it(deliver: Deliver, spool: Path) -> None:
    spool.write_text("")
    sink = Recorder()
    delivery = deliver(sink)
    for number in range(20):
        delivery.send(numbered(number, size=1000))
    assert delivery.flush(60)
    (segment,) = delivery._own.segments
    assert isinstance(segment, MemorySegment)
    assert (segment.first, segment.size) == (20, 0)


def test_a_spool_that_is_removed_under_us(deliver: Deliver, spool: Path, warnings: list[str]) -> None:
    sink = Recorder(down=True)
    delivery = deliver(sink)
    delivery.send(numbered(0))
    shutil.rmtree(spool)
    sink.down = False
    for number in range(1, 10):
        delivery.send(numbered(number))
    assert delivery.flush(60)
    counts = delivery.counts["recorder"]
    assert counts.waiting == 0
    assert counts.delivered + counts.dropped == 10
    assert sink.numbers[-9:] == list(range(1, 10))
    assert any("the file was removed" in warning for warning in warnings)


def test_a_damaged_line_is_skipped(deliver: Deliver, spool: Path) -> None:
    sink = Recorder(down=True)
    delivery = deliver(sink)
    for number in range(3):
        delivery.send(numbered(number))
    soon(lambda: sink.attempts)
    (log,) = spool.rglob("*.log")
    log.write_bytes(log.read_bytes().replace(b'"number":1', b'"number":7'))
    sink.down = False
    assert delivery.flush(60)
    assert sink.numbers == [0, 2]
    assert delivery.counts["recorder"] == DeliveryCounts(delivered=2, waiting=0, refused=0, dropped=1)
