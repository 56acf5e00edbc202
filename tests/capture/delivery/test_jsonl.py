"""The JSON Lines file: whole lines, each once, whoever else writes it and whoever died over it."""

from __future__ import annotations

import json
import multiprocessing
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from headwater.capture.delivery import SinkDown, sink_for
from headwater.capture.delivery.jsonl import EventFileSink
from headwater.errors import HeadwaterError
from tests.capture.delivery.conftest import Deliver
from tests.capture.delivery.watching import lines, numbered, numbers


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "down" / "événements 1%.jsonl"


def event(number: int, size: int = 0) -> bytes:
    return json.dumps(numbered(number, size=size)).encode()


def test_one_line_an_event(deliver: Deliver, file: Path) -> None:
    delivery = deliver(sink_for(file.as_uri()))
    for number in range(1200):
        delivery.send(numbered(number) | {"text": "line\nbreak"})
    assert delivery.flush(60)
    assert numbers(lines(file)) == list(range(1200))


@contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    """As on a full disk: the first write is cut short, the next fails."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_leaves_no_half_line(file: Path) -> None:
    sink = EventFileSink(file)
    sink.deliver([event(0)])
    before = file.read_bytes()
    with files_no_larger_than(len(before) + 100), pytest.raises(SinkDown, match="File too large"):
        sink.deliver([event(1), event(2, 5000)])
    assert file.read_bytes() == before
    sink.deliver([event(1), event(2, 5000)])
    assert numbers(lines(file)) == [0, 1, 2]


def test_what_a_killed_writer_left_is_cut_off(file: Path) -> None:
    sink = EventFileSink(file)
    sink.deliver([event(0)])
    with file.open("ab") as torn:
        torn.write(event(1, 200_000)[:150_000])
    sink.deliver([event(2)])
    assert numbers(lines(file)) == [0, 2]


@pytest.mark.parametrize("last", [b'{"number": 7}', b"# a note of mine", b"\xff\xfe"])
def test_somebodys_last_line_without_an_end_stays(file: Path, last: bytes) -> None:
    file.parent.mkdir(parents=True)
    file.write_bytes(b'{"number": 6}\n' + last)
    EventFileSink(file).deliver([event(8)])
    assert lines(file) == [b'{"number": 6}', last, event(8)]


def test_what_was_taken_is_found_by_the_mark(file: Path) -> None:
    sink = EventFileSink(file)
    assert sink.count_delivered([event(0)], 0) == 0
    sink.deliver([event(0), event(0)])
    mark = sink.mark()
    assert sink.count_delivered([event(0)], mark) == 0, "the same event, but from before"
    sink.deliver([event(0), event(1)])
    assert sink.count_delivered([event(0), event(1), event(2)], mark) == 2
    assert sink.count_delivered([event(1)], mark) == 1
    sink.deliver([event(99)])  # another process
    sink.deliver([event(2)])
    assert sink.count_delivered([event(0), event(1), event(2)], mark) == 3


def test_a_line_that_lacks_only_its_end_was_taken(file: Path) -> None:
    sink = EventFileSink(file)
    mark = sink.mark()
    file.write_bytes(event(0) + b"\n" + event(1))
    assert sink.count_delivered([event(0), event(1), event(2)], mark) == 2
    sink.deliver([event(2)])
    assert numbers(lines(file)) == [0, 1, 2]


def test_the_mark_is_taken_after_mending(file: Path) -> None:
    """Else the line that replaces the torn one would begin before the mark and not be found."""
    sink = EventFileSink(file)
    sink.deliver([event(0)])
    with file.open("ab") as torn:
        torn.write(event(1)[:20])
    mark = sink.mark()
    sink.deliver([event(1)])
    assert sink.count_delivered([event(1)], mark) == 1


def test_a_file_that_was_begun_anew(file: Path) -> None:
    sink = EventFileSink(file)
    sink.deliver([event(0, 1000)])
    mark = sink.mark()
    file.write_bytes(b"")
    sink.deliver([event(1)])
    assert sink.count_delivered([event(1)], mark) == 1
    file.unlink()
    assert sink.count_delivered([event(1)], mark) == 0


def test_not_a_place_for_a_file(tmp_path: Path) -> None:
    (tmp_path / "occupied").write_text("")
    for path in (tmp_path, tmp_path / "occupied" / "events.jsonl", Path("/dev/null")):
        sink = EventFileSink(path)
        with pytest.raises(SinkDown, match=str(path)):
            sink.deliver([event(0)])
        with pytest.raises(SinkDown, match=str(path)):
            sink.mark()


def _write_many(file: Path, who: int) -> None:
    sink = EventFileSink(file)
    for number in range(0, 300, 3):
        sink.deliver([event(who * 1000 + number + i, 3000) for i in range(3)])


def test_several_processes_write_one_file(file: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write_many, args=(file, who)) for who in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    found = numbers(lines(file))
    assert len(found) == 900
    for who in range(3):
        assert [number for number in found if number // 1000 == who] == [who * 1000 + n for n in range(300)]


def test_the_console_is_the_standard_error() -> None:
    script = (
        "from headwater.capture.delivery import sink_for\n"
        "sink_for('console').deliver([b'{\"a\": 1}', '{\"b\": \"é\"}'.encode()])\n"
    )
    result = subprocess.run([sys.executable, "-X", "utf8", "-c", script], capture_output=True, check=True)
    assert result.stdout == b""
    assert result.stderr.decode() == '{"a": 1}\n{"b": "é"}\n'


@pytest.mark.parametrize("stream", [None, "closed"])
def test_no_console(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stream: str | None) -> None:
    if stream is not None:
        with (tmp_path / "closed").open("w") as closed:
            monkeypatch.setattr(sys, "stderr", closed)
    else:
        monkeypatch.setattr(sys, "stderr", None)
    with pytest.raises(SinkDown, match="console"):
        sink_for("console").deliver([b"{}"])


@pytest.mark.parametrize(
    "target",
    ["", "events.jsonl", "s3://bucket/events", "kafka://host", "http://", "http://host:port", "stdout", "[://"],
)
def test_an_address_that_is_none(target: str) -> None:
    with pytest.raises(HeadwaterError, match=r"Use file:///path/events\.jsonl, http://host:port"):
        sink_for(target)


@pytest.mark.parametrize("target", ["file://events.jsonl", "file:///", "file:///folder/", "file:events.jsonl"])
def test_a_file_address_without_a_file(target: str) -> None:
    with pytest.raises(HeadwaterError, match=r"Write file:///path/events\.jsonl"):
        sink_for(target)


def test_an_address_does_not_show_its_password() -> None:
    with pytest.raises(HeadwaterError) as raised:
        sink_for("ftp://user:hunter2@host/x")
    assert "hunter2" not in str(raised.value)
    assert "ftp://…@host/x" in str(raised.value)
