"""Every record there is, hot and archived, each checked against its own digest and keys.

A million rows go through here, so a row is a plain tuple, and the ordinary record (one parent, nothing escaped) is
hashed without the detours that any other takes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from headwater.errors import EvidenceBroken, shorten
from headwater.model.records import record_digest
from headwater.store.engine.database import Transaction
from headwater.store.records.evidence import hot_rows, leaf

if TYPE_CHECKING:
    from headwater.records.archive.files import Files

_DAY = 86_400_000_000
_KEY = 16
_COLUMNS = ["root_id", "node_id", "parent_ids", "action_taken", "storage_location", "recorded_at", "digest", "load"]

StoredRecord = tuple[int, bytes, str, str]
"""Its load, its leaf, its root and its node."""


class RecordSource(NamedTuple):
    """The hot table, or a file of the archive."""

    path: str | None
    rows: Iterable[StoredRecord]

    @property
    def is_hot(self) -> bool:
        return self.path is None

    def name_of(self, root: str, node: str) -> str:
        kind, place = ("hot", "") if self.path is None else ("archived", f" in {shorten(self.path)}")
        return f"The {kind} record {shorten(str(node))} of root {shorten(str(root))}{place}"


def hot_source(conn: Transaction) -> RecordSource:
    return RecordSource(None, _hot_rows(conn))


def archived_source(files: Files, path: str) -> RecordSource:
    return RecordSource(path, _archived_rows(files, path))


def _hot_rows(conn: Transaction) -> Iterator[StoredRecord]:
    last_root: Any = object()
    root_bytes = root_hash = b""
    for root_key, node_key, digest, root, node, action, location, recorded_at, day, load, parents in hot_rows(conn):
        holds = False
        try:
            if root != last_root:
                root_bytes = root.encode()
                root_hash, last_root = sha256(root_bytes).digest()[:_KEY], root
            node_bytes = node.encode()
            parent = _only_parent(parents)
            if parent is None:
                listed = json.loads(parents)
                digest_there = record_digest(root, node, listed, action, location)
                found = leaf(digest, recorded_at, listed)
            else:
                digest_there = _digest(root_bytes, node_bytes, action.encode(), location.encode(), parent)
                found = digest + recorded_at.to_bytes(8, signed=True) + bytes(8)
            holds = (
                digest_there == digest
                and root_hash == root_key
                and sha256(node_bytes).digest()[:_KEY] == node_key
                and recorded_at // _DAY == day
                and type(load) is int
            )
        except (ValueError, TypeError, AttributeError, OverflowError):
            pass  # of a type, or with characters, that we never write
        if not holds:
            what = RecordSource(None, ()).name_of(root, node)
            raise EvidenceBroken(what, "its digest, keys or day are not those of what it says")
        yield load, found, root, node


def _only_parent(parents: Any) -> bytes | None:
    """Of the JSON of a list with one string, in which nothing is escaped, the string; None for any other."""
    if type(parents) is not str:
        raise TypeError(parents)
    inner = parents[2:-2]
    if parents == f'["{inner}"]' and inner.isascii() and inner.isprintable() and '"' not in inner and "\\" not in inner:
        return inner.encode()
    return None


def _digest(root: bytes, node: bytes, action: bytes, location: bytes, parent: bytes) -> bytes:
    """:func:`~headwater.model.records.record_digest` of a record with one parent."""
    return sha256(
        b"%b%b%b%b%b%b%b%b%b%b"
        % (
            len(root).to_bytes(4), root, len(node).to_bytes(4), node, len(action).to_bytes(4), action,
            len(location).to_bytes(4), location, len(parent).to_bytes(4), parent,
        )
    ).digest()[:_KEY]  # fmt: skip


def _archived_rows(files: Files, path: str) -> Iterator[StoredRecord]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with files.system.open_input_file(files.full(path)) as source:
        for batch in pq.ParquetFile(source).iter_batches(batch_size=20_000, columns=_COLUMNS):
            columns = {name: batch.column(name) for name in _COLUMNS}
            columns["recorded_at"] = columns["recorded_at"].cast(pa.int64())
            for root, node, parents, action, location, recorded_at, digest, load in zip(
                *(columns[name].to_pylist() for name in _COLUMNS), strict=True
            ):
                try:
                    holds = record_digest(root, node, parents, action, location) == digest
                    found = leaf(digest, recorded_at, parents)
                except (TypeError, AttributeError, OverflowError):
                    holds = False
                if not holds:
                    what = RecordSource(path, ()).name_of(root, node)
                    raise EvidenceBroken(what, "its digest is not that of what it says")
                yield load, found, root, node
