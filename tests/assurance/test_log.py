"""The audit log as a tree: tiles, checkpoints and proofs, on every database."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import SQLAlchemyError

from headwater.errors import EvidenceBroken, HeadwaterError, KeyUnusable, QueryError
from headwater.proof.keys import KeyRing
from headwater.proof.merkle import leaf_hash, root_of, verify_consistency, verify_inclusion
from headwater.proof.notes import Checkpoint, Note, Verifier
from headwater.store.engine.database import Database
from headwater.store.log import log_partitions
from headwater.store.schema.migrations import HEAD
from headwater.store.schema.tables import audit, log_tile
from headwater.store.schema.upgrade import upgrade
from headwater.store.store import Store
from tests.assurance.stores import PROTECTED, ended, fill, tamper
from tests.support.events import run_event
from tests.support.versions import take_back


def leaves_of(store: Store) -> list[bytes]:
    with store._database.read() as conn:
        return [leaf_hash(bytes(one)) for one in conn.scalars(select(audit.c.hash).order_by(audit.c.seq))]


def grown(store: Store, entries: int) -> None:
    with store._database.read() as conn:
        there = len(conn.execute(select(audit.c.seq)).all())
    store.ingest_many(run_event("RUNNING", run=str(i)) for i in range(there, entries))


def test_proofs_of_a_growing_log(store: Store) -> None:
    for size in (1, 2, 3, 7, 255, 256, 257, 700):
        grown(store, size)
        leaves = leaves_of(store)
        assert len(leaves) == size
        assert store.verify().root == root_of(leaves).hex()
        for seq in {1, size // 2 + 1, size}:
            proof = store.inclusion(seq)
            path = [bytes.fromhex(one) for one in proof.path]
            assert proof.entry_hash == store.audit(before=seq + 1, limit=1)[0].hash
            assert verify_inclusion(leaf_hash(bytes.fromhex(proof.entry_hash)), seq - 1, size, path, root_of(leaves))
        for old in {0, 1, size // 2, size}:
            shown = store.consistency(old)
            path = [bytes.fromhex(one) for one in shown.path]
            assert (shown.old_root, shown.new_root) == (root_of(leaves[:old]).hex(), root_of(leaves).hex())
            assert verify_consistency(old, size, path, root_of(leaves[:old]), root_of(leaves))
    assert store.inclusion(3, 7).root == root_of(leaves[:7]).hex()
    assert store.consistency(3, 300).new_root == root_of(leaves[:300]).hex()


@pytest.mark.parametrize(("seq", "size"), [(0, None), (6, None), (4, 3), (1, 0), (1, 6)])
def test_a_missing_entry_cannot_be_proven(one_store: Store, seq: int, size: int | None) -> None:
    grown(one_store, 5)
    with pytest.raises(QueryError, match="entries"):
        one_store.inclusion(seq, size)


@pytest.mark.parametrize(("old", "new"), [(6, None), (3, 2), (0, 6)])
def test_an_unknown_root_is_consistent_with_no_log(one_store: Store, old: int, new: int | None) -> None:
    grown(one_store, 5)
    with pytest.raises(QueryError, match="It has 5"):
        one_store.consistency(old, new)


def test_tiles_do_not_depend_on_how_entries_are_appended(store: Store) -> None:
    for batch in (1, 254, 1, 1, 300, 200, 11):
        store.ingest_many([run_event("RUNNING", run=f"{batch} {i}") for i in range(batch)])
    with store._database.read() as conn:
        tiles = conn.execute(select(log_tile).order_by(log_tile.c.number)).all()
    leaves = leaves_of(store)
    assert [(tile.level, tile.number) for tile in tiles] == [(1, 0), (1, 1)]
    assert [bytes(tile.hash) for tile in tiles] == [root_of(leaves[:256]), root_of(leaves[256:512])]


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM log_tile WHERE number = 0",
        "DELETE FROM log_tile WHERE number = 1",
        "UPDATE log_tile SET number = 7 WHERE number = 1",
        "UPDATE log_tile SET level = 2 WHERE number = 1",
        "INSERT INTO log_tile (level, number, hash) SELECT level, 2, hash FROM log_tile WHERE number = 0",
        "UPDATE log_tile SET hash = (SELECT hash FROM audit WHERE seq = 1) WHERE number = 0",
    ],
)
def test_a_damaged_tile_is_detected(one_store: Store, damage: str) -> None:
    grown(one_store, 600)
    tamper(one_store, damage)
    with pytest.raises(EvidenceBroken, match=r"^Tile \d/\d of the log does not hold: "):
        one_store.verify()


def test_an_older_store_gets_its_tiles(empty_url: str, tmp_path: Path) -> None:
    with Store(empty_url) as store:
        grown(store, 600)
        laid = tiles_of(store)
        assert len(laid) == 2
        take_back(store, "0001")
    database = Database(empty_url)
    assert upgrade(database) == ("0001", HEAD)
    database.close()
    with Store(empty_url, create=False) as store:
        assert tiles_of(store) == laid
        assert store.verify().entries == 600
        store.checkpoint(key=KeyRing.create(tmp_path / "key.pem"))
        assert store.verify().checkpoints == 1


def tiles_of(store: Store) -> list[tuple[int, int, bytes]]:
    with store._database.read() as conn:
        return [(row.level, row.number, bytes(row.hash)) for row in conn.execute(select(log_tile))]


# -- checkpoints -------------------------------------------------------------------------------------------------------


def test_a_checkpoint_is_of_the_current_log(store: Store, ring: KeyRing) -> None:
    store.ingest(run_event())
    signed = store.checkpoint()
    assert signed.size == 3  # with the entry that adopts the key, and the one that announces the checkpoint
    assert signed.root == root_of(leaves_of(store)).hex()
    note = Note.parse(signed.note)
    assert Checkpoint.of(note) == Checkpoint(signed.origin, 3, bytes.fromhex(signed.root))
    assert Verifier.parse(signed.key) == Verifier(signed.origin, ring.newest.public)
    assert note.is_signed_by(Verifier.parse(signed.key))
    assert store.checkpoint() == signed
    assert store.checkpoints() == [signed]
    store.ingest(run_event(run="more"))
    assert store.checkpoint().size == 5
    assert [one.size for one in store.checkpoints()] == [5, 3]
    assert store.verify(key=signed.key).checkpoints == 2


def test_logs_have_names_of_their_own(tmp_path: Path, ring: KeyRing) -> None:
    origins = set()
    for number in range(2):
        with Store("memory://") as store:
            store.ingest(run_event(run=str(number)))
            origins.add(store.checkpoint().origin)
    assert len(origins) == 2


def test_an_empty_log_is_not_signed(one_store: Store, ring: KeyRing) -> None:
    with pytest.raises(QueryError, match="nothing to sign"):
        one_store.checkpoint()
    assert one_store.verify().entries == 0


def test_another_key_does_not_sign(one_store: Store, ring: KeyRing, tmp_path: Path) -> None:
    one_store.ingest(run_event())
    one_store.checkpoint()
    other = KeyRing.create(tmp_path / "other.pem")
    for attempt in (one_store.checkpoint, one_store.rotate_key):
        with pytest.raises(KeyUnusable, match="which is not in"):
            attempt(key=other)
    assert len(KeyRing.load(other.file).keys) == 1


def test_a_truncated_log_is_not_signed(store: Store, ring: KeyRing) -> None:
    grown(store, 5)
    store.checkpoint()
    tamper(store, "DELETE FROM audit WHERE seq = 4", "UPDATE audit SET seq = seq - 1 WHERE seq = 5", "SELECT 1")
    with pytest.raises(EvidenceBroken):
        store.checkpoint()


def test_keys_are_rotated(store: Store, ring: KeyRing) -> None:
    store.ingest(run_event())
    with pytest.raises(KeyUnusable, match="headwater checkpoint"):
        store.rotate_key()
    keys = [store.checkpoint().key]
    for _ in range(3):
        keys.append(store.rotate_key())
        assert store.checkpoint().key == keys[-1]
    assert len(set(keys)) == 4
    assert [(period.seq, str(period.key)) for period in store.signing_keys()] == list(
        zip((2, 4, 6, 8), keys, strict=True)
    )
    for key in keys:  # who trusts any of them can follow to the others
        assert store.verify(key=key).key == keys[-1]
    stranger = Verifier(store.checkpoint().origin, KeyRing.load(ring.file).rotate().newest.public)
    with pytest.raises(EvidenceBroken, match="it was never signed with"):
        store.verify(key=str(stranger))


def test_the_log_is_append_only(store: Store, tmp_path: Path) -> None:
    fill(store, tmp_path / "key.pem")
    grown(store, 300)
    before = store.verify()
    for table in PROTECTED[1:]:
        key = {"log_tile": "number", "checkpoint": "size", "certificate": "seq"}[table]
        statements = [f"DELETE FROM {table}", f"UPDATE {table} SET {key} = {key}"]
        if store._database.is_sqlite:
            statements.append(f"REPLACE INTO {table} SELECT * FROM {table}")
            if table == "certificate":
                statements.append(
                    "REPLACE INTO certificate SELECT 99, namespace_key, number, 'x', run_key, hash FROM certificate"
                )
        else:
            statements.append(f"TRUNCATE {table}")
        for statement in statements:
            with pytest.raises(SQLAlchemyError, match="append-only"), store._database.write() as conn:
                conn.execute(text(statement))
    assert store.verify() == before


# -- long logs ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def many_partitions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few hundred entries already count as enough for a process."""
    monkeypatch.setattr(log_partitions, "_WORTH_A_PROCESS", 200)


