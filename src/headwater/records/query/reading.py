"""Records of a root, or those that are looked for, from the hot rows and the archive together, each once.

The hot rows are read first, then the list of files: a row that has expired in between is in one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headwater.errors import ArchiveUnusable
from headwater.model.records import EPOCH, FoundRecord, Record, key_of_id
from headwater.records.archive.archive import RECORDS as RECORD_FILES
from headwater.records.archive.archive import TRACES as TRACE_FILES
from headwater.records.archive.archive import Archive, ArchiveFile
from headwater.records.archive.schemas import MICROS, RECORDS
from headwater.store.engine.database import Database
from headwater.store.records import hot
from headwater.store.records.hot import RecordFilter
from headwater.store.schema.tables import from_micros


def hot_records_of_root(database: Database, root_id: str) -> pa.Table:
    with database.read() as conn:
        return _as_table(hot.columns_of_root(conn, root_id))


def archived_records_of_root(archive: Archive, root_id: str) -> pa.Table:
    return _scan(archive, archive.live_files(RECORD_FILES, root_key=key_of_id(root_id)), pc.field("root_id") == root_id)


def records_of_root(database: Database, archive: Archive, root_id: str) -> pa.Table:
    """Every record of a root that there is."""
    fresh = hot_records_of_root(database, root_id)
    return merge_records(archived_records_of_root(archive, root_id), fresh)


def merge_records(archived: pa.Table, fresh: pa.Table) -> pa.Table:
    """What is in both counts once, as it was archived."""
    return pa.concat_tables([archived, fresh.filter(pa.array(is_new(fresh, archived)))])


def is_new(fresh: pa.Table, archived: pa.Table) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which rows say something that no archived one does. A digest covers the root and the node as well."""
    there = pc.is_in(fresh["digest"], value_set=archived["digest"].combine_chunks())
    return ~np.asarray(there, dtype=bool)


def find_records(
    database: Database, rows: Sequence[Mapping[Any, Any]], archive: Archive, wanted: RecordFilter, limit: int
) -> list[FoundRecord]:
    """Hot rows that were found, and what the archive has besides; the newest first."""
    found = {bytes(row["digest"]): FoundRecord(hot.record_from_row(row), archived=False) for row in rows}
    files = archive.live_files(RECORD_FILES, root_key=None if wanted.root_id is None else key_of_id(wanted.root_id))
    if wanted.node_id is not None:
        files = archive.files_that_may_hold(files, [key_of_id(wanted.node_id)], kind="nodes")
    if wanted.since is not None:
        files = [file for file in files if file.day >= from_micros(wanted.since).date()]
    newest = _scan(archive, files, _condition(wanted))
    if newest.num_rows > limit:
        newest = newest.take(pc.select_k_unstable(newest, limit, sort_keys=[("recorded_at", "descending")]))
    for record, digest in zip(records_from_table(newest), newest["digest"].to_pylist(), strict=True):
        found.setdefault(digest, FoundRecord(record, archived=True))
    ordered = sorted(found.values(), key=lambda one: (one.record.root_id, one.record.node_id))
    chosen = sorted(ordered, key=lambda one: one.record.recorded_at, reverse=True)[:limit]
    if not chosen:
        return []
    with database.read() as conn:
        contents = hot.content_digests(conn, [one.record for one in chosen])
    for root, node, digest in _archived_contents(archive, [one.record for one in chosen]):
        contents.setdefault((root, node), set()).add(digest)
    return [
        replace(one, conflict=len(contents.get((one.record.root_id, one.record.node_id), ())) > 1) for one in chosen
    ]


def _archived_contents(archive: Archive, records: Sequence[Record]) -> Iterator[tuple[str, str, bytes]]:
    """(root, node, digest) of every content that the archive has of the nodes of these."""
    roots, nodes = sorted({one.root_id for one in records}), sorted({one.node_id for one in records})
    files = archive.files_that_may_hold(archive.live_files(RECORD_FILES), [key_of_id(root) for root in roots])
    files = archive.files_that_may_hold(files, [key_of_id(node) for node in nodes], kind="nodes")
    asked = pc.field("root_id").isin(roots) & pc.field("node_id").isin(nodes)
    found = _scan(archive, files, asked, ["root_id", "node_id", "digest"])
    yield from zip(*(found[name].to_pylist() for name in ("root_id", "node_id", "digest")), strict=True)


def sample_archived_roots(archive: Archive, most: int) -> list[str]:
    """Roots that the archive has, of the newest days first."""
    files, found = archive.storage() if archive.exists() else None, dict[str, None]()
    for file in reversed(archive.live_files(TRACE_FILES)):
        if files is None or len(found) >= most:
            break
        roots = files.read_table(file.path, columns=["root_id"])["root_id"]
        found.update(dict.fromkeys(roots.unique().to_pylist()))
    return list(found)[:most]


def _condition(wanted: RecordFilter) -> pc.Expression | None:
    terms = [
        pc.field(name) == value
        for name, value in (
            ("root_id", wanted.root_id),
            ("node_id", wanted.node_id),
            ("action_taken", wanted.action_taken),
        )
        if value is not None
    ]
    if wanted.location is not None:
        terms.append(pc.starts_with(pc.field("storage_location"), wanted.location))
    if wanted.since is not None:
        terms.append(pc.field("recorded_at") >= pa.scalar(wanted.since, pa.int64()).cast(MICROS))
    condition = None
    for term in terms:
        condition = term if condition is None else condition & term
    return condition


def _scan(
    archive: Archive, files: Sequence[ArchiveFile], condition: pc.Expression | None, columns: list[str] | None = None
) -> pa.Table:
    if not files:
        return RECORDS.empty_table()
    import pyarrow.dataset as ds  # it imports pandas where that is installed: a second that few commands need

    there = archive.storage()
    try:
        found = ds.dataset(
            [there.full_path(file.path) for file in files], schema=RECORDS, format="parquet", filesystem=there.system
        )
        return found.to_table(columns=columns, filter=condition)
    except OSError as error:
        raise ArchiveUnusable(f"The archive at {archive.location} cannot be read: {error}") from error


def _as_table(columns: Mapping[str, Sequence[Any]]) -> pa.Table:
    """Hot rows as the archive has them."""
    times = pa.array(columns["recorded_at"], pa.int64())
    made = {"recordedAt": pa.array(np.asarray(times) // 1_000_000), "recorded_at": times.cast(MICROS)}
    arrays = [made[f.name] if f.name in made else pa.array(columns[f.name], f.type) for f in RECORDS]
    return pa.Table.from_arrays(arrays, schema=RECORDS)


def records_from_table(table: pa.Table) -> list[Record]:
    names = ("root_id", "node_id", "parent_ids", "action_taken", "storage_location")
    times = table["recorded_at"].cast(pa.int64()).to_pylist()
    return [
        Record(root, node, tuple(parents), action, location, EPOCH + timedelta(microseconds=at))
        for root, node, parents, action, location, at in zip(
            *(table[name].to_pylist() for name in names), times, strict=True
        )
    ]
