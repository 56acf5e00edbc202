"""The log: appending to it, verifying it whole, and proofs from it.

    ./dev bench log [ENTRIES] [sqlite postgresql]

Appending: an entry in a transaction of its own, on disk when the call returns; and a hundred to a transaction, as
threads that share commits and `headwater ingest` do. Both beside the bare insert of rows as long into a table of the
same database, the contestants taking turns. Verifying: every entry's hash, the chain, the tree, its tiles and
checkpoints, of a million entries. Proofs: of entries all over the log, each in a transaction of its own, and checked.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from sqlalchemy import Column, Connection, Integer, MetaData, Table, Text, insert

from benchmarks.harness import console, databases, interleaved, median_ms, show
from headwater.model.audit import Actor
from headwater.proof.keys import KeyRing
from headwater.proof.merkle import leaf_hash, verify_consistency, verify_inclusion
from headwater.store.engine.database import Database
from headwater.store.engine.prepared import together
from headwater.store.log import audit
from headwater.store.log.audit import INGESTED, Deed
from headwater.store.log.log_head import STANDING, Standing
from headwater.store.store import Store

ENTRIES = 1_000_000
ROUNDS = 5
SINGLE, BATCHES, BATCH = 500, 20, 100
PROOFS = 300
_BATCH = 20_000
_BARE = Table("bare", MetaData(), Column("id", Integer, primary_key=True), Column("body", Text))


def deed(number: int) -> Deed:
    """As long as those about a run's events are."""
    details = {
        "digest": f"sha256:{number:064x}",
        "event_time": "2026-11-16T06:05:00.123456+00:00",
        "event_type": "COMPLETE",
        "job": f"warehouse/orders_daily_{number % 1000}.insert_into_daily_revenue",
    }
    return Deed(INGESTED, "ingest", "run", f"01930f3e-{number:04x}-7bb5-8a2e-6d6b0d9d0f3a", details)


def actor(of: Deed) -> Actor:
    """A request for each entry, as one over HTTP is."""
    return Actor("spark", "service", correlation_id=f"request {of.resource_id}", user_agent="headwater/0.1")


def append(conn: Connection, deeds: Sequence[Deed]) -> None:
    ((told,),) = together(conn, [(STANDING, {})])
    audit.record(conn, Standing.told(told), [(actor(one), one) for one in deeds])


def fill(url: str, entries: int) -> float:
    """Seconds it took, in large transactions."""
    database = Database(url)
    start = time.perf_counter()
    for first in range(0, entries, _BATCH):
        with database.write() as conn:
            append(conn, [deed(number) for number in range(first, min(first + _BATCH, entries))])
    seconds = time.perf_counter() - start
    database.close()
    return seconds


def appending(kind: str, url: str) -> list[list[object]]:
    Store(url).close()
    database, body = Database(url), "x" * 600
    with database.write() as conn:
        _BARE.metadata.create_all(conn)

    def ours(batch: int, times: int) -> None:
        for _ in range(times):
            with database.write() as conn:
                append(conn, [deed(number) for number in range(batch)])

    def bare(batch: int, times: int) -> None:
        for _ in range(times):
            with database.write() as conn:
                conn.execute(insert(_BARE), [{"body": body}] * batch)

    rows: list[list[object]] = []
    for batch, times in ((1, SINGLE), (BATCH, BATCHES)):
        seconds = interleaved({"ours": partial(ours, batch, times), "bare": partial(bare, batch, times)}, ROUNDS)
        rates = [batch * times / statistics.median(seconds[who]) for who in ("ours", "bare")]
        rows.append([kind, batch, *(f"{rate:,.0f}" for rate in rates), rates[0] / rates[1]])
    database.close()
    return rows


def proving(store: Store, size: int) -> list[float]:
    """Seconds a proof takes; every one of them is checked."""
    chance, taken = random.Random(7), []
    for _ in range(PROOFS):
        seq, old = chance.randint(1, size), chance.randint(1, size)
        start = time.perf_counter()
        proof = store.inclusion(seq, size)
        taken.append(time.perf_counter() - start)
        path, root = [bytes.fromhex(one) for one in proof.path], bytes.fromhex(proof.root)
        assert verify_inclusion(leaf_hash(bytes.fromhex(proof.entry_hash)), seq - 1, size, path, root)
        start = time.perf_counter()
        grown = store.consistency(old, size)
        taken.append(time.perf_counter() - start)
        path = [bytes.fromhex(one) for one in grown.path]
        assert verify_consistency(old, size, path, bytes.fromhex(grown.old_root), bytes.fromhex(grown.new_root))
    return sorted(taken)


def main(entries: int, names: Sequence[str]) -> None:
    appended: list[Sequence[object]] = []
    verified: list[Sequence[object]] = []
    proved: list[Sequence[object]] = []
    with databases(names, copies=2) as urls, tempfile.TemporaryDirectory() as folder:
        for kind, (first, second) in urls.items():
            appended += appending(kind, first)
            Store(second).close()
            console.print(f"{kind}: appending {entries:,} entries …")
            console.print(f"{kind}: {entries / fill(second, entries):,.0f} a second, in transactions of {_BATCH:,}")
            with Store(second) as store:
                store.checkpoint(key=KeyRing.create(Path(folder) / f"{kind}.pem"))
                times = interleaved({"verify": partial(store.verify, events=False)}, 3)["verify"]
                verified.append([kind, f"{entries:,}", median_ms(times) / 1000, f"{entries * 3 / sum(times):,.0f}"])
                taken = proving(store, entries)
                proved.append([kind, f"{entries:,}", median_ms(taken), taken[-1] * 1000])
    show(
        f"appended entries a second, median of {ROUNDS} rounds",
        ("database", "in a transaction", "ours", "bare insert", "ours / bare"),
        appended,
    )
    show("verifying the whole log, median of 3", ("database", "entries", "seconds", "entries a second"), verified)
    show(f"{2 * PROOFS} proofs", ("database", "entries", "median ms", "slowest ms"), proved)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    count = int(arguments.pop(0)) if arguments and arguments[0].isdigit() else ENTRIES
    main(count, arguments or ["sqlite", "postgresql"])
