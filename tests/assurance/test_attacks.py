"""What someone can do who has every right to the database, and what shows: with a second place, and without."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from headwater.assurance.anchors import Folder
from headwater.errors import AuditBroken, EvidenceBroken
from headwater.proof.keys import KeyRing
from headwater.store.store import Store
from tests.assurance.rewriting import rewrite
from tests.assurance.stores import ended, tamper
from tests.support.events import run_event

Opened = tuple[Store, Folder]


@pytest.fixture
def log(durable_url: str, ring: KeyRing, tmp_path: Path) -> Iterator[Opened]:
    """Thirteen entries, signed twice, each time with the checkpoint written to a second place; and one more."""
    with Store(durable_url) as store:
        yield store, signed_and_anchored(store, tmp_path)


def signed_and_anchored(store: Store, tmp_path: Path) -> Folder:
    anchor = Folder(str(tmp_path / "elsewhere"))
    for batch in range(2):
        store.ingest_many(run_event("RUNNING", run=f"{batch} {i}") for i in range(4))
        store.ingest(ended(str(batch)))
        anchor.keep(store.checkpoint().note)
    store.ingest(run_event("RUNNING", run="last"))
    assert store.verify(anchored=anchor.checkpoints()).anchored == 13
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
    """What a chain cannot prove against its own operator: all of it holds together."""
    assert log[0].verify(**options).anchored is None  # type: ignore[arg-type]


def test_a_deleted_entry_shows_by_itself(log: Opened) -> None:
    for seq in (1, 5, 13):
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


@pytest.mark.parametrize("left", [12, 10, 7])
def test_a_log_cut_off_at_its_end(log: Opened, left: int) -> None:
    cut(log[0], left)
    goes_unnoticed(log)
    shows(log, r"^0+13\.checkpoint in .*elsewhere does not hold: the log has only \d+ entries$")


def test_what_came_after_the_last_anchored_checkpoint_can_be_cut(log: Opened) -> None:
    """A second place proves what was written there, and nothing since."""
    cut(log[0], 13)
    assert log[0].verify(anchored=log[1].checkpoints()).entries == 13


def test_a_cut_log_that_grew_again(log: Opened) -> None:
    cut(log[0], 10)
    log[0].ingest_many(run_event("RUNNING", run=f"again {i}") for i in range(8))
    log[0].checkpoint()
    goes_unnoticed(log)
    shows(log, r"^0+13\.checkpoint in .* does not hold: the entries are not those that were signed$")


def test_nothing_is_signed_that_does_not_go_on_from_the_second_place(log: Opened) -> None:
    store, anchor = log
    cut(store, 10)
    store.ingest_many(run_event("RUNNING", run=f"again {i}") for i in range(8))
    with pytest.raises(EvidenceBroken, match=r"^0+13\.checkpoint in .* does not hold: the log does not go on from it"):
        store.checkpoint(anchored=anchor.checkpoints())
    assert [one.size for one in store.checkpoints()] == [7]


def test_an_old_backup_put_back(ring: KeyRing, tmp_path: Path) -> None:
    file, backup = tmp_path / "store.db", tmp_path / "backup.db"
    anchor = Folder(str(tmp_path / "elsewhere"))
    with Store(f"sqlite:///{file}") as store:
        store.ingest_many(run_event("RUNNING", run=str(i)) for i in range(5))
        anchor.keep(store.checkpoint().note)
    shutil.copy(file, backup)
    with Store(f"sqlite:///{file}") as store:
        store.ingest_many(run_event("RUNNING", run=f"later {i}") for i in range(5))
        anchor.keep(store.checkpoint().note)
    shutil.copy(backup, file)
    with Store(f"sqlite:///{file}") as store:
        assert store.verify().entries == 6
        shows((store, anchor), "the log has only 6 entries")
        store.ingest_many(run_event("RUNNING", run=f"other {i}") for i in range(5))
        store.checkpoint()
        assert store.verify().entries == 11
        shows((store, anchor), "the entries are not those that were signed")


def test_a_full_rewrite_signed_with_the_stolen_key(log: Opened, ring: KeyRing) -> None:
    """Whoever has the key and the database can write any history. Only the second place tells."""
    store, _ = log
    key = store.checkpoints()[0].key
    rewrite(store, {4: {"actor_id": "somebody else"}}, sign=ring)
    assert store.audit(before=5, limit=1)[0].actor_id == "somebody else"
    goes_unnoticed(log)
    goes_unnoticed(log, key=key)
    shows(log, r"^0+7\.checkpoint in .* does not hold: the entries are not those that were signed$")
    shows_in_a_run(log, r"^0+7\.checkpoint in .* does not hold: the entries are not those that were signed$")


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


def test_what_was_signed_and_removed_from_the_store_still_counts(log: Opened) -> None:
    tamper(log[0], "DELETE FROM checkpoint")
    assert log[0].verify(anchored=log[1].checkpoints()).checkpoints == 0


def test_the_anchor_itself_is_read_with_care(log: Opened) -> None:
    """Every byte of a checkpoint in the second place counts as well."""
    store, anchor = log
    file = next(Path(anchor.where).glob("*7.checkpoint"))
    content = file.read_bytes()
    for position in range(len(content)):
        file.write_bytes(content[:position] + bytes([content[position] ^ 1 << position % 8]) + content[position + 1 :])
        with pytest.raises(EvidenceBroken):
            store.verify(anchored=anchor.checkpoints(), events=False)
    file.write_bytes(content)
    store.verify(anchored=anchor.checkpoints())
