"""The files of the archive: any path that pyarrow or fsspec knows, and the digest by which they are verified."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import fs

from headwater.errors import ArchiveUnusable, shorten
from headwater.model.records import key_of_id
from headwater.records.archive.archive import FileKeys
from headwater.records.archive.syncing import sync_files
from headwater.records.executor.bloom_filter import sieve_of

_PIECE = 4 * 2**20


def content_digest(digests: Iterable[bytes]) -> bytes:
    """Of a set of records, by their digests, in whatever order: the sum of them as numbers, 16 bytes.

    A sum needs neither the order nor the memory that a hash over all would, and parts of it can be added up.
    """
    total = sum(int.from_bytes(digest) for digest in digests)
    return (total % (1 << 128)).to_bytes(16)


def column_digest(column: pa.ChunkedArray | pa.Array) -> bytes:
    """The same, of a whole column of digests of 16 bytes each."""
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    total = 0
    for chunk in chunks:
        if not len(chunk):
            continue
        words = np.frombuffer(chunk.cast(pa.binary(16)).buffers()[1], dtype=">u4").reshape(-1, 4)
        words = words[chunk.offset : chunk.offset + len(chunk)] if len(words) != len(chunk) else words
        for position, word in enumerate(words.sum(axis=0, dtype=np.uint64)):
            total += int(word) << (32 * (3 - position))
    return (total % (1 << 128)).to_bytes(16)


def trace_digests(traces: pa.Table) -> Iterator[bytes]:
    """Of each trace: a trace is known by its root, its leaf and the nodes on the way."""
    nodes = pc.list_flatten(traces["lineage"])
    ids = pc.struct_field(nodes, "node_id").to_pylist()
    begin = 0
    lengths = pc.list_value_length(traces["lineage"]).to_pylist()
    for root, leaf, length in zip(traces["root_id"].to_pylist(), traces["record_id"].to_pylist(), lengths, strict=True):
        told = "\n".join([root, leaf, *ids[begin : begin + length]])
        begin += length
        yield hashlib.sha256(told.encode()).digest()[:16]


def keys_of_file(root_ids: Iterable[str], node_ids: Iterable[str] | None = None) -> FileKeys:
    """Which keys a file holds that has these roots and, if it is one of records, these nodes."""
    roots = sorted({key_of_id(root) for root in root_ids})
    nodes = None if node_ids is None else _sieve([key_of_id(node) for node in node_ids])
    return FileKeys(roots[0], roots[-1], _sieve(roots), nodes)


def _sieve(keys: Sequence[bytes]) -> bytes:
    return sieve_of(np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(-1, 16))


def line_digests(lines: Iterable[str]) -> Iterator[bytes]:
    return (hashlib.sha256(line.encode()).digest()[:16] for line in lines)


class ArchiveStorage:
    """Paths are relative to the location."""

    def __init__(self, location: str) -> None:
        self.location = location
        self.system, self.root = open_filesystem(location)

    def full(self, path: str) -> str:
        return f"{self.root}/{path}"

    def write_table(self, path: str, table: pa.Table) -> int:
        """As Parquet; its size."""
        return self._write(path, lambda out: pq.write_table(table, out, compression="zstd"))

    def write_lines(self, path: str, lines: Iterable[str]) -> int:
        """As text; its size."""
        return self._write(path, lambda out: out.write("".join(f"{line}\n" for line in lines).encode()))

    def _write(self, path: str, write: Callable[[Any], object]) -> int:
        folder = self.full(path).rpartition("/")[0]
        self.system.create_dir(folder, recursive=True)
        with self.system.open_output_stream(self.full(path)) as out:
            write(out)
        if isinstance(self.system, fs.LocalFileSystem):  # others have it safe when they have it
            sync_files(self.root, [path])
        return self.size(path)

    def read_lines(self, path: str) -> list[str]:
        try:
            with self.system.open_input_stream(self.full(path)) as source:
                text: str = source.read().decode()
        except OSError as error:
            raise ArchiveUnusable(f"{shorten(self.full(path))} of the archive cannot be read: {error}") from error
        return text.removesuffix("\n").split("\n") if text else []

    def read_table(self, path: str, **options: Any) -> pa.Table:
        """Read by name, one file; ``options`` as of `pyarrow.parquet.read_table`."""
        try:
            with self.system.open_input_file(self.full(path)) as source:
                return pq.ParquetFile(source).read(**options)
        except OSError as error:
            raise ArchiveUnusable(f"{shorten(self.full(path))} of the archive cannot be read: {error}") from error

    def sha256(self, path: str) -> str:
        """Of all its bytes, read in pieces."""
        hashed = hashlib.sha256()
        try:
            with self.system.open_input_stream(self.full(path)) as source:
                while piece := source.read(_PIECE):
                    hashed.update(piece)
        except OSError as error:
            raise ArchiveUnusable(f"{shorten(self.full(path))} of the archive cannot be read: {error}") from error
        return hashed.hexdigest()

    def size(self, path: str) -> int:
        return int(self.system.get_file_info(self.full(path)).size)

    def listed(self, kinds: Sequence[str]) -> list[str]:
        """All files below the folders of these kinds, whether or not they count."""
        found: list[str] = []
        for kind in kinds:
            below = fs.FileSelector(self.full(kind), allow_not_found=True, recursive=True)
            paths = (info.path for info in self.system.get_file_info(below) if info.type == fs.FileType.File)
            found += (path[len(self.root) :].lstrip("/") for path in paths)
        return sorted(found)

    def remove(self, paths: Iterable[str]) -> int:
        """Files, and folders with all there is in them; how many there were."""
        gone = 0
        for path in paths:
            kind = self.system.get_file_info(self.full(path)).type
            if kind == fs.FileType.File:
                self.system.delete_file(self.full(path))
            elif kind == fs.FileType.Directory:
                self.system.delete_dir(self.full(path))
            gone += kind in (fs.FileType.File, fs.FileType.Directory)
        return gone


def open_filesystem(location: str) -> tuple[fs.FileSystem, str]:
    """What reads and writes there, and the location as it calls it."""
    if "://" not in location:
        return fs.LocalFileSystem(), str(Path(location))
    # Hadoop's names for what everybody else calls S3.
    uri = location.replace("s3a://", "s3://", 1).replace("s3n://", "s3://", 1)
    try:
        system, path = fs.FileSystem.from_uri(uri)
    except (pa.ArrowInvalid, OSError) as error:
        system, path = _by_fsspec(uri, error)
    return system, path.rstrip("/")


def _by_fsspec(uri: str, error: Exception) -> tuple[fs.FileSystem, str]:
    try:
        import fsspec  # type: ignore[import-not-found, unused-ignore]

        system, path = fsspec.core.url_to_fs(uri)
    except (ImportError, ValueError):
        raise ArchiveUnusable(f"No archive can be at {shorten(uri)}: {error}") from None
    return fs.PyFileSystem(fs.FSSpecHandler(system)), str(path)
