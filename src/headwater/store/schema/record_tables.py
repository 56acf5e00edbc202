"""The tables of the record ledger: the queue before it, the hot rows, and what the archive holds.

Records are facts of their own, not events: nothing here is folded into the graph. Ids can be longer than a key of an
index may be, so keys are the first half of their SHA-256, as everywhere in the store.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Integer, LargeBinary, SmallInteger, Table, Text, UniqueConstraint

from headwater.model.record_schema import CONTENT
from headwater.store.schema.tables import Id, Json, Micros, metadata

record_queue = Table(
    "record_queue",
    metadata,
    Column("id", Id, primary_key=True),
    Column("kind", Text, nullable=False),  # load or trace
    Column("body", Json, nullable=False),
    Column("enqueued_at", Micros, nullable=False),
    # The visibility timeout: until then only the worker that took the message may finish it, then any may take it.
    Column("visible_at", Micros, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("token", Text),
    Index(None, "kind", "visible_at", "id"),
    # An id is never used twice: a worker that finishes late must not find another message under it.
    sqlite_autoincrement=True,
)

record_dead_letter = Table(
    "record_dead_letter",
    metadata,
    Column("id", Id, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("body", Json, nullable=False),
    Column("enqueued_at", Micros, nullable=False),
    Column("failed_at", Micros, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("reason", Text, nullable=False),
    sqlite_autoincrement=True,
)

record_clock = Table(
    "record_clock",
    metadata,
    Column("id", SmallInteger, primary_key=True, autoincrement=False),
    # The number of the last load. Taking the next one locks the row until the commit, so numbers become visible in
    # order, and "all up to this number" is a set that no longer changes.
    Column("load", BigInteger, nullable=False),
    # The last commit of the archive, and where it is.
    Column("head", Text),
    Column("archive", Text),
)
"""One row, created when it is first needed."""

record_hot = Table(
    "record_hot",
    metadata,
    Column("root_key", LargeBinary, primary_key=True),
    Column("node_key", LargeBinary, primary_key=True),
    Column("digest", LargeBinary, primary_key=True),
    *(Column(field.name, Json if field.kind == "texts" else Text, nullable=False) for field in CONTENT),
    Column("recorded_at", Micros, nullable=False),
    # UTC days since the epoch, of the time above.
    Column("day", Integer, nullable=False),
    Column("load", BigInteger, nullable=False),
    Column("ttl_expiry", Micros, nullable=False),
    Index(None, "node_key"),
    Index(None, "root_key", "action_taken"),
    # Stored in key order: the rows of a root are adjacent on disk, and a range of keys is one read.
    sqlite_with_rowid=False,
)

record_load = Table(
    "record_load",
    metadata,
    Column("load", BigInteger, primary_key=True, autoincrement=False),
    Column("records", Integer, nullable=False),
    Column("leaves", LargeBinary, nullable=False),
)
"""The leaves of each load, 32 bytes a record: see ``store/records/evidence.py``."""

record_expiry = Table(
    "record_expiry",
    metadata,
    Column("expiry", BigInteger, primary_key=True, autoincrement=False),
    Column("records", Integer, nullable=False),
    Column("expired", LargeBinary, nullable=False),
)
"""Which hot records each expiry deleted, 24 bytes a record: see ``store/records/evidence.py``."""

record_archived_day = Table(
    "record_archived_day",
    metadata,
    Column("day", Integer, primary_key=True, autoincrement=False),
    Column("upto", BigInteger, nullable=False),
)
"""Hot rows of that day with a load up to ``upto`` are in the archive."""

record_archived_root = Table(
    "record_archived_root",
    metadata,
    Column("root_key", LargeBinary, primary_key=True),
    Column("upto", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)
"""The same for roots that were archived on their own."""

record_compaction = Table(
    "record_compaction",
    metadata,
    Column("id", Text, primary_key=True),
    # The commit that it is based on. It can only be committed as the next one after that.
    Column("base", Text),
    Column("kind", Text, nullable=False),  # compaction, root or stream
    Column("started_at", Micros, nullable=False),
    Column("finished_at", Micros),
    Column("run_id", Text),
    Column("rows", BigInteger),
    Column("digest", LargeBinary),
    Column("location", Text, nullable=False),
)

record_file = Table(
    "record_file",
    metadata,
    Column("id", Id, primary_key=True),
    Column("path", Text, nullable=False),  # relative to the archive
    Column("kind", Text, nullable=False),  # records, traces or jsonl
    Column("day", Integer, nullable=False),
    Column("rows", BigInteger, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("added_in", Text, nullable=False),
    Column("removed_in", Text),
    UniqueConstraint("path"),
    Index(None, "kind", "day"),
)
"""The live archive is the files that no commit has removed."""

record_attempt = Table(
    "record_attempt",
    metadata,
    Column("name", Text, primary_key=True),  # how the names of its files begin
    Column("compaction", Text, nullable=False),  # a batch of a stream that is repeated has several
    Column("started_at", Micros, nullable=False),
    # The lease: renewed while a process works on the attempt. Past it, the attempt's files may be removed.
    Column("until", Micros, nullable=False),
    # From then on it can no longer be committed, even if its process was only slow.
    Column("given_up_at", Micros),
)
"""Attempts that are neither committed nor cleaned up."""

record_file_keys = Table(
    "record_file_keys",
    metadata,
    Column("path", Text, primary_key=True),
    # The least and the greatest root key in the file, and Bloom filters of its root and node keys.
    Column("low", LargeBinary, nullable=False),
    Column("high", LargeBinary, nullable=False),
    Column("roots", LargeBinary, nullable=False),
    Column("nodes", LargeBinary),  # of files with records
)
"""Which keys a file may hold, so that other files need not be opened. A file without a row may hold any."""
