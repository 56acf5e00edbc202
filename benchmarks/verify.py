"""Verifying: the log and the records of one store, and the graph against a fresh fold of all events.

    ./dev bench verify [ENTRIES] [RECORDS] [EVENTS]

One store has entries of the log, each about an event, and records, a million of each by default. The records are loaded
5,000 at a time, on two days; the first day is archived, and half of it has expired. The events are stored without being
folded, because that takes long, so this store is verified without its graph. Another has events (20,000 by default)
that were taken in. SQLite, in files; each verification in this process and those that it starts, once.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import Connection, Table, insert

from benchmarks.harness import console, show
from headwater.client import Lineage
from headwater.formats.openlineage.event import Event, read_event
from headwater.model.audit import Actor
from headwater.model.names import Job
from headwater.model.records import Record
from headwater.records.archive.archive import ArchiveFile
from headwater.records.archive.files import column_digest
from headwater.records.archive.schemas import RECORDS
from headwater.store.engine.database import Database
from headwater.store.engine.prepared import together
from headwater.store.fold.ingest import entry_of
from headwater.store.log import audit
from headwater.store.log.log_head import STANDING, Standing
from headwater.store.records import hot
from headwater.store.records.archive import next_load
from headwater.store.records.scan import HotScan
from headwater.store.schema import tables
from headwater.store.schema.name_keys import key_of
from headwater.store.schema.tables import OPEN, to_micros

_AT_ONCE = 5_000
_BATCH = 20_000
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
    files, compaction, day = archive.storage(), archive.begin("compaction"), NOON.date()
    number = (day - date(1970, 1, 1)).days
    scan = HotScan(str(lineage.file), "sqlite", archive.watermark(), (number,))
    added: list[ArchiveFile] = []
    for part in scan.ranges(8):
        rows = pa.Table.from_batches(scan.batches(part))
        recorded = pc.divide(rows["recorded_at"].cast(pa.int64()), 1_000_000)
        table = rows.append_column("recordedAt", recorded).select(RECORDS.names).cast(RECORDS)
        path = compaction.path("records", day, len(added))
        size = files.write_table(path, table)
        digest = column_digest(table["digest"])
        added.append(ArchiveFile(path, "records", day, table.num_rows, digest, size))
    total = sum(file.rows for file in added)
    archive.commit(compaction, added=added, days={day: archive.watermark()}, rows=total, digest=bytes(16))
    return total


def events(first: int, last: int) -> list[dict[str, object]]:
    """Of jobs that run again and again."""
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
        for number in range(first, last)
    ]


def fill_log(url: str, count: int) -> None:
    """Events with their runs and jobs, and an entry about each; what they fold into is left out."""
    database = Database(url)
    jobs: dict[Job, int] = {}
    for first in range(0, count, _BATCH):
        read = [read_event(event) for event in events(first, min(first + _BATCH, count))]
        with database.write() as conn:
            ((row,),) = together(conn, [(STANDING, {})])
            standing = Standing.told(row)
            new = [named for named in dict.fromkeys(event.job for event in read) if named and named not in jobs]
            jobs |= {named: standing.next(tables.job) for named in new}
            _insert(conn, tables.job, [_job(named, jobs[named]) for named in new])
            rows = [_rows_of(event, standing, jobs) for event in read]
            _insert(conn, tables.run, [run for run, _ in rows])
            _insert(conn, tables.event, [event for _, event in rows])
            audit.record(conn, standing, [(Actor("spark", "service"), entry_of(event)) for event in read])
    database.close()


def _insert(conn: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
    if rows:
        conn.execute(insert(table), rows)


def _job(named: Job, number: int) -> dict[str, Any]:
    key = key_of(named.namespace, named.name)
    names = {"namespace": named.namespace, "name": named.name}
    return {"id": number, "key": key, **names, "owner": None, "facets": {}, "last_seen": 0}


def _rows_of(event: Event, standing: Standing, jobs: dict[Job, int]) -> tuple[dict[str, Any], dict[str, Any]]:
    assert event.job is not None
    assert event.run_id is not None
    run, job, at = standing.next(tables.run), jobs[event.job], to_micros(event.time)
    times = {"first_event_at": at, "last_event_at": at}
    known = {"key": key_of(event.run_id), "run_id": event.run_id, "job_id": job, "state": "COMPLETE", "stamps": {}}
    stored = {
        "id": standing.next(tables.event),
        "digest": event.digest,
        "kind": event.kind,
        "event_type": event.event_type,
        "event_time": at,
        "received_at": at,
        "run_id": run,
        "job_id": job,
        "body": event.body,
    }
    return {"id": run, **known, **times}, stored


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
            said = f"{records:,} records ({records - expired:,} hot, {archived:,} archived)"
            rows.append([f"the same and {said}", seconds(lambda: lineage.verify(events=False))])
            whole = seconds(lambda: lineage.verify(graph=False))
            rows.append([f"the same and the {entries:,} events that the entries are about", whole])
        with Lineage(f"sqlite:///{Path(folder)}/events.db") as lineage:
            made = iter(events(0, count))
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
