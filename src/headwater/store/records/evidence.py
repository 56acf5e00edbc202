"""Evidence of records: the log has a digest of what each load inserted and of each file of the archive.

A record is a *leaf* of 32 bytes: its own digest, which covers its content but not its time and the order of its
parents, and 16 bytes for these two. The leaves of a load are sorted in ``record_load``; the log entry of the load has
the SHA-256 over them. So what the load inserted is known record by record, wherever the records are by now.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, Text, func, insert, select, type_coerce

from headwater.errors import EvidenceBroken
from headwater.model.audit import Actor
from headwater.model.record_schema import CONTENT_NAMES
from headwater.proof.canonical import canonical
from headwater.store.engine.prepared import Prepared
from headwater.store.fold.named_rows import stream
from headwater.store.log.audit import Deed
from headwater.store.log.audit import record as record_deeds
from headwater.store.log.log_head import GENESIS, Standing
from headwater.store.schema.record_tables import record_file, record_hot, record_load
from headwater.store.schema.tables import audit

LOADED, ARCHIVED = "records.loaded", "records.archived"
LEAF_BYTES = 32
WORKER = Actor("headwater", "service")
"""The actor of loads and commits: who started the worker or the compaction is not known here."""

_INSERT = Prepared(insert(record_load))
_KEY_COLUMNS = ("root_key", "node_key", "digest", "recorded_at", "day", "load")
_HOT = select(
    *(record_hot.c[name] for name in _KEY_COLUMNS),
    *(type_coerce(record_hot.c[name], Text) for name in CONTENT_NAMES),
)
_LOG_HEAD = Prepared(select(audit.c.seq, audit.c.hash).order_by(audit.c.seq.desc()).limit(1))


def hot_rows(conn: Connection) -> Iterator[tuple[Any, ...]]:
    """Every hot record as the driver returns it: keys, digest, time, day and load, then its content with the parents
    as JSON."""
    return stream(conn, _HOT)


def count_hot(conn: Connection) -> int:
    return conn.scalar(select(func.count()).select_from(record_hot)) or 0


def record_leaf(digest: bytes, micros: int, parents: Sequence[str]) -> bytes:
    moment = micros.to_bytes(8, signed=True)
    if len(parents) < 2:
        return digest + moment + bytes(8)
    ordered = b"".join(len(one := parent.encode()).to_bytes(4) + one for parent in parents)
    return digest + sha256(moment + ordered).digest()[:16]


def write_load(conn: Connection, number: int, leaves: Iterable[bytes]) -> None:
    """Append the log entry of a load. The caller holds the write lock and has loaded the records."""
    sorted_leaves = sorted(leaves)
    if not sorted_leaves:
        return
    joined_leaves = b"".join(sorted_leaves)
    _INSERT.run(conn, [{"load": number, "records": len(sorted_leaves), "leaves": joined_leaves}])
    details = {"digest": f"sha256:{sha256(joined_leaves).hexdigest()}", "load": number, "records": len(sorted_leaves)}
    append_audit_entry(conn, WORKER, Deed(LOADED, "loaded", "records", str(number), canonical(details)))


def write_commit(
    conn: Connection, id: str, kind: str, rows: int, added: Sequence[Mapping[str, Any]], removed: Iterable[str]
) -> None:
    """Append the log entry of a commit. The caller holds the write lock and has changed the catalog.

    ``added`` have the SHA-256 of their bytes.
    """
    details: dict[str, Any] = {
        "added": [file_entry(file) for file in sorted(added, key=lambda file: str(file["path"]))],
        "compaction": id,
        "kind": kind,
        "records": rows,
        "removed": sorted(removed),
    }
    if conn.execute(select(audit.c.seq).where(audit.c.event_type == ARCHIVED).limit(1)).first() is None:
        added_paths = {file["path"] for file in added}
        # The first entry of its kind: it also names the files from before. Files that this commit removed are gone.
        before = [file for file in live_files(conn) if file["path"] not in added_paths]
        details["before"] = [file_entry(file) for file in before]
    append_audit_entry(conn, WORKER, Deed(ARCHIVED, "archived", "records", id, canonical(details)))


def file_entry(file: Mapping[str, Any]) -> dict[str, Any]:
    """A file as the log entry of a commit names it."""
    columns = {name: file[name] for name in ("path", "kind", "day", "rows", "bytes")}
    digest = file["digest"]
    hexadecimal = digest.hex() if isinstance(digest, bytes) else repr(digest)
    return {**columns, "digest": hexadecimal, "sha256": file.get("sha256")}


def append_audit_entry(conn: Connection, actor: Actor, deed: Deed) -> None:
    """The caller holds the write lock. Reads only the head of the log, not the rest of the store's state."""
    head = _LOG_HEAD.rows(conn)
    seq, hash = head[0] if head else (0, GENESIS)
    record_deeds(conn, Standing(seq, hash), [(actor, deed)])


def live_files(conn: Connection) -> list[dict[str, Any]]:
    live = select(record_file).where(record_file.c.removed_in.is_(None)).order_by(record_file.c.path)
    return [dict(row._mapping) for row in conn.execute(live)]


@dataclass
class LoggedRecords:
    """What the log, which is verified before, has on records: loads, and the files of the archive."""

    loads: dict[int, tuple[int, int, str]] = field(default_factory=dict)
    """By load number: the log entry, the number of records, and the digest over their leaves."""
    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The files of the archive, by path."""
    commits: int = 0

    @property
    def first_load(self) -> int | None:
        return min(self.loads, default=None)


def read_logged_records(conn: Connection) -> LoggedRecords:
    logged = LoggedRecords()
    query = select(audit.c.seq, audit.c.event_type, audit.c.details).where(audit.c.event_type.in_((LOADED, ARCHIVED)))
    for seq, event_type, text in conn.execute(query.order_by(audit.c.seq)):
        details = json.loads(text)
        if event_type == LOADED:
            logged.loads[details["load"]] = seq, details["records"], details["digest"]
            continue
        logged.commits += 1
        logged.files |= {file["path"]: file for file in details.get("before", ())}
        for path in details["removed"]:
            logged.files.pop(path, None)
        logged.files |= {file["path"]: file for file in details["added"]}
    return logged


def leaves_of_loads(conn: Connection, logged: LoggedRecords) -> Iterator[tuple[int, set[bytes]]]:
    """The leaves of each load in the log, as they were when it was logged."""
    rows = conn.execution_options(yield_per=50).execute(select(record_load).order_by(record_load.c.load))
    missing = dict(logged.loads)
    for number, records, leaves in rows:
        if number not in missing:
            raise EvidenceBroken(f"Load {number} of records", "the log does not know it")
        seq, count, digest = missing.pop(number)
        if (records, f"sha256:{sha256(bytes(leaves)).hexdigest()}") != (count, digest):
            raise EvidenceBroken(f"Load {number} of records (entry {seq})", "its hashes are not those that the log has")
        yield number, {bytes(leaves[start : start + LEAF_BYTES]) for start in range(0, len(leaves), LEAF_BYTES)}
    for number, (seq, *_) in missing.items():
        raise EvidenceBroken(f"Load {number} of records (entry {seq})", "its hashes are missing")
