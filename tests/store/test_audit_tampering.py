"""The audit log is append-only; changes that bypass its triggers are detected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Connection, LargeBinary, bindparam, delete, insert, select, text, update
from sqlalchemy.exc import SQLAlchemyError

from headwater.errors import AuditBroken, EvidenceBroken
from headwater.model.audit import Actor
from headwater.store.schema.tables import audit
from headwater.store.store import Store
from tests.support.events import run_event

COLUMNS = [column.name for column in audit.c]
Row = dict[str, Any]

REWRITES = {
    "update": "UPDATE audit SET actor_id = 'somebody else'",
    "update one": "UPDATE audit SET details = '{}' WHERE seq = 3",
    "update to the same": "UPDATE audit SET action = action",
    "delete": "DELETE FROM audit",
    "delete the last": "DELETE FROM audit WHERE seq = 5",
    "upsert": f"INSERT INTO audit ({', '.join(COLUMNS)}) SELECT {', '.join(COLUMNS)} FROM audit WHERE seq = 2 "
    "ON CONFLICT (seq) DO UPDATE SET actor_id = 'somebody else'",
}
SQLITE_REWRITES = {
    "update or replace": "UPDATE OR REPLACE audit SET seq = 1 WHERE seq = 2",
    "insert or replace": f"INSERT OR REPLACE INTO audit ({', '.join(COLUMNS)}) "
    f"SELECT {', '.join(COLUMNS)} FROM audit WHERE seq = 2",
    "replace by hash": f"REPLACE INTO audit ({', '.join(COLUMNS)}) "
    f"SELECT {', '.join('99' if name == 'seq' else name for name in COLUMNS)} FROM audit WHERE seq = 2",
    "delete without a where": "DELETE FROM audit WHERE 1",
}
POSTGRESQL_REWRITES = {
    "truncate": "TRUNCATE audit",
    "truncate with others": "TRUNCATE event, audit CASCADE",
    "merge": "MERGE INTO audit USING (SELECT 2 AS seq) AS one ON audit.seq = one.seq WHEN MATCHED THEN DELETE",
    "update from": "UPDATE audit SET actor_id = 'x' FROM event",
}


@pytest.fixture
def log(store: Store) -> Store:
    fill(store)
    return store


def fill(store: Store) -> None:
    """Five entries of two actors."""
    for i in range(5):
        actor = Actor(f"actor {i % 2}", correlation_id=f"request {i}", client_ip="192.0.2.1", user_agent="curl/8")
        store.ingest(run_event(run=str(i), minute=i), actor=actor)


def rows(store: Store) -> list[Row]:
    with store._database.read() as conn:
        return [dict(row._mapping) for row in conn.execute(select(audit).order_by(audit.c.seq))]


def test_nothing_can_be_rewritten(log: Store) -> None:
    before = rows(log)
    own = SQLITE_REWRITES if log._database.is_sqlite else POSTGRESQL_REWRITES
    for name, statement in (REWRITES | own).items():
        with pytest.raises(SQLAlchemyError) as refused, log._database.write() as conn:
            conn.execute(text(statement))
        assert "the audit log is append-only" in str(refused.value), name
        assert rows(log) == before, name
    assert log.verify()[0] == 5
    log.ingest(run_event(run="goes on"))
    assert log.verify()[0] == 6


# -- behind the triggers' back ----------------------------------------------------------------------------------------


def tamper(store: Store, *statements: Any) -> None:
    with store._database.write() as conn:
        disarm(conn)
        for statement in statements:
            conn.execute(statement)


def disarm(conn: Connection) -> None:
    if conn.dialect.name == "postgresql":
        conn.execute(text("SET LOCAL session_replication_role = replica"))  # for this transaction no trigger fires
        return
    for (name,) in conn.execute(text("SELECT name FROM sqlite_master WHERE type = 'trigger'")).all():
        conn.execute(text(f"DROP TRIGGER {name}"))


def broken_at(store: Store, reason: str = "") -> int:
    with pytest.raises(AuditBroken) as broken:
        store.verify()
    assert str(broken.value).isprintable()
    assert str(broken.value) == f"The audit log does not hold at entry {broken.value.seq}: {broken.value.reason}"
    assert reason in broken.value.reason
    return broken.value.seq


def other_values(value: Any) -> Iterator[Any]:
    """Values of the same type, close and far."""
    if isinstance(value, int):
        yield from (value + 1, value - 1, -value, 2**60)
    elif isinstance(value, bytes):
        yield from (bytes([value[0] ^ 1]) + value[1:], value[:-1] + bytes([value[-1] ^ 0x80]), bytes(32), b"")
    elif value is None:
        yield ""
    else:
        yield from (f"{value} ", value[:-1], value.swapcase(), "")


ON_POSTGRESQL = {"recorded_at", "actor_id", "details", "client_ip", "hash"}
"""A column of each type in the short run; how entries are verified does not depend on the database."""


@pytest.mark.parametrize(
    ("store_url", "column"),
    [
        pytest.param(database, name, marks=[] if name in short else [pytest.mark.long])
        for database, short in (("sqlite", {*COLUMNS}), ("postgresql", ON_POSTGRESQL))
        for name in COLUMNS
        if name != "seq"
    ],
    indirect=["store_url"],
)
def test_a_changed_field_is_detected(log: Store, column: str) -> None:
    """Every column of every entry, changed to each of several values; restored, the log verifies again."""
    for row in rows(log):
        changes = [value for value in other_values(row[column]) if value != row[column]]
        if audit.c[column].nullable and row[column] is not None:
            changes.append(None)
        for value in changes:
            where = audit.c.seq == row["seq"]
            tamper(log, update(audit).where(where).values({column: value}))
            assert broken_at(log) == row["seq"], (column, value)
            tamper(log, update(audit).where(where).values({column: row[column]}))
    assert log.verify()[0] == 5


@pytest.mark.parametrize("seq", [1, 2, 3, 4])
def test_a_deleted_entry_is_detected(log: Store, seq: int) -> None:
    tamper(log, delete(audit).where(audit.c.seq == seq))
    assert broken_at(log, f"missing; the next entry there is {seq + 1}") == seq


def test_a_truncated_end_is_detected_with_the_stored_head(log: Store) -> None:
    """A chain alone cannot detect it; but the event remains, and has no entry."""
    kept = log.verify()
    tamper(log, delete(audit).where(audit.c.seq == 5))
    cut = log.verify(events=False)
    assert cut.entries == kept.entries - 1
    assert cut.head != kept.head
    with pytest.raises(EvidenceBroken, match=r"^Event 5 does not hold: the log has no entry of it$"):
        log.verify()


@pytest.mark.parametrize(("one", "other"), [(1, 2), (2, 4), (4, 5)])
def test_swapped_entries_are_detected(log: Store, one: int, other: int) -> None:
    """Their numbers are exchanged."""
    number = update(audit).where(audit.c.seq == bindparam("old")).values(seq=bindparam("new"))
    with log._database.write() as conn:
        disarm(conn)
        for old, new in ((one, 99), (other, one), (99, other)):
            conn.execute(number, {"old": old, "new": new})
    assert broken_at(log) == one


def test_swapped_contents_are_detected(log: Store) -> None:
    """All of their fields including hashes are exchanged; only the numbers stay."""
    second, third = rows(log)[1:3]
    for row in (second, third):
        del row["seq"]
    tamper(
        log,
        delete(audit).where(audit.c.seq.in_([2, 3])),
        insert(audit).values(**third, seq=2),
        insert(audit).values(**second, seq=3),
    )
    assert broken_at(log) == 2


@pytest.mark.parametrize("moved", [0, -1, -(2**63)])
def test_an_entry_inserted_before_the_first_is_detected(log: Store, moved: int) -> None:
    forged = rows(log)[0] | {"seq": moved, "hash": b"forged".ljust(32)}
    tamper(log, insert(audit).values(forged))
    assert broken_at(log) == 1


def test_an_entry_inserted_in_between_is_detected(log: Store) -> None:
    forged = rows(log)[2] | {"seq": 3, "actor_id": "nobody", "hash": b"forged".ljust(32)}
    move_up = [update(audit).where(audit.c.seq == seq).values(seq=seq + 1) for seq in (5, 4, 3)]
    tamper(log, *move_up, insert(audit).values(forged))
    assert broken_at(log) == 3


def test_an_entry_appended_by_hand_is_detected(log: Store) -> None:
    last = rows(log)[-1]
    forged = last | {"seq": 6, "previous_hash": last["hash"], "hash": b"forged".ljust(32)}
    tamper(log, insert(audit).values(forged))
    assert broken_at(log) == 6


def test_an_entry_after_a_gap_is_detected(log: Store) -> None:
    last = rows(log)[-1]
    tamper(log, insert(audit).values(last | {"seq": 7, "previous_hash": last["hash"], "hash": b"x".ljust(32)}))
    assert broken_at(log) == 6


def test_an_unknown_algorithm_is_named(log: Store) -> None:
    tamper(log, update(audit).where(audit.c.seq == 2).values(algorithm="rot13"))
    assert broken_at(log, "unknown algorithm 'rot13'") == 2


def test_a_log_without_entries_has_another_head(log: Store) -> None:
    tamper(log, delete(audit))
    assert log.verify(events=False)[:2] == (0, "00" * 32)


@pytest.mark.parametrize("column", [c.name for c in audit.c if not isinstance(c.type, LargeBinary) and c.name != "seq"])
def test_a_value_of_another_type_is_detected(sqlite_url: str, column: str) -> None:
    """SQLite, unlike PostgreSQL, stores any type in any column."""
    with Store(sqlite_url) as log:
        fill(log)
        kept = rows(log)[1][column]
        for literal in ("X'00ff'", "1.5", "9e999", "'text'"):
            tamper(log, text(f"UPDATE audit SET {column} = {literal} WHERE seq = 2"))
            assert broken_at(log) == 2, literal
            tamper(log, update(audit).where(audit.c.seq == 2).values({column: kept}))
        assert log.verify()[0] == 5


def test_tampering_does_not_stop_the_log(log: Store) -> None:
    """Broken entries stay detectable under all later ones."""
    tamper(log, update(audit).where(audit.c.seq == 2).values(actor_id="nobody"))
    log.ingest(run_event(run="later"))
    assert broken_at(log) == 2
