"""Evidence of records: the log has a digest of what each load inserted and of each file of the archive.

A record is a *leaf* of 32 bytes: its own digest, which covers its content but not its time and the order of its
parents, and 16 bytes for these two. The leaves of a load are sorted in ``record_load``; the log entry of the load has
the SHA-256 over them. So what the load inserted is known record by record, wherever the records are by now.

A hot record may be deleted for one reason: it has expired. Each expiry stores which records those were, 24 bytes each
(the load and the record's digest), in ``record_expiry``; the log entry of the expiry has the SHA-256 over them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import sha256
from typing import NamedTuple, TypedDict

from sqlalchemy import Connection, Table, Text, func, insert, select, type_coerce

from headwater.errors import EvidenceBroken
from headwater.model.audit import Actor
from headwater.model.record_schema import CONTENT_NAMES
from headwater.proof.canonical import canonical
from headwater.store.engine.prepared import Prepared
from headwater.store.fold.named_rows import stream
from headwater.store.log.audit import Deed
from headwater.store.log.audit import record as record_deeds
from headwater.store.log.log_head import GENESIS, Standing
from headwater.store.schema.record_tables import record_expiry, record_file, record_hot, record_load
from headwater.store.schema.stored_rows import PlainRow
from headwater.store.schema.tables import audit

LOADED, ARCHIVED, EXPIRED = "records.loaded", "records.archived", "records.expired"
LEAF_BYTES = 32
DIGEST_BYTES = 16
WORKER = Actor("headwater", "service")
"""The actor of loads, expiries and commits: who started the worker or the compaction is not known here."""

_INSERT = Prepared(insert(record_load))
_KEY_COLUMNS = ("root_key", "node_key", "digest", "recorded_at", "day", "load")
_HOT = select(
    *(record_hot.c[name] for name in _KEY_COLUMNS),
    *(type_coerce(record_hot.c[name], Text) for name in CONTENT_NAMES),
)
_LOG_HEAD = Prepared(select(audit.c.seq, audit.c.hash).order_by(audit.c.seq.desc()).limit(1))


def hot_rows(conn: Connection) -> Iterator[PlainRow]:
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
    """The caller holds the write lock and has loaded the records."""
    ordered = sorted(leaves)
    if not ordered:
        return
    together = b"".join(ordered)
    _INSERT.run(conn, [{"load": number, "records": len(ordered), "leaves": together}])
    details = {
        "digest": f"sha256:{sha256(together).hexdigest()}",
        "expiry": "logged",  # of loads from before this version it is not
        "load": number,
        "records": len(ordered),
    }
    append_audit_entry(conn, WORKER, Deed(LOADED, "loaded", "records", str(number), canonical(details)))


def write_expiry(conn: Connection, expired: Iterable[tuple[int, bytes]]) -> int:
    """Write down which hot records were deleted, each by its load and digest; how many. The caller holds the write
    lock and has deleted them."""
    # All of one length, also where somebody has changed a digest, which is for `headwater verify` to say.
    ordered = sorted(
        load.to_bytes(8, signed=True) + digest[:DIGEST_BYTES].ljust(DIGEST_BYTES, b"\0") for load, digest in expired
    )
    if not ordered:
        return 0
    together = b"".join(ordered)
    number = (conn.scalar(select(func.max(record_expiry.c.expiry))) or 0) + 1
    conn.execute(insert(record_expiry), {"expiry": number, "records": len(ordered), "expired": together})
    details = {"digest": f"sha256:{sha256(together).hexdigest()}", "expiry": number, "records": len(ordered)}
    append_audit_entry(conn, WORKER, Deed(EXPIRED, "expired", "records", str(number), canonical(details)))
    return len(ordered)


def write_commit(
    conn: Connection, id: str, kind: str, rows: int, added: Sequence[Mapping[str, object]], removed: Iterable[str]
) -> None:
    """The caller holds the write lock and has changed the list of files. ``added`` have the SHA-256 of their bytes."""
    details: dict[str, object] = {
        "added": [file_entry(file) for file in sorted(added, key=lambda file: str(file["path"]))],
        "compaction": id,
        "kind": kind,
        "records": rows,
        "removed": sorted(removed),
    }
    if conn.execute(select(audit.c.seq).where(audit.c.event_type == ARCHIVED).limit(1)).first() is None:
        mine = {file["path"] for file in added}
        before = [file for file in live_files(conn) if file["path"] not in mine]
        # Of those that this commit has removed nothing has to be said any more.
        details["before"] = [file_entry(file) for file in before]
    append_audit_entry(conn, WORKER, Deed(ARCHIVED, "archived", "records", id, canonical(details)))


def file_entry(file: Mapping[str, object]) -> dict[str, object]:
    logged = {name: file[name] for name in ("path", "kind", "day", "rows", "bytes")}
    digest = file["digest"]
    return {
        **logged,
        "digest": digest.hex() if isinstance(digest, bytes) else repr(digest),
        "sha256": file.get("sha256"),
    }


def append_audit_entry(conn: Connection, actor: Actor, deed: Deed) -> None:
    """The caller holds the write lock. Reads only the head of the log, not the rest of the store's state."""
    head = _LOG_HEAD.rows(conn)
    seq, hash = head[0] if head else (0, GENESIS)
    record_deeds(conn, Standing(seq, hash), [(actor, deed)])


