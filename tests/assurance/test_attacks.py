"""What someone can do who has every right to the database, and what shows: with a second place, and without."""

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
from tests.assurance.rewriting import put, rewrite
from tests.assurance.stores import disarm, ended, tamper
from tests.support.events import run_event

Opened = tuple[Store, FolderAnchor]


@pytest.fixture
def log(durable_url: str, ring: KeyRing, tmp_path: Path) -> Iterator[Opened]:
    """Fifteen entries, signed twice, each time with the checkpoint written to a second place; and one more."""
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


def shows(log: Opened, words: str) -> None:
    store, anchor = log
    with pytest.raises((AuditBroken, EvidenceBroken), match=words):
        store.verify(anchored=anchor.checkpoints())


def shows_in_a_run(log: Opened, words: str) -> None:
    """Without reading the whole log, too."""
    store, anchor = log
    run = store.certificates()[0].run_id
    with pytest.raises(EvidenceBroken, match=words):
        store.verify_run(run, anchored=anchor.checkpoints())
    store.verify_run(run)


def goes_unnoticed(log: Opened, **options: str) -> None:
    """What a chain cannot prove against its own operator: all of it holds together.

    But for the graph, which such an operator would fold anew from the events that are left.
    """
    assert log[0].verify(graph=False, **options).anchored is None  # type: ignore[arg-type]


def test_a_deleted_entry_shows_by_itself(log: Opened) -> None:
    for seq in (1, 5, 15):
        tamper(log[0], "CREATE TABLE aside AS SELECT * FROM audit", f"DELETE FROM audit WHERE seq = {seq}")
        with pytest.raises(AuditBroken) as broken:
            log[0].verify()
        assert broken.value.seq == seq
        tamper(log[0], "DELETE FROM audit", "INSERT INTO audit SELECT * FROM aside", "DROP TABLE aside")
    log[0].verify()


def test_reordered_entries_show_by_themselves(log: Opened) -> None:
    moves = [f"UPDATE audit SET seq = {new} WHERE seq = {old}" for old, new in ((2, 99), (3, 2), (99, 3))]
    tamper(log[0], *moves)
    with pytest.raises(AuditBroken, match="entry 2"):
        log[0].verify()


CUT = [
    "DELETE FROM checkpoint WHERE size > {0}",
    "DELETE FROM certificate WHERE seq > {0}",
    "DELETE FROM audit WHERE seq > {0}",
]


def cut(store: Store, entries: int) -> None:
    """At the end: entries, what was signed over them, and the events."""
    statements = [statement.format(entries) for statement in CUT]
    kept = len([entry for entry in store.audit(before=entries + 1, limit=100) if entry.event_type == "event.ingested"])
    events = ["UPDATE version SET event_id = NULL", f"DELETE FROM event WHERE id > {kept}"]
    tamper(store, *statements, *events)


@pytest.mark.parametrize("left", [14, 12, 8])
def test_a_log_cut_off_at_its_end(log: Opened, left: int) -> None:
    cut(log[0], left)
    goes_unnoticed(log)
    shows(log, r"^0+15\.checkpoint in .*elsewhere does not hold: the log has only \d+ entries$")


def test_what_came_after_the_last_anchored_checkpoint_can_be_cut(log: Opened) -> None:
    """A second place proves what was written there, and nothing since."""
    cut(log[0], 15)
    assert log[0].verify(anchored=log[1].checkpoints(), graph=False).entries == 15


def test_a_cut_log_that_grew_again(log: Opened) -> None:
    cut(log[0], 12)
    log[0].ingest_many(run_event("RUNNING", run=f"again {i}") for i in range(8))
    log[0].checkpoint()
    goes_unnoticed(log)
    shows(log, r"^0+15\.checkpoint in .* does not hold: the entries are not those that were signed$")


def test_nothing_is_signed_that_does_not_go_on_from_the_second_place(log: Opened) -> None:
    store, anchor = log
    cut(store, 12)
    store.ingest_many(run_event("RUNNING", run=f"again {i}") for i in range(8))
    with pytest.raises(EvidenceBroken, match=r"^0+15\.checkpoint in .* does not hold: the log does not go on from it"):
        store.checkpoint(anchored=anchor.checkpoints())
    assert [one.size for one in store.checkpoints()] == [8]


