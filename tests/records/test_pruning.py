"""Which files are opened: those that may contain the key, and older ones without filters."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import delete

from headwater.model.records import key_of_id
from headwater.records.archive.archive import ArchiveFile
from headwater.records.archive.files import keys_of_file
from headwater.records.executor.bloom_filter import BloomFilter
from headwater.records.executor.file_totals import total_files
from headwater.records.ledger import Records
from headwater.records.query import reading
from headwater.store.schema.record_tables import record_file_keys
from tests.records.conftest import Clock, load_all
from tests.records.test_queue import request
from tests.records.test_tracing import archive

ROOTS = [f"root-{number}" for number in range(12)]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of files that each scan gets."""
    counts: list[int] = []
    real = reading._scan

    def scan(there: object, files: list[ArchiveFile], *more: object, **options: object) -> object:
        counts.append(len(files))
        return real(there, files, *more, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(reading, "_scan", scan)
    return counts


@pytest.mark.parametrize("known", [True, False], ids=["keys", "an archive of before"])
def test_only_files_that_may_contain_the_key_are_opened(
    records: Records, clock: Clock, opened: list[int], known: bool
) -> None:
    for root in ROOTS:
        records.send([request(f"{root}/a", root=root), request(f"{root}/b", root=root)])
    load_all(records)
    for root in ROOTS:
        archive(records, root)
    clock.on(25 * 3600)
    records.archive.expire()
    if not known:
        with records.database.write() as conn:
            conn.execute(delete(record_file_keys))
    opened.clear()
    assert {step.node_id for step in records.trace("root-3").records} == {"root-3/a", "root-3/b"}
    assert [one.record.root_id for one in records.find(node="root-5/b")] == ["root-5"]
    assert len(records.find(root="root-7")) == 2
    assert max(opened) == (1 if known else len(ROOTS))
    assert min(opened) == (1 if known else len(ROOTS))
    assert records.find(node="nobody") == []


names = st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=200)


@settings(deadline=None)
@given(names, names)
def test_a_bloom_filter_has_no_false_negatives(some: list[str], others: list[str]) -> None:
    one, other = keys_of_file(some, others), keys_of_file(others, some)
    keys = [key_of_id(name) for name in some]
    roots = BloomFilter(one.roots)
    both = roots.union(BloomFilter(other.roots))
    assert all(roots.might_contain([key]) for key in keys)
    assert all(both.might_contain([key_of_id(name)]) for name in [*some, *others])
    assert (one.low, one.high) == (min(keys), max(keys))
    assert other.nodes is not None
    assert BloomFilter(other.nodes).might_contain(keys)


def test_a_bloom_filter_has_few_false_positives() -> None:
    roots = BloomFilter(keys_of_file(f"root-{number}" for number in range(20_000)).roots)
    assert len(roots.bits) <= 2 * 20_000
    through = sum(roots.might_contain([key_of_id(f"other-{number}")]) for number in range(5_000))
    assert through < 5_000 * 0.05


def test_spark_and_python_compute_the_same_filter() -> None:
    import pyarrow as pa

    roots, nodes = [f"r{i // 3}" for i in range(50)], [f"n{i}" for i in range(50)]
    rows = {
        "file": ["f"] * 50,
        "digest": [key_of_id(node) for node in nodes],
        "high": list(range(50)),
        "low": [1] * 50,
        "root_key": [key_of_id(root) for root in roots],
        "node_key": [key_of_id(node) for node in nodes],
    }
    batch = pa.RecordBatch.from_pydict(rows)
    (told,) = next(iter(total_files([batch.slice(0, 20), batch.slice(20)]))).to_pylist()
    ours = keys_of_file(dict.fromkeys(roots), nodes)
    assert (told["rows"], told["high"], told["low"]) == (50, sum(range(50)), 50)
    assert (told["first"], told["last"], told["nodes"]) == (ours.low, ours.high, ours.nodes)
    of_roots = BloomFilter(told["roots"])
    assert all(of_roots.might_contain([key_of_id(root)]) for root in roots)
