"""Many events are verified in parts, each in a process; a failure is named as in a single pass."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from headwater.errors import EvidenceBroken
from headwater.store.log import event_partitions
from headwater.store.store import Store
from tests.assurance.stores import ended, tamper
from tests.support.events import run_event

EVENTS = 60
CERTIFIED = (7, 41)


@pytest.fixture(autouse=True)
def in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few events already count as enough for a process, on a machine with three processors."""
    monkeypatch.setattr(event_partitions, "_WORTH_A_PROCESS", 10)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)


def fill(store: Store) -> None:
    for number in range(1, EVENTS + 1):
        run = f"run {number}"
        store.ingest(ended(run, minute=number) if number in CERTIFIED else run_event(run=run, minute=number))


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("events") / "store.db"
    with Store(f"sqlite:///{file}") as store:
        fill(store)
    return file


@pytest.fixture
def store(filled: Path, sqlite_url: str) -> Iterator[Store]:
    shutil.copy(filled, sqlite_url.removeprefix("sqlite:///"))
    with Store(sqlite_url) as store:
        yield store


def test_partitions_verify_on_both_databases(durable_url: str) -> None:
    with Store(durable_url) as store:
        fill(store)
        told: list[tuple[int, int]] = []
        found = store.verify(graph=False, progress=lambda part, done, total: told.append((done, total)))
        assert (found.events, found.certificates) == (EVENTS, len(CERTIFIED))
        assert all(done <= total for done, total in told)


def test_the_parts_have_equal_lengths_and_cover_all_events(store: Store) -> None:
    with store._database.read() as conn:
        parts = event_partitions._ranges(conn, EVENTS, EVENTS, 3)
    assert [(part.after, part.upto) for part in parts] == [(0, 20), (20, 40), (40, 60)]
    assert [part.after_seq for part in parts[1:]] == [part.upto_seq for part in parts[:-1]]
    assert parts[-1].upto_seq == EVENTS + len(CERTIFIED)


@pytest.mark.parametrize("number", [1, 20, 21, 40, 41, 60])
@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("DELETE FROM event WHERE id = {0}", r"^Event {0} \(entry \d+\) does not hold: it is missing"),
        ("UPDATE event SET event_time = event_time + 1 WHERE id = {0}", r"^Event {0} \(entry \d+\) .* type or time"),
        ("UPDATE event SET digest = zeroblob(32) WHERE id = {0}", r"^Event {0} \(entry \d+\) .* have its digest"),
        ("UPDATE event SET job_id = NULL WHERE id = {0}", r"^Event {0} \(entry \d+\) .* another job"),
    ],
    ids=["deleted", "flipped", "digest", "moved"],
)
def test_a_failure_in_any_part_is_named(store: Store, number: int, statement: str, words: str) -> None:
    tamper(store, "PRAGMA defer_foreign_keys = ON", statement.format(number))
    with pytest.raises(EvidenceBroken, match=words.format(number)):
        store.verify(graph=False)


@pytest.mark.parametrize(("one", "other"), [(3, 9), (3, 33), (20, 21), (39, 58)])
def test_exchanged_events_are_named(store: Store, one: int, other: int) -> None:
    swap = [f"UPDATE event SET id = {there} WHERE id = {here}" for here, there in ((one, 0), (other, one), (0, other))]
    tamper(store, "PRAGMA defer_foreign_keys = ON", *swap)
    with pytest.raises(EvidenceBroken, match=rf"^Event {one} \(entry \d+\) .* not the one that the log has"):
        store.verify(graph=False)


@pytest.mark.parametrize("number", [-1, 0, EVENTS + 1, EVENTS + 40])
def test_an_inserted_event_is_named(store: Store, number: int) -> None:
    columns = "kind, event_type, event_time, received_at, run_id, job_id, dataset_id, problems, body"
    put = f"INSERT INTO event (id, digest, {columns}) SELECT {number}, zeroblob(32), {columns} FROM event WHERE id = 5"
    tamper(store, put)
    with pytest.raises(EvidenceBroken, match=r"^Event "):
        store.verify(graph=False)


def test_a_certificate_without_an_event_is_named(store: Store) -> None:
    """Every part reports which certificates have their event in it."""
    of_nothing = {"sha256:00": {"certificateId": "one"}}
    missing = pytest.raises(EvidenceBroken, match=r"^Certificate one does not hold: there is no event sha256:00")
    with store._database.read() as conn, missing:
        event_partitions.verify_events(store._database, conn, of_nothing, None, busy=0)
