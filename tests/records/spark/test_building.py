"""Spark's traces of small and large roots equal those of the kernel and of the oracle."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater.records.compaction.hadoop_fs import HadoopFolder, ScratchFolder
from headwater.records.compaction.spark_sessions import ledger_session
from headwater.records.tracing import distributed, walking
from headwater.records.tracing.kernel import FinalStep, trace_table
from headwater.records.tracing.spark_traces import trace_records
from tests.records.oracle import LoadedRecord, expected, record, table

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

FINISH = FinalStep(datetime(2026, 11, 17, 1, tzinfo=UTC), "/archive")
Traced = dict[tuple[str, str], dict[str, Any]]


def ledger(seed: int, roots: int) -> list[LoadedRecord]:
    """Trees, joins, orphans, cycles and conflicts, and ids whose order differs from their text."""
    chance = random.Random(seed)
    rows = []
    for number in range(roots):
        root = f"root-{seed}-{number}"
        names = [*(f"n{i}" for i in range(chance.choice([1, 2, 5, 12]))), "é", "🜂", root]
        for place, name in enumerate(names):
            wild = chance.random() < 0.2
            before = names if wild else [*names[:place], root]
            parents = {chance.choice(before) for _ in range(chance.choice([1, 1, 2, 3]))}
            parents |= {"lost"} if chance.random() < 0.05 else set()
            for load in [1, 2] if chance.random() < 0.1 else [1]:
                action = chance.choice(["STEP", "OTHER"])
                at = chance.choice([0, 1.5, 40_000, 90_000])
                rows.append(record(name, *sorted(parents), root=root, action=action, at=at, load=load))
    return rows


def chain(root: str, length: int) -> list[LoadedRecord]:
    return [record(f"{i:05}", f"{i - 1:05}" if i else root, root=root, at=i) for i in range(length)]


def traces_by_spark(spark: SparkSession, folder: Path, rows: pa.Table, big: int) -> Traced:
    import pyarrow.parquet as pq

    pq.write_table(rows, folder / "rows.parquet")
    spark = ledger_session(spark)
    scratch = ScratchFolder(HadoopFolder(spark, str(folder)), "scratch")
    frame = spark.read.parquet(str(folder / "rows.parquet"))
    trace_records(frame, rows.num_rows, FINISH, big, scratch).write.parquet(str(folder / "traces"))
    return by_leaf(pq.read_table(folder / "traces"))


def by_leaf(answer: pa.Table) -> Traced:
    rows = answer.to_pylist()
    found = {(row["root_id"], row["record_id"]): row for row in rows}
    assert len(found) == len(rows)
    return found


def check(found: Traced, loaded: list[LoadedRecord]) -> None:
    wanted = expected(loaded)
    assert found.keys() == wanted.keys()
    for leaf, row in found.items():
        assert [step["node_id"] for step in row["lineage"][:-1]] == wanted[leaf]["lineage"]
        assert {name: row[name] for name in ("orphans", "cycle", "conflicts")} == {
            name: wanted[leaf][name] for name in ("orphans", "cycle", "conflicts")
        }
    assert found == by_leaf(trace_table(table(loaded), finished=FINISH))


def sizes(quick: tuple[int, int], long: tuple[int, int]) -> pytest.MarkDecorator:
    """The number of roots, and the depth of the deepest: jobs and the oracle take longer with each step."""
    return pytest.mark.parametrize(("roots", "depth"), [quick, pytest.param(*long, marks=pytest.mark.long)])


@sizes((150, 80), (150, 300))
def test_small_roots_are_traced_by_the_kernel(spark: SparkSession, tmp_path: Path, roots: int, depth: int) -> None:
    loaded = [*ledger(1, roots), *chain("deep", depth)]
    check(traces_by_spark(spark, tmp_path, table(loaded), big=1_000), loaded)


@sizes((80, 10), (150, 40))
def test_large_roots_are_traced_by_joins(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, roots: int, depth: int
) -> None:
    """All but the smallest count as large here: many graphs at once, with cycles, and a chain that is deep for that."""
    monkeypatch.setattr(distributed, "_CYCLE_CHECK_AFTER", 3)
    loaded = [*ledger(2, roots), *chain("deep", depth)]
    check(traces_by_spark(spark, tmp_path, table(loaded), big=4), loaded)


def ladder(root: str, length: int) -> list[LoadedRecord]:
    """Every node is made of the two before it: the number of paths grows exponentially."""
    return [record(f"{i}", *([f"{j}" for j in (i - 1, i - 2) if j >= 0] or [root]), root=root) for i in range(length)]


def lanes(root: str, wide: int) -> list[LoadedRecord]:
    """``wide`` chains of 200 records; every tenth record has a parent in the next chain as well."""

    def parents(i: int) -> list[str]:
        found = [i - wide, *([i - wide + 1] if i // wide % 10 == 9 else [])]
        return [f"{j}" for j in found if j >= 0] or [root]

    return [record(f"{i}", *parents(i), root=root, at=i % 50) for i in range(200 * wide)]


@pytest.mark.parametrize(
    ("length", "other", "max_links"),
    [
        (10, 6, 11),
        pytest.param(14, 9, 20, marks=pytest.mark.long),
        pytest.param(14, 9, 1_000, marks=pytest.mark.long),
    ],
    ids=["one by levels and one by tasks", "by levels", "by tasks"],
)
def test_branching_and_joining_paths(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, length: int, other: int, max_links: int
) -> None:
    """Powers of these grow, and are abandoned. Also with a cycle, and with a leaf without parents."""
    monkeypatch.setattr(distributed, "_MAX_GROWTH", 1)
    monkeypatch.setattr(walking, "MAX_LINKS_IN_TASK", max_links)
    monkeypatch.setattr(walking, "_MAX_LEVEL_FRAMES", 5)
    loaded = [*ladder("ladder", length), *ladder("other", other)]
    for root in ("ladder", "other"):
        loaded += [record("x", "y", "3", root=root), record("y", "x", root=root), record("alone", root=root)]
    walks = tmp_path / "walked"
    real = walking.walk_ancestors

    def walk(*told: Any) -> Any:
        walks.mkdir()
        return real(*told)

    monkeypatch.setattr(distributed, "walk_ancestors", walk)
    check(traces_by_spark(spark, tmp_path, table(loaded), big=4), loaded)
    assert walks.exists()


@pytest.mark.parametrize(
    "shape",
    [
        pytest.param(ladder("ladder", 3_000), id="ladder"),
        pytest.param(lanes("lanes", 20), id="lanes"),
        pytest.param(lanes("lanes", 100), id="many lanes", marks=pytest.mark.long),
    ],
)
def test_a_large_root_with_joins(spark: SparkSession, tmp_path: Path, shape: list[LoadedRecord]) -> None:
    rows = table(shape)
    assert traces_by_spark(spark, tmp_path, rows, big=1_000) == by_leaf(trace_table(rows, finished=FINISH))


@pytest.mark.long
def test_a_large_tree_and_a_deep_chain(spark: SparkSession, tmp_path: Path) -> None:
    """Deep enough for the search for cycles, of which there are none."""
    tree = [record(f"{i}", f"{(i - 1) // 3}" if i else "tree", root="tree", at=i % 1_000) for i in range(50_000)]
    rows = table([*tree, *chain("deep", 1_500)])
    assert traces_by_spark(spark, tmp_path, rows, big=1_000) == by_leaf(trace_table(rows, finished=FINISH))