def test_a_long_log_is_verified_in_partitions(durable_url: str, many_partitions: None, tmp_path: Path) -> None:
    with Store(durable_url) as store:
        ring = fill(store, tmp_path / "key.pem")
        grown(store, 400)
        store.checkpoint(key=ring)
        grown(store, 1_100)
        store.checkpoint(key=ring)
        told: list[tuple[int, int]] = []
        found = store.verify(
            progress=lambda part, done, total: told.append((done, total)) if part == "entries" else None
        )
        assert (found.entries, found.checkpoints) == (1_101, 4)
        assert found.root == root_of(leaves_of(store)).hex()
        assert told[-1][0] <= told[-1][1]
        assert told[0][1] == 1_101


@pytest.fixture(scope="module")
def long_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with 1,100 entries, to be copied."""
    file = tmp_path_factory.mktemp("long") / "store.db"
    with Store(f"sqlite:///{file}") as store:
        grown(store, 1_100)
    return file


@pytest.mark.parametrize("seq", [1, pytest.param(512, marks=pytest.mark.long), 768, 769, 1_100])
def test_a_failure_in_any_partition_is_named(long_log: Path, sqlite_url: str, many_partitions: None, seq: int) -> None:
    shutil.copy(long_log, sqlite_url.removeprefix("sqlite:///"))
    with Store(sqlite_url) as store:
        tamper(store, f"UPDATE audit SET actor_id = 'nobody' WHERE seq = {seq}")
        with pytest.raises(HeadwaterError, match=f"^The audit log does not hold at entry {seq}: its content"):
            store.verify()
        tamper(store, f"UPDATE audit SET previous_hash = zeroblob(32), seq = seq WHERE seq = {seq}")
        with pytest.raises(HeadwaterError, match=f"^The audit log does not hold at entry {seq}: "):
            store.verify()
        tamper(store, f"DELETE FROM audit WHERE seq = {seq}")
        if seq < 1_100:
            with pytest.raises(HeadwaterError, match=f"^The audit log does not hold at entry {seq}: missing"):
                store.verify()


def test_a_run_alone(store: Store, ring: KeyRing) -> None:
    store.ingest_many([run_event("START", run="one"), ended("one", minute=1), run_event(run="two")])
    run = store.certificates()[0].run_id
    found = store.verify_run(run)
    assert (found.entries, found.signed, found.checkpoint) == ((1, 2, 4), 0, None)
    signed = store.checkpoint()
    found = store.verify_run(run, key=signed.key)
    assert (found.entries, found.signed, found.checkpoint) == ((1, 2, 4), 3, 6)
    assert store.verify_certificate(found.certificates[0]) == found
    with pytest.raises(QueryError, match="is not known"):
        store.verify_certificate("nothing")


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE audit SET actor_id = 'nobody' WHERE seq = 2",
        "UPDATE event SET event_type = 'FAIL' WHERE id = 2",
        "UPDATE event SET body = (SELECT body FROM event WHERE id = 1) WHERE id = 2",
        "DELETE FROM audit WHERE seq = 2",
        "UPDATE checkpoint SET size = 4",
        "UPDATE checkpoint SET note = replace(note, 'headwater', 'Headwater')",
    ],
)
def test_a_run_whose_traces_were_changed(store: Store, ring: KeyRing, damage: str) -> None:
    store.ingest_many([run_event("START", run="one"), ended("one", minute=1), run_event(run="two")])
    store.checkpoint()
    run = store.certificates()[0].run_id
    store.verify_run(run)
    tamper(store, damage)
    with pytest.raises(HeadwaterError, match="does not hold"):
        store.verify_run(run)
