"""Compaction of hot records by Spark, beside a DuckDB script that does the same for the small roots.

    ./dev bench records_compaction [--records 10_000_000] [--memory 2g] [--keep FOLDER]

A tenth of the records are one root, a thousand are one chain, the others are roots of nine records each, every tenth of
which has joins. Everything is in one SQLite store. What is timed of ours is all of `records compact` but the start of
Spark: reading, writing, reading back, tracing, the commit and the events of the run. The script reads the small roots
by the same reader, finds every leaf's ancestors by a recursive query, and writes records and traces as Parquet; it
verifies nothing and commits nothing. *From Parquet* is the script alone, with the records in a file that DuckDB reads.

Memory is the peak of what Spark's JVM and all its Python workers had resident together.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import duckdb

from benchmarks.harness import console, show
from benchmarks.overhead import session
from benchmarks.resources import TICKS
from headwater.records.archive.archive import Archive
from headwater.records.compaction.archive_attempt import CompactionOptions
from headwater.records.compaction.compaction import compact
from headwater.store.records.scan import HotScan
from headwater.store.store import Store

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
_CHAIN = 1_000
_SMALL = 9
_ROWS = """
    WITH named AS ({nodes})
    SELECT unhex(substr(sha256(root_id), 1, 32)) AS root_key, unhex(substr(sha256(node_id), 1, 32)) AS node_key,
        unhex(substr(sha256(root_id || ' ' || node_id), 1, 32)) AS digest, root_id, node_id,
        '["' || array_to_string(parents, '","') || '"]' AS parent_ids, 'STEP_' || (n % 7) AS action_taken,
        's3://bucket/day/' || root_id || '/' || n || '.parquet' AS storage_location,
        {noon} + (n % 3600) * 1000000 AS recorded_at, {day} AS day, 1 AS load, {noon} + 86400000000 AS ttl_expiry
    FROM named ORDER BY 1, 2
