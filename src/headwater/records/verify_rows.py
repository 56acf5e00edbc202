"""Reads all records, hot and archived, and checks each against its own digest and keys.

This runs over millions of rows, so a row is a plain tuple, and the usual record, with one parent and no escapes in its
JSON, is hashed by a faster path.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from headwater.errors import EvidenceBroken, shorten
from headwater.model.record_schema import CONTENT_NAMES, PARENTS, with_parents
from headwater.model.records import record_digest
from headwater.store.engine.database import Transaction
from headwater.store.records.evidence import hot_rows, record_leaf

if TYPE_CHECKING:
    from headwater.records.archive.files import ArchiveStorage

_DAY = 86_400_000_000
_KEY_BYTES = 16
_COLUMNS = [*CONTENT_NAMES, "recorded_at", "digest", "load"]

StoredRecord = tuple[int, bytes, str, str]
"""The load, leaf, root and node of a record."""


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


def archived_source(storage: ArchiveStorage, path: str) -> RecordSource:
    return RecordSource(path, _archived_rows(storage, path))


def _hot_rows(conn: Transaction) -> Iterator[StoredRecord]:
    last_root: object = object()
    root_hash = b""
    for root_key, node_key, digest, recorded_at, day, load, *content in hot_rows(conn):
        root, node = content[:2]
        holds = False
        try:
            if root != last_root:
                root_hash, last_root = sha256(root.encode()).digest()[:_KEY_BYTES], root
            parent = _only_parent(content[PARENTS])
            if parent is None:
                parents = json.loads(content[PARENTS])
                recomputed = record_digest(*with_parents(content, parents))
                leaf = record_leaf(digest, recorded_at, parents)
            else:
                recomputed = _digest(content, parent)
                leaf = digest + recorded_at.to_bytes(8, signed=True) + bytes(8)
            holds = (
                recomputed == digest
                and root_hash == root_key
                and sha256(node.encode()).digest()[:_KEY_BYTES] == node_key
                and recorded_at // _DAY == day
                and type(load) is int
            )
        except (ValueError, TypeError, AttributeError, OverflowError):
            pass  # a type, or characters, that headwater never writes
        if not holds:
            what = RecordSource(None, ()).name_of(root, node)
            raise EvidenceBroken(what, "its digest, keys or day do not match its content")
        yield load, leaf, root, node


def _only_parent(parents: object) -> bytes | None:
    """The string in the JSON of a list with one string without escapes; None for any other JSON."""
    if type(parents) is not str:
        raise TypeError(parents)
    inner = parents[2:-2]
    if parents == f'["{inner}"]' and inner.isascii() and inner.isprintable() and '"' not in inner and "\\" not in inner:
        return inner.encode()
    return None


def _digest(content: Sequence[str], parent: bytes) -> bytes:
    """:func:`~headwater.model.records.record_digest` of a record with one parent."""
    parts = [text.encode() for text in content[:PARENTS]]
    parts += [text.encode() for text in content[PARENTS + 1 :]]
    parts.append(parent)
    return sha256(b"".join([len(part).to_bytes(4) + part for part in parts])).digest()[:_KEY_BYTES]


def _archived_rows(storage: ArchiveStorage, path: str) -> Iterator[StoredRecord]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with storage.system.open_input_file(storage.full_path(path)) as source:
        for batch in pq.ParquetFile(source).iter_batches(batch_size=20_000, columns=_COLUMNS):
            columns = {name: batch.column(name) for name in _COLUMNS}
            columns["recorded_at"] = columns["recorded_at"].cast(pa.int64())
            for *content, recorded_at, digest, load in zip(
                *(columns[name].to_pylist() for name in _COLUMNS), strict=True
            ):
                root, node = content[:2]
                try:
                    holds = record_digest(*content) == digest
                    leaf = record_leaf(digest, recorded_at, content[PARENTS])
                except (TypeError, AttributeError, OverflowError):
                    holds = False
                if not holds:
                    what = RecordSource(path, ()).name_of(root, node)
                    raise EvidenceBroken(what, "its digest does not match its content")
                yield load, leaf, root, node