def test_an_old_backup_put_back(ring: KeyRing, tmp_path: Path) -> None:
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
        shows((store, anchor), "the log has only 7 entries")
        store.ingest_many(run_event("RUNNING", run=f"other {i}") for i in range(5))
        store.checkpoint()
        assert store.verify().entries == 13
        shows((store, anchor), "the entries are not those that were signed")


def test_a_full_rewrite_signed_with_the_stolen_key(log: Opened, ring: KeyRing) -> None:
    """Whoever has the key and the database can write any history. Only the second place tells."""
    store, _ = log
    key = store.checkpoints()[0].key
    rewrite(store, {4: {"actor_id": "somebody else"}}, sign=ring)
    assert store.audit(before=5, limit=1)[0].actor_id == "somebody else"
    goes_unnoticed(log)
    goes_unnoticed(log, key=key)
    shows(log, r"^0+8\.checkpoint in .* does not hold: the entries are not those that were signed$")
    shows_in_a_run(log, r"^0+8\.checkpoint in .* does not hold: the entries are not those that were signed$")


def test_a_full_rewrite_from_the_first_entry_is_another_log(log: Opened, ring: KeyRing) -> None:
    store, _ = log
    key = store.checkpoints()[0].key
    rewrite(store, {1: {"actor_id": "somebody else"}}, sign=ring)
    goes_unnoticed(log)
    shows(log, "it is of another log")
    shows_in_a_run(log, "it is of another log")
    with pytest.raises(EvidenceBroken, match="it was never signed with"):  # a key is named after its log
        store.verify(key=key)


def test_a_full_rewrite_signed_with_another_key(log: Opened, tmp_path: Path) -> None:
    store, _ = log
    key = store.checkpoints()[0].key
    rewrite(store, {4: {"actor_id": "somebody else"}}, sign=KeyRing.create(tmp_path / "forger.pem"))
    goes_unnoticed(log)
    with pytest.raises(EvidenceBroken, match=r"^The log does not hold: it was never signed with "):
        store.verify(key=key)
    shows(log, "the entries are not those that were signed")
    shows_in_a_run(log, "the entries are not those that were signed")


def test_a_signature_moved_to_another_checkpoint(log: Opened) -> None:
    """Of the right key, over another state."""
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
def test_a_checkpoint_that_is_missing_shows_by_itself(log: Opened, damage: str, what: str) -> None:
    tamper(log[0], damage)
    with pytest.raises(EvidenceBroken, match=what):
        log[0].verify()
    with pytest.raises(EvidenceBroken, match=what):
        log[0].verify(anchored=log[1].checkpoints(), events=False)


def test_a_checkpoint_in_the_middle_that_is_missing_shows_by_itself(log: Opened) -> None:
    assert log[0].checkpoint().size == 17
    tamper(log[0], "DELETE FROM checkpoint WHERE size = 15")
    with pytest.raises(EvidenceBroken, match=r"^The checkpoint of 15 entries does not hold: it is missing: entry 15"):
        log[0].verify()


def test_a_checkpoint_that_was_put_in_shows_by_itself(log: Opened, ring: KeyRing) -> None:
    """Signed by the right key, over what the log was at that time, and not announced."""
    state = Checkpoint(log[0].checkpoints()[0].origin, 11, bytes.fromhex(log[0].consistency(0, 11).new_root))
    note = Note.signed(state.text, state.origin, [ring.newest])
    tamper(log[0], insert(checkpoint).values(size=11, note=str(note)))
    with pytest.raises(EvidenceBroken, match=r"^The checkpoint of 11 entries does not hold: the log does not announce"):
        log[0].verify()


def test_checkpoints_from_before_they_were_announced(log: Opened, ring: KeyRing) -> None:
    """A store of an earlier version: what cannot be told of it is named, and the next checkpoint counts them."""
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


def test_the_anchor_itself_is_read_with_care(log: Opened) -> None:
    """Every byte of a checkpoint in the second place counts as well."""
    store, anchor = log
    file = next(Path(anchor.where).glob("*8.checkpoint"))
    content = file.read_bytes()
    for position in range(len(content)):
        file.write_bytes(content[:position] + bytes([content[position] ^ 1 << position % 8]) + content[position + 1 :])
        with pytest.raises(EvidenceBroken):
            store.verify(anchored=anchor.checkpoints(), events=False)
    file.write_bytes(content)
    store.verify(anchored=anchor.checkpoints())
