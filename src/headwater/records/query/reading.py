"""Reads the records of a root, or those that match a search, from hot rows and archive together, each once.

The hot rows are read first, then the list of files: a row that has expired in between is in one of the files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from headwater.errors import ArchiveUnusable
from headwater.model.record_schema import CONTENT_NAMES, PARENTS, with_parents
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
    """All records of a root."""
    fresh = hot_records_of_root(database, root_id)
    return merge_records(archived_records_of_root(archive, root_id), fresh)


def merge_records(archived: pa.Table, fresh: pa.Table) -> pa.Table:
    """All records of both; one that is in both is taken from the archive."""
    return pa.concat_tables([archived, fresh.filter(pa.array(is_new(fresh, archived)))])


def is_new(fresh: pa.Table, archived: pa.Table) -> NDArray[np.bool_]:
    """Which rows are not archived yet, by their digests, which cover the root and the node as well."""
    is_archived = pc.is_in(fresh["digest"], value_set=archived["digest"].combine_chunks())
    return ~np.asarray(is_archived, dtype=bool)


def find_records(
    database: Database,
    hot_matches: Sequence[tuple[bytes, Record]],
    archive: Archive,
    criteria: RecordFilter,
    limit: int,
) -> list[FoundRecord]:
    """The matching hot records, given by their stored digest, together with those of the archive, the newest first."""
    by_digest = {digest: FoundRecord(record, archived=False) for digest, record in hot_matches}
    files = archive.live_files(RECORD_FILES, root_key=None if criteria.root_id is None else key_of_id(criteria.root_id))
    if criteria.node_id is not None:
        files = archive.files_that_may_hold(files, [key_of_id(criteria.node_id)], kind="nodes")
    if criteria.since is not None:
        files = [file for file in files if file.day >= from_micros(criteria.since).date()]
    newest = _scan(archive, files, _condition(criteria))
    if newest.num_rows > limit:
        newest = newest.take(pc.select_k_unstable(newest, limit, sort_keys=[("recorded_at", "descending")]))
    for record, digest in zip(records_from_table(newest), newest["digest"].to_pylist(), strict=True):
        by_digest.setdefault(digest, FoundRecord(record, archived=True))
    ordered = sorted(by_digest.values(), key=lambda match: (match.record.root_id, match.record.node_id))
    chosen = sorted(ordered, key=lambda match: match.record.recorded_at, reverse=True)[:limit]
    if not chosen:
        return []
    with database.read() as conn:
        contents = hot.content_digests(conn, [match.record for match in chosen])
    for root, node, digest in _archived_contents(archive, [match.record for match in chosen]):
        contents.setdefault((root, node), set()).add(digest)
    return [
        replace(match, conflict=len(contents.get((match.record.root_id, match.record.node_id), ())) > 1)
        for match in chosen
    ]


def _archived_contents(archive: Archive, records: Sequence[Record]) -> Iterator[tuple[str, str, bytes]]:
    """(root, node, digest) of every archived content of the nodes of these records."""
    roots, nodes = sorted({record.root_id for record in records}), sorted({record.node_id for record in records})
    files = archive.files_that_may_hold(archive.live_files(RECORD_FILES), [key_of_id(root) for root in roots])
    files = archive.files_that_may_hold(files, [key_of_id(node) for node in nodes], kind="nodes")
    condition = pc.field("root_id").isin(roots) & pc.field("node_id").isin(nodes)
    contents = _scan(archive, files, condition, ["root_id", "node_id", "digest"])
    yield from zip(*(contents[name].to_pylist() for name in ("root_id", "node_id", "digest")), strict=True)


def sample_archived_roots(archive: Archive, limit: int) -> list[str]:
    """Up to ``limit`` archived roots, those of the newest days first."""
    storage, roots = archive.storage() if archive.exists() else None, dict[str, None]()
    for file in reversed(archive.live_files(TRACE_FILES)):
        if storage is None or len(roots) >= limit:
            break
        column = storage.read_table(file.path, columns=["root_id"])["root_id"]
        roots.update(dict.fromkeys(column.unique().to_pylist()))
    return list(roots)[:limit]


def _condition(criteria: RecordFilter) -> pc.Expression | None:
    terms = [
        pc.field(name) == value
        for name, value in (
            ("root_id", criteria.root_id),
            ("node_id", criteria.node_id),
            ("action_taken", criteria.action_taken),
        )
        if value is not None
    ]
    if criteria.location is not None:
        terms.append(pc.starts_with(pc.field("storage_location"), criteria.location))
    if criteria.since is not None:
        terms.append(pc.field("recorded_at") >= pa.scalar(criteria.since, pa.int64()).cast(MICROS))
    condition = None
    for term in terms:
        condition = term if condition is None else condition & term
    return condition


def _scan(
    archive: Archive, files: Sequence[ArchiveFile], condition: pc.Expression | None, columns: list[str] | None = None
) -> pa.Table:
    if not files:
        return RECORDS.empty_table()
    import pyarrow.dataset as ds  # imports pandas where that is installed: a second that few commands need

    storage = archive.storage()
    try:
        dataset = ds.dataset(
            [storage.full_path(file.path) for file in files],
            schema=RECORDS,
            format="parquet",
            filesystem=storage.system,
        )
        return dataset.to_table(columns=columns, filter=condition)
    except OSError as error:
        raise ArchiveUnusable(f"The archive at {archive.location} cannot be read: {error}") from error


def _as_table(columns: Mapping[str, Sequence[object]]) -> pa.Table:
    """Hot rows with the schema of the archive."""
    times = pa.array(columns["recorded_at"], pa.int64())
    computed = {"recordedAt": pa.array(np.asarray(times) // 1_000_000), "recorded_at": times.cast(MICROS)}
    arrays = [computed[f.name] if f.name in computed else pa.array(columns[f.name], f.type) for f in RECORDS]
    return pa.Table.from_arrays(arrays, schema=RECORDS)


def records_from_table(table: pa.Table) -> list[Record]:
    content = [table[name].to_pylist() for name in CONTENT_NAMES]
    columns = with_parents(content, map(tuple, content[PARENTS]))
    times = [EPOCH + timedelta(microseconds=micros) for micros in table["recorded_at"].cast(pa.int64()).to_pylist()]
    return [Record(*values) for values in zip(*columns, times, strict=True)]