class CatalogedFile(TypedDict):
    """A file of the archive, as the catalog has it."""

    path: str
    kind: str
    day: int
    rows: int
    bytes: int
    digest: bytes


def live_files(conn: Connection) -> list[CatalogedFile]:
    live = select(record_file).where(record_file.c.removed_in.is_(None)).order_by(record_file.c.path)
    return [
        {
            "path": row.path,
            "kind": row.kind,
            "day": row.day,
            "rows": row.rows,
            "bytes": row.bytes,
            "digest": row.digest,
        }
        for row in conn.execute(live)
    ]


class LoggedDigest(NamedTuple):
    """What an entry of the log says of the records of one load or one expiry."""

    seq: int
    records: int
    digest: str
    expiry_logged: bool = True
    """Of a load: whether each expiry of one of its records is in the log."""


@dataclass
class LoggedRecords:
    """What the log says of records. It is verified by then."""

    loads: dict[int, LoggedDigest] = field(default_factory=dict)
    """By number, with the digest over their leaves."""
    expiries: dict[int, LoggedDigest] = field(default_factory=dict)
    files: dict[str, dict[str, object]] = field(default_factory=dict)
    """Of which the archive is made, by path."""
    commits: int = 0

    @property
    def first_load(self) -> int | None:
        return min(self.loads, default=None)


def read_logged_records(conn: Connection) -> LoggedRecords:
    logged = LoggedRecords()
    query = select(audit.c.seq, audit.c.event_type, audit.c.details).where(
        audit.c.event_type.in_((LOADED, ARCHIVED, EXPIRED))
    )
    for seq, event_type, text in conn.execute(query.order_by(audit.c.seq)):
        details = json.loads(text)
        if event_type == LOADED:
            is_logged = details.get("expiry") == "logged"
            logged.loads[details["load"]] = LoggedDigest(seq, details["records"], details["digest"], is_logged)
            continue
        if event_type == EXPIRED:
            logged.expiries[details["expiry"]] = LoggedDigest(seq, details["records"], details["digest"])
            continue
        logged.commits += 1
        logged.files |= {file["path"]: file for file in details.get("before", ())}
        for path in details["removed"]:
            logged.files.pop(path, None)
        logged.files |= {file["path"]: file for file in details["added"]}
    return logged


def leaves_of_loads(conn: Connection, logged: LoggedRecords) -> Iterator[tuple[int, list[bytes]]]:
    """Of each load in the log its leaves, as they were when it was written down."""
    yield from _logged_parts(conn, record_load, "Load {} of records", logged.loads, LEAF_BYTES)


def expired_records(conn: Connection, logged: LoggedRecords) -> Iterator[tuple[int, list[bytes]]]:
    """Of each expiry in the log the records that it deleted: 8 bytes of the load, then the digest."""
    yield from _logged_parts(conn, record_expiry, "Expiry {} of records", logged.expiries, 8 + DIGEST_BYTES)


def _logged_parts(
    conn: Connection, table: Table, what: str, logged: Mapping[int, LoggedDigest], size: int
) -> Iterator[tuple[int, list[bytes]]]:
    """The rows of a table whose bytes the log has the digests of, cut into parts of ``size``."""
    (key,) = table.primary_key
    left = dict(logged)
    # Closed also where the reader stops early: on PostgreSQL the rows wait at the server.
    with closing(conn.execute(select(table).order_by(key), execution_options={"yield_per": 50})) as rows:
        for number, records, together in rows:
            named = what.format(number)
            if number not in left:
                raise EvidenceBroken(named, "the log does not know it")
            entry = left.pop(number)
            if (records, f"sha256:{sha256(bytes(together)).hexdigest()}") != (entry.records, entry.digest):
                raise EvidenceBroken(f"{named} (entry {entry.seq})", "its hashes are not those that the log has")
            parts = bytes(together)
            yield number, [parts[start : start + size] for start in range(0, len(parts), size)]
    for number, entry in left.items():
        raise EvidenceBroken(f"{what.format(number)} (entry {entry.seq})", "its hashes are missing")