"""
_SMALL_ROOTS = f"""
    SELECT 'root-' || root AS root_id, 'node-' || root || '-' || n AS node_id, n,
        CASE WHEN n = 0 THEN ['root-' || root]
             WHEN n > 2 AND root % 10 = 0 THEN ['node-' || root || '-' || (n - 1), 'node-' || root || '-' || (n - 3)]
             ELSE ['node-' || root || '-' || ((n - 1) // 2)] END AS parents
    FROM range({{roots}}) r(root), range({_SMALL}) s(n)
"""
_LARGE_ROOT = """
    SELECT 'large' AS root_id, 'large-' || n AS node_id, n,
        CASE WHEN n = 0 THEN ['large'] ELSE ['large-' || ((n - 1) // 3)] END AS parents FROM range({large}) s(n)
"""
_LONG_CHAIN = """
    SELECT 'chain' AS root_id, 'chain-' || n AS node_id, n,
        CASE WHEN n = 0 THEN ['chain'] ELSE ['chain-' || (n - 1)] END AS parents FROM range({chain}) s(n)
"""
_SCRIPT = """
    CREATE TABLE edge AS
        SELECT c.root_id, c.node_id AS child, p.node_id AS parent
        FROM (SELECT root_id, node_id, unnest(parent_ids) AS parent FROM record) c
        JOIN record p ON p.root_id = c.root_id AND p.node_id = c.parent;
    CREATE TABLE leaf AS
        SELECT root_id, node_id FROM record r
        WHERE NOT EXISTS (FROM edge e WHERE e.root_id = r.root_id AND e.parent = r.node_id);
    CREATE TABLE way AS
        WITH RECURSIVE walk AS (
            SELECT root_id, node_id AS leaf, node_id, 0 AS distance FROM leaf
            UNION
            SELECT w.root_id, w.leaf, e.parent, w.distance + 1
            FROM walk w JOIN edge e ON e.root_id = w.root_id AND e.child = w.node_id)
        SELECT root_id, leaf, node_id, max(distance) AS distance FROM walk GROUP BY ALL;
    COPY (SELECT * FROM record) TO '{folder}/records.parquet' (COMPRESSION zstd);
    COPY (
        SELECT w.leaf AS record_id, w.root_id, list(struct_pack(node_id := r.node_id, parent_id := r.parent_ids[1],
            parent_ids := r.parent_ids, action_taken := r.action_taken, recordedAt := epoch(r.recorded_at)::BIGINT,
            recorded_at := r.recorded_at, storage_location := r.storage_location)
            ORDER BY w.distance DESC, r.recorded_at, r.node_id) AS lineage
        FROM way w JOIN record r ON r.root_id = w.root_id AND r.node_id = w.node_id GROUP BY ALL
    ) TO '{folder}/traces.parquet' (COMPRESSION zstd);
"""


def fill(url: str, records: int) -> None:
    """Rows as a worker would have loaded them, but in the order of their keys, which is quicker."""
    large = records // 10
    roots = (records - large - _CHAIN) // _SMALL
    nodes = " UNION ALL ".join((_SMALL_ROOTS, _LARGE_ROOT, _LONG_CHAIN))
    text = nodes.format(roots=roots, large=large, chain=_CHAIN)
    noon = int(NOON.timestamp())
    file = url.removeprefix("sqlite:///")
    Store(url).close()
    with duckdb.connect() as duck, closing(sqlite3.connect(file, isolation_level=None)) as store:
        indexes = store.execute("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'record_hot'")
        made = [(name, sql) for name, sql in indexes if sql]
        for name, _ in made:
            store.execute(f'DROP INDEX "{name}"')
        duck.execute(f"SET temp_directory = '{file}.duckdb'")
        duck.execute("SET enable_progress_bar = false")
        duck.execute(_ROWS.format(nodes=text, noon=noon * 1_000_000, day=noon // 86_400))
        store.execute("PRAGMA synchronous = OFF")
        store.execute("BEGIN")
        while rows := duck.fetchmany(100_000):
            store.executemany(f"INSERT INTO record_hot VALUES ({', '.join('?' * 12)})", rows)
        store.execute("INSERT INTO record_clock (id, load) VALUES (1, 1)")
        for _, sql in made:
            store.execute(sql)
        store.execute("COMMIT")


def by_duckdb(read: Callable[[duckdb.DuckDBPyConnection], object], folder: Path) -> tuple[float, float]:
    """Seconds, and processor seconds."""
    folder.mkdir()
    start, spent = time.perf_counter(), time.process_time()
    with duckdb.connect(config={"threads": 2, "temp_directory": str(folder / "spill")}) as duck:
        duck.execute("SET enable_progress_bar = false")
        read(duck)
        duck.execute(_SCRIPT.format(folder=folder))
    return time.perf_counter() - start, time.process_time() - spent


def small_by_reader(file: str) -> Callable[[duckdb.DuckDBPyConnection], None]:
    """The hot rows but for the large ones, by the reader that Spark's tasks use."""

    def read(duck: duckdb.DuckDBPyConnection) -> None:
        scan = HotScan(file, "sqlite", 1, archived_too=True)
        made = False
        for batch in scan.batches(scan.ranges(1)[0]):
            duck.register("batch", batch)
            into = "INSERT INTO record" if made else "CREATE TABLE record AS"
            duck.execute(f"{into} SELECT * FROM batch WHERE root_id NOT IN ('large', 'chain')")
            made = True

    return read


def small_from_parquet(file: Path) -> Callable[[duckdb.DuckDBPyConnection], object]:
    return lambda duck: duck.execute(f"CREATE TABLE record AS SELECT * FROM '{file}'")


@dataclass
class Use:
    """Of all processes below this one: the peak of what they had resident, in MiB, and their processor seconds."""

    peak: float = 0.0
    processor: float = 0.0


@contextmanager
def watched() -> Iterator[Use]:
    use, over = Use(), threading.Event()
    before = _processor_seconds()

    def look() -> None:
        while not over.wait(0.5):
            use.peak = max(use.peak, sum(map(_resident, _below(os.getpid()))))

    watching = threading.Thread(target=look, daemon=True)
    watching.start()
    try:
        yield use
    finally:
        use.processor = _processor_seconds() - before
        over.set()
        watching.join()


def _processor_seconds() -> float:
    """This process too, and workers that have come and gone."""
    return sum(sum(map(int, _stat(pid)[11:15])) for pid in (os.getpid(), *_below(os.getpid()))) / TICKS


def _below(pid: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        children.setdefault(int(_stat(int(folder.name))[1]), []).append(int(folder.name))
    found, waiting = [], [pid]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def _stat(pid: int) -> list[str]:
    """From the state on; zeros of one that has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return ["0"] * 15


def _resident(pid: int) -> float:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    except OSError:
        return 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=10_000_000)
    parser.add_argument("--memory", default="2g", help="of Spark's JVM")
    parser.add_argument("--keep", type=Path, help="a folder to leave everything in; a store in it is used")
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="headwater-bench-")) if asked.keep is None else asked.keep.absolute()
    folder.mkdir(exist_ok=True)
    file = folder / "store.db"
    try:
        small = (asked.records - asked.records // 10 - _CHAIN) // _SMALL * _SMALL
        if not file.exists():
            fill(f"sqlite:///{file}", asked.records)
        console.print(f"{asked.records:,} records, {small:,} of them in small roots; {file.stat().st_size >> 20:,} MiB")
        said: list[tuple[str, float]] = []
        options = CompactionOptions(on_progress=lambda step: said.append((step, time.perf_counter())))
        with session("records", {"spark.driver.memory": asked.memory}) as spark:
            spark.range(10).count()
            # The day is asked for by name, and its time is not over: the hot rows stay, for the script.
            with Store(f"sqlite:///{file}") as store, watched() as use:
                start = time.perf_counter()
                done = compact(store, spark, now=NOON - timedelta(hours=1), day=NOON.date(), options=options)
                ours = time.perf_counter() - start
                size = sum(each.bytes for each in Archive(store._database).live_files())
        for (step, at), (_, end) in pairwise([*said, ("", start + ours)]):
            console.print(f"  {step}: {end - at:.1f} s")
        script = by_duckdb(small_by_reader(str(file)), folder / "script")
        alone = by_duckdb(small_from_parquet(folder / "script" / "records.parquet"), folder / "alone")
        rows = [
            ["compaction", f"{ours:.1f}", f"{use.processor:.1f}", f"{done.archived / ours:,.0f}"],
            ["script for the small roots", *map("{:.1f}".format, script), f"{small / script[0]:,.0f}"],
            ["the same, from Parquet", *map("{:.1f}".format, alone), f"{small / alone[0]:,.0f}"],
            ["compaction / script", f"{ours / script[0]:.2f}", f"{use.processor / script[1]:.2f}", ""],
        ]
        columns = ["", "s", "processor s", "records/s"]
        show(f"records compact, {asked.records:,} records, {asked.memory} for Spark's JVM", columns, rows)
        console.print(
            f"{done.archived:,} records and {done.traces:,} traces in {size / 2**20:,.0f} MiB; "
            f"Spark had {use.peak:,.0f} MiB resident at its peak"
        )
    finally:
        if asked.keep is None:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
