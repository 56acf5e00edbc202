"""The queue: visibility timeout, redelivery, dead letters, replay; and loading exactly once."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta

import pytest
from sqlalchemy import func, select, text, update

from headwater.client import Lineage
from headwater.errors import QueryError
from headwater.records.intake import loading, requests
from headwater.records.intake.loading import LoadResult
from headwater.records.ledger import Records
from headwater.store.records import queue
from headwater.store.schema.record_tables import record_dead_letter, record_hot, record_queue
from tests.records.conftest import SECOND, Clock, load_all, loader


def request(node: str, root: str = "r", action: str = "A") -> dict[str, str]:
    return {"root_id": root, "parent_id": root, "action_taken": action, "storage_location": "l", "node_id": node}


def send(records: Records, count: int) -> None:
    records.send([request(f"n{number}") for number in range(count)])


def poison(records: Records, body: object = "no record") -> None:
    with records.database.write() as conn:
        queue.put(conn, queue.LOAD, [body], records._now())


def rows(records: Records, table: object = record_hot) -> int:
    with records.database.read() as conn:
        return conn.scalar(select(func.count()).select_from(table)) or 0  # type: ignore[arg-type]


def test_taken_messages_are_hidden_until_the_visibility_timeout(records: Records, clock: Clock) -> None:
    send(records, 3)

    def take(token: str) -> list[int]:
        with records.database.write() as conn:
            until = clock.now + 30 * SECOND
            taken = queue.take(conn, queue.LOAD, token=token, now=clock.now, until=until, limit=2, suspect=5)
            return [message.id for message in taken]

    first, second = take("a"), take("b")
    assert (len(first), len(second), take("c")) == (2, 1, [])
    assert not {*first} & {*second}
    clock.on(30)
    assert take("d") == first
    with records.database.write() as conn:
        assert queue.held_ids(conn, first, "a") == set()
        assert queue.held_ids(conn, first, "d") == {*first}


def test_a_worker_that_was_too_slow_loads_nothing(
    records: Records, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its lease expired between taking and loading, and another worker has loaded in the meantime."""
    send(records, 4)
    others: list[LoadResult] = []
    read = loading._read

    def reading(messages: Sequence[queue.QueueMessage]) -> object:
        if not others:
            clock.on(31)
            others.append(LoadResult())
            others.append(loader(records).load(100))
        return read(messages)

    monkeypatch.setattr(loading, "_read", reading)
    done = loader(records).load(100)
    assert (done.taken, done.loaded) == (4, 0)
    assert others[-1].loaded == 4
    assert (rows(records), rows(records, record_queue)) == (4, 0)


def test_a_repetition_changes_nothing_and_another_content_is_a_conflict(records: Records, clock: Clock) -> None:
    records.send(request("n", action="ONE"))
    load_all(records)
    clock.on(5)
    records.send(request("n", action="ONE"))
    assert load_all(records) == 1  # it is done with, though it added nothing
    assert rows(records) == 1
    records.send(request("n", action="TWO"))
    load_all(records)
    trace = records.trace("r")
    assert [trace.traces[0].lineage[0].action_taken, trace.traces[0].conflicts] == ["ONE", ("n",)]
    (conflict,) = trace.conflicts
    assert (conflict.held.action_taken, [other.action_taken for other in conflict.others]) == ("ONE", ["TWO"])


def test_a_poison_message_affects_no_other(records: Records, clock: Clock) -> None:
    send(records, 5)
    poison(records)
    poison(records, {**request("x"), "root_id": 7})
    done = loader(records).load(100)
    assert (done.taken, done.loaded, done.failed, done.dead) == (7, 5, 2, 0)
    assert (rows(records), rows(records, record_queue)) == (5, 2)
    assert loader(records).load(100).taken == 0  # not at once
    for _ in range(4):
        clock.on(60)
        loader(records).load(100)
    assert rows(records, record_queue) == 0
    letters = records.dead_letters()
    assert [letter.reason for letter in letters] == [
        "the message is not a record: root_id is a string, not a number",
        "the message is not a record: a record is an object, not a string",
    ]
    assert [letter.tries for letter in letters] == [5, 5]
    assert letters[0].failed_at - letters[0].enqueued_at == timedelta(minutes=4)


def test_a_record_that_the_database_refuses_is_separated(durable: Records, clock: Clock) -> None:
    """A trigger represents any reason why a database may refuse one row."""
    with durable.database.write() as conn:
        if durable.database.is_sqlite:
            conn.execute(
                text(
                    "CREATE TRIGGER no_bad BEFORE INSERT ON record_hot WHEN NEW.action_taken = 'BAD' "
                    "BEGIN SELECT RAISE(ABORT, 'not this one'); END"
                )
            )
        else:
            conn.execute(text("ALTER TABLE record_hot ADD CONSTRAINT no_bad CHECK (action_taken <> 'BAD')"))
    durable.send([request("a"), request("b", action="BAD"), request("c")])
    done = loader(durable, max_tries=1).load(100)
    assert (done.loaded, done.failed, done.dead) == (2, 1, 1)
    (letter,) = durable.dead_letters()
    assert "not this one" in letter.reason or "no_bad" in letter.reason
    assert {one.record.node_id for one in durable.find()} == {"a", "c"}


