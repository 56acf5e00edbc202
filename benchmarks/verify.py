"""Verifying: the log and the records of one store, and the graph against a fresh fold of all events.

    ./dev bench verify [ENTRIES] [RECORDS] [EVENTS]

One store has entries of the log and records, a million of each by default. The records are loaded 5,000 at a time, on
two days; the first day is archived, and half of it has expired. Another has events (20,000 by default) of jobs that run
again and again. SQLite, in files; each verification in this process and those that it starts, once.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.harness import console, show
from benchmarks.log import fill as fill_log
from headwater.client import Lineage
from headwater.model.records import Record
from headwater.records.archive.archive import ArchiveFile
from headwater.records.archive.files import digest_of_column
from headwater.records.archive.schemas import RECORDS
from headwater.store.records import hot
from headwater.store.records.archive import next_load
from headwater.store.records.scan import Scan
from headwater.store.schema.tables import OPEN

_AT_ONCE = 5_000
NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


def fill_records(lineage: Lineage, count: int) -> None:
    """Half of them of one day, of which half may expire at once, and half of the next."""
    for first in range(0, count, _AT_ONCE):
        day = timedelta(days=int(first >= count // 2))
        records = [
            Record(
                f"invoice-{number // 10}",
                f"node-{number}",
                (f"invoice-{number // 10}",),
                "CALCULATION_COMPLETE",
                f"s3://lake/calculated/2026/11/16/part-{number:06}.parquet",
                NOON + day + timedelta(microseconds=number),
            )
            for number in range(first, min(first + _AT_ONCE, count))
        ]
        with lineage._database.write() as conn:
            hot.load(conn, records, next_load(conn), 0 if first < count // 4 else OPEN)


def archive_first_day(lineage: Lineage) -> int:
    """As a compaction does, in one commit, without Spark and without traces; how many records."""
    archive = lineage.records.archive
    files, compaction, day = archive.files(), archive.begin("compaction"), NOON.date()
    number = (day - date(1970, 1, 1)).days
    scan = Scan(str(lineage.file), True, archive.watermark(), (number,))
    added: list[ArchiveFile] = []
    for part in scan.ranges(8):
        rows = pa.Table.from_batches(scan.batches(part))
        recorded = pc.divide(rows["recorded_at"].cast(pa.int64()), 1_000_000)
        table = rows.append_column("recordedAt", recorded).select(RECORDS.names).cast(RECORDS)
        path = compaction.path("records", day, len(added))
        size = files.write_table(path, table)
        digest = digest_of_column(table["digest"])
        added.append(ArchiveFile(path, "records", day, table.num_rows, digest, size))
    total = sum(file.rows for file in added)
    archive.commit(compaction, added=added, days={day: archive.watermark()}, rows=total, digest=bytes(16))
    return total


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
        url = f"sqlite:///{Path(folder)}/records.db"
        with Lineage(url) as lineage:
            fill_records(lineage, records)
            archived = archive_first_day(lineage)
            expired = lineage.records.archive.expire()
        fill_log(url, entries)
        with Lineage(url) as lineage:
            log = seconds(lambda: lineage.verify(events=False, records=False))
            rows.append([f"{entries:,} entries of the log", log])
            whole = seconds(lambda: lineage.verify(events=False))
            said = f"{records:,} records ({records - expired:,} hot, {archived:,} archived)"
            rows.append([f"{entries:,} entries of the log and {said}", whole])
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
