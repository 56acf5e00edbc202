"""The only legitimate deletion of a hot record is its expiry, which the log records. Any other change of records is
named: on both databases, for records that are hot, hot and archived, or only archived."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.sql.base import Executable

from headwater.client import Lineage
from headwater.errors import EvidenceBroken, HeadwaterError
from headwater.model.records import key_of_id, record_digest
from headwater.proof.canonical import canonical
from headwater.records.archive.single_root import archive_root
from headwater.records.ledger import Records
from headwater.store.records.evidence import EXPIRED, LOADED
from headwater.store.schema.record_tables import record_archived_root, record_expiry, record_hot, record_load
from headwater.store.schema.tables import audit
from tests.assurance.stores import tamper
from tests.records.conftest import loader
from tests.records.test_evidence import fill

HOT, LOAD, EXPIRY = record_hot.c, record_load.c, record_expiry.c


def archive(records: Records, root: str) -> None:
    archive_root(records.database, records.archive, root, now=records._now, within=lambda _: None)


def make_expirable(records: Records, root: str) -> None:
    with records.database.write() as conn:
        conn.execute(update(record_hot).where(HOT.root_id == root).values(ttl_expiry=0))


@pytest.fixture
def ledger(durable_url: str, tmp_path: Path) -> Iterator[tuple[Lineage, Records]]:
    """Root a is hot and archived, b has expired, c is only hot; a1 to b2 are of load 1, c1 and c2 of load 2."""
    with Lineage(durable_url) as lineage:
        records = fill(lineage, tmp_path)
        archive(records, "b")
        make_expirable(records, "b")
        assert records.archive.expire() == 2
        yield lineage, records


def hot(node: str) -> Any:
    return HOT.node_id == node


def values_of(conn: Connection, node: str) -> dict[str, Any]:
    return dict(conn.execute(select(record_hot).where(hot(node))).mappings().one())


def forged(root: str, node: str, location: str, load: int) -> dict[str, Any]:
    digest = record_digest(root, node, [root], "READ", location)
    keys = {"root_key": key_of_id(root), "node_key": key_of_id(node), "digest": digest}
    said = {"root_id": root, "node_id": node, "parent_ids": [root], "action_taken": "READ"}
    times = {"recorded_at": 86_400_000_000, "day": 1, "load": load, "ttl_expiry": 0}
    return {**keys, **said, "storage_location": location, **times}


FLIPPED: dict[str, dict[str, Any]] = {
    "location": {"storage_location": "s3://x/other"},
    "action": {"action_taken": "WROTE"},
    "time": {"recorded_at": HOT.recorded_at + 1},
    "day": {"day": HOT.day + 1},
    "root": {"root_id": "z"},
    "node": {"node_id": "z"},
    "parents": {"parent_ids": ["z"]},
    "root key": {"root_key": b"\0" * 16},
    "node key": {"node_key": b"\0" * 16},
    "digest": {"digest": b"\0" * 16},
    "load": {"load": 3 - HOT.load},
    "load of nobody": {"load": 9},
    "load from before": {"load": 0},
}


@pytest.mark.parametrize("what", FLIPPED)
@pytest.mark.parametrize("node", ["a1", "c1"])
def test_a_changed_record_is_named(ledger: tuple[Lineage, Records], node: str, what: str) -> None:
    lineage, _ = ledger
    lineage.verify()
    tamper(lineage, update(record_hot).where(hot(node)).values(**FLIPPED[what]))
    shown, root = ("z", node[0]) if what == "node" else (node, "z" if what == "root" else node[0])
    with pytest.raises(EvidenceBroken, match=rf"^The hot record {shown} of root {root} does not hold"):
        lineage.verify()


def test_a_deleted_record_is_named(ledger: tuple[Lineage, Records]) -> None:
    """By its ids if it is archived; by its digest if it was only hot."""
    lineage, _ = ledger
    tamper(lineage, delete(record_hot).where(hot("a1")))
    with pytest.raises(
        EvidenceBroken, match=r"^The hot record a1 of root a .* missing: load 1 .* the log has no expiry of it"
    ):
        lineage.verify()


def test_a_deleted_record_without_a_copy_is_named_by_its_load(ledger: tuple[Lineage, Records]) -> None:
    lineage, _ = ledger
    digest = record_digest("c", "c1", ["c"], "READ", "s3://x/c1").hex()
    tamper(lineage, delete(record_hot).where(hot("c1")))
    with pytest.raises(EvidenceBroken, match=rf"^Load 2 of records .* with the digest {digest} is missing"):
        lineage.verify()


@pytest.mark.parametrize(
    ("load", "reason"),
    [
        (1, "load 1 does not contain it"),
        (2, "load 2 does not contain it"),
        (3, "it is of load 3, which the log does not know"),
    ],
)
def test_an_inserted_record_is_named(ledger: tuple[Lineage, Records], load: int, reason: str) -> None:
    lineage, _ = ledger
    tamper(lineage, insert(record_hot).values(**forged("d", "d1", "s3://x/forged", load)))
    with pytest.raises(EvidenceBroken, match=rf"^The hot record d1 of root d does not hold: {reason}"):
        lineage.verify()


def test_an_expired_record_that_is_hot_again_is_named(ledger: tuple[Lineage, Records]) -> None:
    """Inserted again under its original load."""
    lineage, records = ledger
    with Lineage("memory://") as other:
        records_there = Records(other._database)
        records_there.send(
            {"root_id": "b", "action_taken": "READ", "node_id": "b1", "parent_id": "b", "storage_location": "s3://x/b1"}
        )
        loader(records_there).load(1)
        with other._database.read() as conn:
            values = values_of(conn, "b1")
    with records.database.read() as conn:
        (recorded_at,) = {row.recorded_at for row in conn.execute(select(HOT.recorded_at).where(hot("a1")))}
    values |= {"recorded_at": recorded_at, "day": recorded_at // 86_400_000_000, "load": 1}
    tamper(lineage, insert(record_hot).values(**values))
    with pytest.raises(EvidenceBroken, match=r"^The hot record b1 of root b does not hold: "):
        lineage.verify()


@pytest.mark.parametrize("column", ["load", "recorded_at", "storage_location", "digest", "node_id"])
def test_exchanged_records_are_named(ledger: tuple[Lineage, Records], column: str) -> None:
    lineage, records = ledger
    with records.database.read() as conn:
        one, other = values_of(conn, "a1"), values_of(conn, "c1")
    swapped: list[Executable] = [
        update(record_hot).where(hot("a1")).values({column: other[column]}),
        update(record_hot)
        .where(HOT.root_id == "c", HOT.storage_location == other["storage_location"])
        .values({column: one[column]}),
    ]
    tamper(lineage, *swapped)
    with pytest.raises(EvidenceBroken, match=r"^The hot record "):
        lineage.verify()


def send_again(records: Records) -> None:
    """b1, which has expired, is sent again: it is hot by load 3, and archived by load 1."""
    again = {"node_id": "b1", "parent_id": "b", "storage_location": "s3://x/b1"}
    records.send({"root_id": "b", "action_taken": "READ", "records": [again]})
    assert loader(records).load(10).loaded == 1


def test_a_record_that_was_sent_again_and_deleted_is_named(ledger: tuple[Lineage, Records]) -> None:
    """The archive has the same content by another load."""
    lineage, records = ledger
    send_again(records)
    lineage.verify()
    tamper(lineage, delete(record_hot).where(hot("b1")))
    with pytest.raises(EvidenceBroken, match=r"^The hot record b1 of root b does not hold: it is missing: load 3"):
        lineage.verify()


def test_a_record_that_was_sent_again_and_moved_to_its_first_load_is_named(ledger: tuple[Lineage, Records]) -> None:
    lineage, records = ledger
    with records.database.read() as conn:
        leaves = bytes(conn.execute(select(LOAD.leaves).where(LOAD.load == 1)).scalar_one())
    send_again(records)
    digest = record_digest("b", "b1", ["b"], "READ", "s3://x/b1")
    start = next(start for start in range(0, len(leaves), 32) if leaves[start : start + 16] == digest)
    first = int.from_bytes(leaves[start + 16 : start + 24], signed=True)
    values = {"load": 1, "recorded_at": first, "day": first // 86_400_000_000}
    tamper(lineage, update(record_hot).where(hot("b1")).values(**values))
    with pytest.raises(
        EvidenceBroken, match=r"^The hot record b1 of root b does not hold: according to the log it has expired"
    ):
        lineage.verify()


def test_it_verifies_when_a_record_expires_twice(ledger: tuple[Lineage, Records]) -> None:
    lineage, records = ledger
    send_again(records)
    make_expirable(records, "b")
    with records.database.write() as conn:
        conn.execute(update(record_archived_root).values(upto=99))
    assert records.archive.expire() == 1
    found = lineage.verify()
    assert found.records == 4 + 4
    assert not any("expiries were logged" in line for line in found.not_covered)


DAMAGED_EXPIRIES: dict[str, tuple[Executable, str]] = {
    "a byte": (update(record_expiry).values(expired=b"\0" * 48), r"^Expiry 1 of records .* hashes are not those"),
    "its number": (update(record_expiry).values(expiry=7), r"^Expiry 7 of records .* does not know it"),
    "its count": (update(record_expiry).values(records=7), r"^Expiry 1 of records .* hashes are not those"),
    "deleted": (delete(record_expiry), r"^Expiry 1 of records .* its hashes are missing"),
    "one more": (
        insert(record_expiry).values(expiry=2, records=0, expired=b""),
        r"^Expiry 2 of records does not hold: the log does not know it",
    ),
    "the log": (
        delete(audit).where(audit.c.event_type == EXPIRED),
        r"^(The audit log|Expiry 1 of records) does not hold",
    ),
    "a load's entry": (
        update(audit).where(audit.c.event_type == LOADED).values(details="{}"),
        r"^The audit log does not hold at entry",
    ),
}


@pytest.mark.parametrize("kind", DAMAGED_EXPIRIES)
def test_changes_of_expiries_are_named(ledger: tuple[Lineage, Records], kind: str) -> None:
    lineage, _ = ledger
    statement, words = DAMAGED_EXPIRIES[kind]
    tamper(lineage, statement)
    with pytest.raises(HeadwaterError, match=words):
        lineage.verify()


@pytest.mark.parametrize("what", ["flipped", "deleted", "inserted", "exchanged"])
def test_changes_of_archived_records_are_named(ledger: tuple[Lineage, Records], what: str) -> None:
    """By an attacker who writes readable files, and lists them in the store."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    lineage, records = ledger
    folder = Path(records.archive.location)
    first, second = (folder / file.path for file in records.archive.live_files("records"))
    table = pq.read_table(first)
    if what == "flipped":
        actions = pa.array(["WROTE"] * table.num_rows, table.schema.field("action_taken").type)
        changed = table.set_column(table.schema.get_field_index("action_taken"), "action_taken", actions)
    elif what == "deleted":
        changed = table.slice(1)
    else:
        changed = pa.concat_tables([table, table.slice(0, 1)])
    if what == "exchanged":
        shutil.move(first, folder / "aside")
        shutil.move(second, first)
        shutil.move(folder / "aside", second)
    else:
        pq.write_table(changed, first)
    with pytest.raises(EvidenceBroken, match=r"^The file records/.* of the archive does not hold: its SHA-256 differs"):
        lineage.verify()


def test_loads_of_older_versions_are_listed_as_not_covered(
    durable_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def before(details: Any) -> str:
        return canonical({name: value for name, value in details.items() if value != "logged"})

    monkeypatch.setattr("headwater.store.records.evidence.canonical", before)
    with Lineage(durable_url) as lineage:
        fill(lineage, tmp_path)
        tamper(lineage, delete(record_hot).where(hot("a1")))
        (line,) = [line for line in lineage.verify().not_covered if "expiries were logged" in line]
        assert "of 2 loads" in line
