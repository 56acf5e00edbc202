"""Many at once in one spool folder and on one file: coming, going, and taking each other for dead."""

from __future__ import annotations

import fcntl
import json
import os
import threading
from pathlib import Path

import pytest

from headwater.capture.delivery import Delivery
from headwater.capture.delivery import lock as locks
from headwater.capture.delivery.jsonl import EventFileSink
from headwater.capture.delivery.lock import Lock
from headwater.capture.delivery.session import Session
from tests.capture.delivery.watching import lines, numbered, numbers, soon


def test_coming_and_going(spool: Path, tmp_path: Path) -> None:
    """Each newcomer looks for the dead while others are just being born or buried."""
    file = tmp_path / "events.jsonl"
    warnings: list[str] = []

    def live_many_lives(who: int) -> None:
        for life in range(25):
            delivery = Delivery([EventFileSink(file)], spool, warn=warnings.append)
            for number in range(3):
                delivery.send(numbered(who * 1000 + life * 3 + number))
            delivery.close(10 if life % 3 else 0)  # every third leaves something behind, as likely as not

    threads = [threading.Thread(target=live_many_lives, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    last = Delivery([EventFileSink(file)], spool, warn=warnings.append)
    assert last.flush(60)
    last.close(10)
    found = numbers(lines(file))
    assert sorted(found) == sorted(who * 1000 + number for who in range(4) for number in range(75))
    assert list(spool.iterdir()) == []
    assert all(warning.startswith("Not delivered to file:///") for warning in warnings), warnings


def test_only_one_takes_over(spool: Path) -> None:
    session = Session.begin(spool, ["a"])
    assert session.folder is not None
    path = session.folder / "lock"
    assert Lock.take(path) is None, "it lives"
    session.forget()
    taken = [Lock.take(path) for _ in range(3)]
    assert [lock is not None for lock in taken] == [True, False, False]
    assert taken[0] is not None
    taken[0].release()
    taken[0].release()


def test_a_lock_that_was_removed_meanwhile_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between our opening it and our locking it, its last owner removed it; perhaps another made a new one."""
    path = tmp_path / "lock"
    lock = locks._lock

    for successor in (False, True):

        def remove_first(file: int, *, wait: bool, successor: bool = successor) -> None:
            path.rename(tmp_path / "removed")
            if successor:
                path.touch()
            lock(file, wait=wait)

        path.touch()
        with monkeypatch.context() as patch:
            patch.setattr(locks, "_lock", remove_first)
            assert Lock.take(path) is None
        path.unlink(missing_ok=True)


def test_a_file_system_without_locks(spool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without them nobody could tell the living from the dead: the spool is not used, and events go by memory."""

    def refuse(file: int, *, wait: bool) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(locks, "_lock", refuse)
    warnings: list[str] = []
    file = tmp_path / "events.jsonl"
    delivery = Delivery([EventFileSink(file)], spool, warn=warnings.append)
    delivery.send(numbered(1))
    delivery.close(10)
    assert numbers(lines(file)) == [1]
    assert len(warnings) == 1
    assert "cannot be written (No locks available)" in warnings[0]
    assert list(spool.iterdir()) == []


def test_writers_of_a_file_wait_for_each_other(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.touch()
    mine = os.open(path, os.O_RDWR)
    fcntl.flock(mine, fcntl.LOCK_EX)
    other = threading.Thread(target=EventFileSink(path).deliver, args=([json.dumps(numbered(1)).encode()],))
    other.start()
    other.join(0.2)
    assert other.is_alive()
    assert lines(path) == []
    os.close(mine)
    other.join(5)
    soon(lambda: numbers(lines(path)) == [1])
