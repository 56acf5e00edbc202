"""Attacks by someone with all rights to the database, and which of them are detected with an anchor and without."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import delete, insert, select, update

from headwater.assurance.anchors import FolderAnchor
from headwater.errors import AuditBroken, EvidenceBroken
from headwater.model.audit import Actor
from headwater.proof.history import ADOPTED
from headwater.proof.keys import KeyRing
from headwater.proof.notes import Checkpoint, Note
from headwater.store.log import checkpoints
from headwater.store.log.certificates import ISSUED
from headwater.store.schema.tables import audit, certificate, checkpoint, log_tile
from headwater.store.store import Store
from tests.assurance.forged_log import put, rewrite
from tests.assurance.stores import disarm, ended, tamper
from tests.support.events import run_event

Opened = tuple[Store, FolderAnchor]


@pytest.fixture
def log(durable_url: str, ring: KeyRing, tmp_path: Path) -> Iterator[Opened]:
    """Fifteen entries, signed twice, each checkpoint published to an anchor; and one more entry."""
    with Store(durable_url) as store:
        yield store, signed_and_anchored(store, tmp_path)


def signed_and_anchored(store: Store, tmp_path: Path) -> FolderAnchor:
    anchor = FolderAnchor(str(tmp_path / "elsewhere"))
    for batch in range(2):
        store.ingest_many(run_event("RUNNING", run=f"{batch} {i}") for i in range(4))
        store.ingest(ended(str(batch)))
        anchor.publish(store.checkpoint().note)
    store.ingest(run_event("RUNNING", run="last"))
    assert store.verify(anchored=anchor.checkpoints()).anchored == 15
    return anchor


def assert_detected(log: Opened, words: str) -> None:
    store, anchor = log
    with pytest.raises((AuditBroken, EvidenceBroken), match=words):
        store.verify(anchored=anchor.checkpoints())


def assert_detected_in_a_run(log: Opened, words: str) -> None:
    """Also without reading the whole log."""
    store, anchor = log
    run = store.certificates()[0].run_id
    with pytest.raises(EvidenceBroken, match=words):
        store.verify_run(run, anchored=anchor.checkpoints())
    store.verify_run(run)


def assert_undetected(log: Opened, **options: str) -> None:
    """What a chain cannot prove against its own operator: the log is consistent. Only the graph differs, which such an
    operator would fold again from the remaining events."""
    assert log[0].verify(graph=False, **options).anchored is None  # type: ignore[arg-type]


def test_a_deleted_entry_is_detected_without_an_anchor(log: Opened) -> None:
    for seq in (1, 5, 15):
        tamper(log[0], "CREATE TABLE aside AS SELECT * FROM audit", f"DELETE FROM audit WHERE seq = {seq}")
        with pytest.raises(AuditBroken) as broken:
            log[0].verify()
        assert broken.value.seq == seq
        tamper(log[0], "DELETE FROM audit", "INSERT INTO audit SELECT * FROM aside", "DROP TABLE aside")
    log[0].verify()


def test_reordered_entries_are_detected_without_an_anchor(log: Opened) -> None:
    moves = [f"UPDATE audit SET seq = {new} WHERE seq = {old}" for old, new in ((2, 99), (3, 2), (99, 3))]
    tamper(log[0], *moves)
    with pytest.raises(AuditBroken, match="entry 2"):
        log[0].verify()


TRUNCATED = [
    "DELETE FROM checkpoint WHERE size > {0}",
    "DELETE FROM certificate WHERE seq > {0}",
    "DELETE FROM audit WHERE seq > {0}",
]


def truncate(store: Store, entries: int) -> None:
    """Removes the end of the log: entries, the checkpoints over them, and the events."""
    statements = [statement.format(entries) for statement in TRUNCATED]
    kept = len([entry for entry in store.audit(before=entries + 1, limit=100) if entry.event_type == "event.ingested"])
    events = ["UPDATE version SET event_id = NULL", f"DELETE FROM event WHERE id > {kept}"]
    tamper(store, *statements, *events)


@pytest.mark.parametrize("left", [14, 12, 8])
def test_a_truncated_log(log: Opened, left: int) -> None:
    truncate(log[0], left)
    assert_undetected(log)
    assert_detected(log, r"^0+15\.checkpoint in .*elsewhere does not hold: the log has only \d+ entries$")


def test_entries_after_the_last_anchored_checkpoint_can_be_removed(log: Opened) -> None:
    """An anchor proves the log up to its checkpoint, and nothing after it."""
    truncate(log[0], 15)
    assert log[0].verify(anchored=log[1].checkpoints(), graph=False).entries == 15


def test_a_truncated_log_that_grew_again(log: Opened) -> None:
    truncate(log[0], 12)
    log[0].ingest_many(run_event("RUNNING", run=f"again {i}") for i in range(8))
    log[0].checkpoint()
    assert_undetected(log)
    assert_detected(log, r"^0+15\.checkpoint in .* does not hold: the entries are not those that were signed$")


def test_a_log_that_does_not_extend_the_anchor_is_not_signed(log: Opened) -> None:
    store, anchor = log
    truncate(store, 12)
    store.ingest_many(run_event("RUNNING", run=f"again {i}") for i in range(8))
    with pytest.raises(EvidenceBroken, match=r"^0+15\.checkpoint in .* does not hold: the log does not go on from it"):
        store.checkpoint(anchored=anchor.checkpoints())
    assert [one.size for one in store.checkpoints()] == [8]


def test_a_restored_old_backup(ring: KeyRing, tmp_path: Path) -> None:
    file, backup = tmp_path / "store.db", tmp_path / "backup.db"
    anchor = FolderAnchor(str(tmp_path / "elsewhere"))
    with Store(f"sqlite:///{file}") as store:
        store.ingest_many(run_event("RUNNING", run=str(i)) for i in range(5))
        anchor.publish(store.checkpoint().note)
    shutil.copy(file, backup)
    with Store(f"sqlite:///{file}") as store:
        store.ingest_many(run_event("RUNNING", run=f"later {i}") for i in range(5))
        anchor.publish(store.checkpoint().note)
    shutil.copy(backup, file)
    with Store(f"sqlite:///{file}") as store:
        assert store.verify().entries == 7
        assert_detected((store, anchor), "the log has only 7 entries")
        store.ingest_many(run_event("RUNNING", run=f"other {i}") for i in range(5))
        store.checkpoint()
        assert store.verify().entries == 13
        assert_detected((store, anchor), "the entries are not those that were signed")


def test_a_full_rewrite_signed_with_the_stolen_key(log: Opened, ring: KeyRing) -> None:
    """With the key and the database any history can be written. Only the anchor detects it."""
    store, _ = log
    key = store.checkpoints()[0].key
    rewrite(store, {4: {"actor_id": "somebody else"}}, sign=ring)
    assert store.audit(before=5, limit=1)[0].actor_id == "somebody else"
    assert_undetected(log)
    assert_undetected(log, key=key)
    assert_detected(log, r"^0+8\.checkpoint in .* does not hold: the entries are not those that were signed$")
    assert_detected_in_a_run(log, r"^0+8\.checkpoint in .* does not hold: the entries are not those that were signed$")


def test_a_full_rewrite_from_the_first_entry_is_another_log(log: Opened, ring: KeyRing) -> None:
    store, _ = log
    key = store.checkpoints()[0].key
    rewrite(store, {1: {"actor_id": "somebody else"}}, sign=ring)
    assert_undetected(log)
    assert_detected(log, "it is of another log")
    assert_detected_in_a_run(log, "it is of another log")
    with pytest.raises(EvidenceBroken, match="it was never signed with"):  # a key is named after its log
        store.verify(key=key)


def test_a_full_rewrite_signed_with_another_key(log: Opened, tmp_path: Path) -> None:
    store, _ = log
    key = store.checkpoints()[0].key
    rewrite(store, {4: {"actor_id": "somebody else"}}, sign=KeyRing.create(tmp_path / "forger.pem"))
    assert_undetected(log)
    with pytest.raises(EvidenceBroken, match=r"^The log does not hold: it was never signed with "):
        store.verify(key=key)
    assert_detected(log, "the entries are not those that were signed")
    assert_detected_in_a_run(log, "the entries are not those that were signed")


def test_a_signature_moved_to_another_checkpoint(log: Opened) -> None:
    """A signature of the right key, over another state."""
    store, _ = log
    newest, oldest = store.checkpoints()
    (signature,) = [line for line in oldest.note.splitlines() if line.startswith("—")]
    forged = newest.note.split("\n\n")[0] + f"\n\n{signature}\n"
    tamper(store, f"UPDATE checkpoint SET note = '{forged}' WHERE size = {newest.size}")
    with pytest.raises(
        EvidenceBroken, match=f"^The checkpoint of {newest.size} entries does not hold: it is not signed"
    ):
        store.verify()


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        ("DELETE FROM checkpoint", "^The first checkpoint does not hold: it is missing: entry 7 adopts the key"),
        (
            "DELETE FROM checkpoint WHERE size = 8",
            "^The checkpoint of 8 entries .* it is missing: entry 8 announces it",
        ),
        ("DELETE FROM checkpoint WHERE size = 15", "^The checkpoint of 15 entries .* it is missing: entry 15 "),
        ("UPDATE checkpoint SET size = 9 WHERE size = 8", "^The checkpoint of 9 entries does not hold: it is one of 8"),
        ("UPDATE checkpoint SET note = (SELECT max(note) FROM checkpoint)", "does not hold: it is one of"),
    ],
)
def test_a_missing_checkpoint_is_detected_without_an_anchor(log: Opened, damage: str, what: str) -> None:
    tamper(log[0], damage)
    with pytest.raises(EvidenceBroken, match=what):
        log[0].verify()
    with pytest.raises(EvidenceBroken, match=what):
        log[0].verify(anchored=log[1].checkpoints(), events=False)


def test_a_missing_checkpoint_in_the_middle_is_detected_without_an_anchor(log: Opened) -> None:
    assert log[0].checkpoint().size == 17
    tamper(log[0], "DELETE FROM checkpoint WHERE size = 15")
    with pytest.raises(EvidenceBroken, match=r"^The checkpoint of 15 entries does not hold: it is missing: entry 15"):
        log[0].verify()


def test_an_inserted_checkpoint_is_detected_without_an_anchor(log: Opened, ring: KeyRing) -> None:
    """Signed by the right key, over the log at that time, but not announced."""
    state = Checkpoint(log[0].checkpoints()[0].origin, 11, bytes.fromhex(log[0].consistency(0, 11).new_root))
    note = Note.signed(state.text, state.origin, [ring.newest])
    tamper(log[0], insert(checkpoint).values(size=11, note=str(note)))
    with pytest.raises(EvidenceBroken, match=r"^The checkpoint of 11 entries does not hold: the log does not announce"):
        log[0].verify()


def test_checkpoints_of_earlier_versions_are_not_announced(log: Opened, ring: KeyRing) -> None:
    """In a store of an earlier version they are listed as not covered, and the next checkpoint counts them."""
    store, _ = log
    forget_announcements(store, ring)
    assert [one.size for one in store.checkpoints()] == [13, 7]
    assert store.verify().not_covered[0].startswith("whether a checkpoint is missing")
    assert store.checkpoint().size == 15
    assert store.verify(graph=False).not_covered == ()
    tamper(store, "DELETE FROM checkpoint WHERE size = 7")
    with pytest.raises(EvidenceBroken, match=r"^The checkpoint of 15 entries .* with other checkpoints before it$"):
        store.verify()


def forget_announcements(store: Store, ring: KeyRing) -> None:
    """The log as an earlier version would have written it: signed at the same times, without these entries."""
    with store._database.write() as conn:
        disarm(conn)
        rows = [dict(row._mapping) for row in conn.execute(select(audit).order_by(audit.c.seq))]
        for table in (audit, checkpoint, log_tile):
            conn.execute(delete(table))
        for row in rows:
            if row["event_type"] == ADOPTED:
                checkpoints._record(conn, Actor(row["actor_id"]), ADOPTED, checkpoints.origin(conn), ring.newest)
            elif row["event_type"] == checkpoints.ANNOUNCED:
                state = checkpoints._state(conn, checkpoints.origin(conn))
                note = Note.signed(state.text, state.origin, [ring.newest])
                conn.execute(insert(checkpoint).values(size=state.size, note=str(note)))
            else:
                put(conn, row)
        numbered = [(row["seq"] - (row["seq"] > 8), row["seq"]) for row in rows if row["event_type"] == ISSUED]
        for seq, before in numbered:
            conn.execute(update(certificate).where(certificate.c.seq == before).values(seq=seq))


def test_a_flipped_byte_in_the_anchor_is_detected(log: Opened) -> None:
    """Every byte of a checkpoint in the anchor counts as well."""
    store, anchor = log
    file = next(Path(anchor.where).glob("*8.checkpoint"))
    content = file.read_bytes()
    for position in range(len(content)):
        file.write_bytes(content[:position] + bytes([content[position] ^ 1 << position % 8]) + content[position + 1 :])
        with pytest.raises(EvidenceBroken):
            store.verify(anchored=anchor.checkpoints(), events=False)
    file.write_bytes(content)
    store.verify(anchored=anchor.checkpoints())