def test_dead_letters_are_replayed_by_number_or_all(records: Records, clock: Clock) -> None:
    for number in range(3):
        poison(records, f"bad {number}")
    loader(records, max_tries=1).load(100)
    first, second, third = sorted(letter.id for letter in records.dead_letters())
    with pytest.raises(QueryError, match="no dead letter 77"):
        records.replay([first, 77])
    assert len(records.dead_letters()) == 3
    assert records.replay([second]) == [second]
    assert records.replay() == [first, third]
    assert (len(records.dead_letters()), rows(records, record_queue)) == (0, 3)
    with records.database.write() as conn:  # whoever replays has usually mended something
        conn.execute(update(record_queue).values(body=request("mended")))
    assert load_all(records) == 3
    assert (rows(records), rows(records, record_dead_letter)) == (1, 0)


def refused_line(text: str, **about: object) -> dict[str, object]:
    """A dead letter of a stream."""
    return {"line": text, "file": "file:///landing/a.jsonl", "landed": 1_700_000_000_000_000, "nth": 2, **about}


def test_a_line_of_a_stream_is_replayed(records: Records, clock: Clock) -> None:
    """All of it: records that were accepted then get the same ids again, and the others are accepted now."""
    many = {
        **request("-", action="LINE"),
        "node_id": None,
        "records": [{"storage_location": "x" * 20_000}, {"storage_location": "y", "node_id": "named"}],
    }
    body = refused_line(json.dumps(many))
    with records.database.write() as conn:
        queue.add_dead_letters(conn, queue.LOAD, [(body, "record 0: too long")], clock.now)
    records.replay()
    assert (loader(records, max_tries=1).load(100).dead, rows(records)) == (1, 0)
    (letter,) = records.dead_letters()
    assert letter.body == body
    assert letter.reason == "the line: record 0: storage_location has 20,000 characters; the limit is 8,192"
    # Somebody has raised the limit.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(requests, "MAX_LOCATION_LENGTH", 50_000)
        records.replay()
        assert load_all(records) == 1  # one message
    assert rows(records) == 2
    found = {one.record.node_id: one.record for one in records.find()}
    (generated,) = set(found) - {"named"}
    assert len(generated) == 20
    assert found[generated].recorded_at.timestamp() == 1_700_000_000
    assert records.dead_letters() == []


def test_a_line_that_is_not_json_affects_no_other(records: Records) -> None:
    poison(records, refused_line("{not json"))
    send(records, 2)
    done = loader(records, max_tries=1).load(100)
    assert (done.loaded, done.dead) == (2, 1)
    assert records.dead_letters()[0].reason.startswith("the line: it is not JSON")


def test_a_message_that_kills_workers_is_isolated_and_becomes_a_dead_letter(records: Records, clock: Clock) -> None:
    send(records, 3)

    def taken_and_left() -> int:
        with records.database.write() as conn:
            until = clock.now + SECOND
            messages = queue.take(conn, queue.LOAD, token="t", now=clock.now, until=until, limit=10, suspect=5)
        clock.on(2)
        return len(messages)

    assert [taken_and_left() for _ in range(5)] == [3] * 5
    assert [taken_and_left() for _ in range(15)] == [1] * 15  # each of the three five times
    assert load_all(records) == 0
    assert [letter.reason for letter in records.dead_letters()] == ["taken 10 times, and no worker finished it"] * 3


def test_others_are_loaded_while_a_suspect_waits(records: Records, clock: Clock) -> None:
    records.send(request("suspect"))
    for _ in range(6):
        with records.database.write() as conn:
            queue.take(conn, queue.LOAD, token="t", now=clock.now, until=clock.now, limit=1, suspect=5)
    send(records, 3)
    assert loader(records).load(100).loaded == 3
    assert loader(records).load(100).loaded == 1


def test_concurrent_workers_load_each_record_once(durable: Records) -> None:
    """Threads with their own connections, like several processes."""
    send(durable, 900)
    done: list[int] = []

    def work() -> None:
        loading = loader(durable)
        while (one := loading.load(37)).taken:
            done.append(one.loaded)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(done) == 900
    assert rows(durable) == 900
    with durable.database.read() as conn:
        loads = Counter(conn.scalars(select(record_hot.c.load)))
    assert sorted(loads) == list(range(1, len(done) + 1))  # no number missing, none twice


def test_two_workers_take_concurrently_on_postgresql(postgres_url: str, clock: Clock) -> None:
    with Lineage(postgres_url) as opened:
        records = Records(opened._database, now=clock)
        send(records, 4)
        with records.database.write(alone=False) as one, records.database.write(alone=False) as other:
            told = {"now": clock.now, "until": clock.now + SECOND, "limit": 2, "suspect": 5}
            first = queue.take(one, queue.LOAD, token="a", **told)
            second = queue.take(other, queue.LOAD, token="b", **told)
        assert len({message.id for message in (*first, *second)}) == 4
