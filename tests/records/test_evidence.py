"""Every record, hot and archived, compared with the log: changed, deleted, inserted and exchanged ones are named."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from headwater.client import Lineage
from headwater.errors import EvidenceBroken
from headwater.model.records import record_digest
from headwater.records.archive.single_root import archive_root
from headwater.records.ledger import Records
from headwater.store.store import Store
from tests.assurance.stores import tamper
from tests.records.conftest import loader


def fill(lineage: Lineage, folder: Path) -> Records:
    """Two loads of three roots, one of which is archived; everything is still hot."""
    records = Records(lineage._database, archive=str(folder / "archive"))
    lineage.__dict__["_records"] = records
    for root in ("a", "b", "c"):
        records.send(
            {
                "root_id": root,
                "action_taken": "READ",
                "records": [
                    {"node_id": f"{root}1", "parent_id": root, "storage_location": f"s3://x/{root}1"},
                    {"node_id": f"{root}2", "parent_ids": [f"{root}1", root], "storage_location": f"s3://x/{root}2"},
                ],
            }
        )
    loading = loader(records)
    assert (loading.load(4).loaded, loading.load(4).loaded) == (4, 2)
    archive_root(records.database, records.archive, "a", now=records._now, within=lambda _: None)
    return records


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[tuple[Lineage, Records]]:
    with Lineage(f"sqlite:///{tmp_path}/store.db") as lineage:
        yield lineage, fill(lineage, tmp_path)


FORGED = record_digest("b", "b1", ["b"], "READ", "s3://x/forged").hex()
DAMAGE = {
    "a value": ("UPDATE record_hot SET storage_location = 'x' WHERE node_id = 'b1'", "^The hot record b1 of root b"),
    "a time": (
        "UPDATE record_hot SET recorded_at = recorded_at + 1 WHERE node_id = 'c1'",
        "^The hot record c1 .* does not contain it",
    ),
    "the order of parents": (
        """UPDATE record_hot SET parent_ids = '["c","c1"]' WHERE node_id = 'c2'""",
        "^The hot record c2 of root c does not hold: load 2 does not contain it",
    ),
    "a forged record": (
        f"UPDATE record_hot SET storage_location = 's3://x/forged', digest = x'{FORGED}' WHERE node_id = 'b1'",
        "^The hot record b1 of root b does not hold: load 1 does not contain it",
    ),
    "a deleted record": (
        "DELETE FROM record_hot WHERE node_id = 'b2'",
        "^Load 1 of records .* of its 4 records, the one with the digest [0-9a-f]{32} is missing",
    ),
    "its load": (
        "UPDATE record_hot SET load = 1 WHERE node_id = 'c1'",
        "^The hot record c1 .* load 1 does not contain it",
    ),
    "a load of nobody": (
        "UPDATE record_hot SET load = 9 WHERE node_id = 'c1'",
        "of load 9, which the log does not know",
    ),
    "a load from before": ("UPDATE record_hot SET load = 0 WHERE node_id = 'c1'", "of load 0, which the log does not"),
    "a day": ("UPDATE record_hot SET day = day + 1 WHERE node_id = 'b1'", "^The hot record b1 of root b"),
    "hashes of a load": ("UPDATE record_load SET leaves = zeroblob(32) WHERE load = 2", "^Load 2 of records .* hashes"),
    "a load's hashes": ("DELETE FROM record_load WHERE load = 2", "^Load 2 of records .* its hashes are missing"),
    "hashes of no load": ("INSERT INTO record_load VALUES (9, 0, x'')", "^Load 9 of records .* does not know it"),
    "a file's rows": (
        "UPDATE record_file SET rows = rows + 1 WHERE kind = 'records'",
        "^The file records/.* its rows is",
    ),
    "a file": ("DELETE FROM record_file WHERE kind = 'records'", "^The file records/.*the log names it"),
    "a file more": (
        "INSERT INTO record_file (path, kind, day, rows, digest, bytes, added_in) "
        "VALUES ('records/x', 'records', 1, 0, x'', 0, 'y')",
        "^The file records/x of the archive does not hold: the log does not name it",
    ),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_changes_of_tables_are_named(ledger: tuple[Lineage, Records], kind: str) -> None:
    lineage, _ = ledger
    statement, words = DAMAGE[kind]
    tamper(lineage, statement)
    with pytest.raises(EvidenceBroken, match=words):
        lineage.verify()
    assert lineage.verify(records=False).records is None


@pytest.mark.parametrize("kind", ["records", "traces"])
@pytest.mark.parametrize("what", ["a byte", "removed", "exchanged"])
def test_changes_of_files_are_named(ledger: tuple[Lineage, Records], kind: str, what: str) -> None:
    lineage, records = ledger
    archive_root(records.database, records.archive, "b", now=records._now, within=lambda _: None)
    folder = Path(records.archive.location)
    first, second = (folder / file.path for file in records.archive.live_files(kind))
    lineage.verify()
    if what == "a byte":
        data = bytearray(first.read_bytes())
        data[len(data) // 2] ^= 1
        first.write_bytes(data)
    elif what == "removed":
        first.unlink()
    else:
        shutil.copy(second, first)
    with pytest.raises(EvidenceBroken, match=rf"^The file {kind}/.* of the archive does not hold: "):
        lineage.verify()


def test_records_verify_from_load_to_expiry(ledger: tuple[Lineage, Records]) -> None:
    """Hot, hot and archived, only archived; and one that is sent again after it has expired, and expires again."""
    lineage, records = ledger
    found = lineage.verify()
    assert (found.records, found.archive_files) == (8, 2)
    for root in ("b", "c"):
        archive_root(records.database, records.archive, root, now=records._now, within=lambda _: None)
    with records.database.write() as conn:
        conn.execute(text("UPDATE record_hot SET ttl_expiry = 0"))
    assert records.archive.expire() == 6
    assert lineage.verify().records == 6
    again = {"node_id": "a1", "parent_id": "a", "storage_location": "s3://x/a1"}
    records.send({"root_id": "a", "action_taken": "READ", "records": [again, again]})
    assert loader(records).load(10).loaded == 2
    assert lineage.verify().records == 7
    with records.database.write() as conn:
        conn.execute(text("UPDATE record_hot SET ttl_expiry = 0"))
        conn.execute(text("UPDATE record_archived_root SET upto = 99"))
    assert records.archive.expire() == 1
    assert lineage.verify().records == 6


def test_records_without_digests_are_listed_as_not_covered(ledger: tuple[Lineage, Records]) -> None:
    """A store of an earlier version: no entries about loads and commits, no hashes."""
    lineage, records = ledger
    tamper(
        lineage,
        "DELETE FROM record_load",
        "DELETE FROM audit WHERE seq > (SELECT max(seq) FROM audit WHERE event_type = 'records.sent')",
        "DELETE FROM audit WHERE event_type <> 'records.sent'",
    )
    found = lineage.verify()
    assert any(line.startswith("8 records from before") for line in found.not_covered)
    assert any(line.startswith("2 archive files from before") for line in found.not_covered)
    archive_root(records.database, records.archive, "b", now=records._now, within=lambda _: None)
    assert any(line.startswith("2 archive files from before") for line in lineage.verify().not_covered)
    tamper(lineage, "DELETE FROM record_file WHERE path = (SELECT min(path) FROM record_file WHERE kind = 'traces')")
    with pytest.raises(EvidenceBroken, match=r"^The file traces/.*the log names it"):
        lineage.verify()


def test_on_both_databases(durable_url: str, tmp_path: Path) -> None:
    with Lineage(durable_url) as lineage:
        fill(lineage, tmp_path)
        assert lineage.verify().records == 8
        tamper(lineage, "UPDATE record_hot SET recorded_at = recorded_at + 1 WHERE node_id = 'c1'")
        with pytest.raises(EvidenceBroken, match=r"^The hot record c1 of root c does not hold"):
            lineage.verify()
        assert isinstance(lineage, Store)
