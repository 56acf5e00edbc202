"""Verifying: the log, the records, and the graph against a fresh fold of all events.

    ./dev bench verify [ENTRIES] [RECORDS] [EVENTS]

A log and hot records, loaded 5,000 at a time, each verified alone (a million each by default); and events (20,000 by
default), of jobs that run again and again, taken in and then verified with the
graph and without it. SQLite.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

from benchmarks.harness import console, show
from benchmarks.log import fill as fill_log
from headwater.client import Lineage
from headwater.model.records import Record
from headwater.records.verify import verify_records
from headwater.store.records import hot
from headwater.store.records.archive import next_load
from headwater.store.schema.tables import OPEN

_AT_ONCE = 5_000
NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


def fill_records(lineage: Lineage, count: int) -> None:
    for first in range(0, count, _AT_ONCE):
        records = [
            Record(
                f"invoice-{number // 10}",
                f"node-{number}",
                (f"invoice-{number // 10}",),
                "CALCULATION_COMPLETE",
                f"s3://lake/calculated/2026/11/16/part-{number:06}.parquet",
                NOON + timedelta(microseconds=number),
            )
            for number in range(first, min(first + _AT_ONCE, count))
        ]
        with lineage._database.write() as conn:
            hot.load(conn, records, next_load(conn), OPEN)


def events(count: int) -> list[dict[str, object]]:
    return [
        {
            "eventType": "COMPLETE",
            "eventTime": (NOON + timedelta(seconds=number)).isoformat(),
            "producer": "urn:benchmark",
            "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
            "run": {"runId": f"00000000-0000-4000-8000-{number:012x}"},
            "job": {"namespace": "benchmark", "name": f"job-{number % 500}"},
            "inputs": [{"namespace": "lake", "name": f"in-{number % 500}-{place}"} for place in range(3)],
            "outputs": [{"namespace": "lake", "name": f"out-{number % 500}"}],
        }
        for number in range(count)
    ]


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main(entries: int, records: int, count: int) -> None:
    rows: list[list[object]] = []
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder)}/log.db"
        Lineage(url).close()
        fill_log(url, entries)
        with Lineage(url) as lineage:
            rows.append(
                [f"{entries:,} entries of the log", seconds(lambda: lineage.verify(events=False, records=False))]
            )
        with Lineage(f"sqlite:///{Path(folder)}/records.db") as lineage:
            fill_records(lineage, records)
            with lineage._database.read() as conn:
                rows.append([f"{records:,} hot records", seconds(lambda: verify_records(conn, None, None))])
        with Lineage(f"sqlite:///{Path(folder)}/events.db") as lineage:
            made = iter(events(count))
            taken_in = seconds(
                lambda: [lineage.ingest_many(some) for some in iter(lambda: list(islice(made, 500)), [])]
            )
            rows.append([f"{count:,} events taken in, 500 at a time", taken_in])
            rows.append([f"{count:,} events, without the graph", seconds(lambda: lineage.verify(graph=False))])
            rows.append([f"{count:,} events, with the graph", seconds(lineage.verify)])
    show("verified, once each", ("what", "seconds"), rows)
    console.print("One run; other work on the machine counts.")


if __name__ == "__main__":
    given = [int(one) for one in sys.argv[1:]]
    main(*(given + [1_000_000, 1_000_000, 20_000][len(given) :]))
