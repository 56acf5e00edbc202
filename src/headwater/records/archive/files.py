"""Reads and writes the archive's files, wherever pyarrow or fsspec can, and computes the digests that verify them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import fs

from headwater.errors import ArchiveUnusable, shorten
from headwater.model.records import key_of_id
from headwater.records.archive.archive import FileKeys
from headwater.records.executor.bloom_filter import BloomFilter

_CHUNK_BYTES = 4 * 2**20


def content_digest(digests: Iterable[bytes]) -> bytes:
    """The digest of a set of records: the sum of their digests as numbers, 16 bytes, independent of order.

    A sum needs neither the order nor the memory that a hash over all would, and partial sums can be added.
    """
    total = sum(int.from_bytes(digest) for digest in digests)
    return (total % (1 << 128)).to_bytes(16)


def column_digest(column: pa.ChunkedArray | pa.Array) -> bytes:
    """The same for a whole column of digests of 16 bytes each."""
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
    """The digest of each trace: a hash of its root, its leaf and the nodes of its lineage."""
    nodes = pc.list_flatten(traces["lineage"])
    ids = pc.struct_field(nodes, "node_id").to_pylist()
    begin = 0
    lengths = pc.list_value_length(traces["lineage"]).to_pylist()
    for root, leaf, length in zip(traces["root_id"].to_pylist(), traces["record_id"].to_pylist(), lengths, strict=True):
        text = "\n".join([root, leaf, *ids[begin : begin + length]])
        begin += length
        yield hashlib.sha256(text.encode()).digest()[:16]


def keys_of_file(root_ids: Iterable[str], node_ids: Iterable[str] | None = None) -> FileKeys:
    """The keys of a file with these roots and, if it is a file of records, these nodes."""
    roots = sorted({key_of_id(root) for root in root_ids})
    nodes = None if node_ids is None else _bloom_filter([key_of_id(node) for node in node_ids])
    return FileKeys(roots[0], roots[-1], _bloom_filter(roots), nodes)


def _bloom_filter(keys: Sequence[bytes]) -> bytes:
    return BloomFilter.of_keys(np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(-1, 16)).bits


def line_digests(lines: Iterable[str]) -> Iterator[bytes]:
    return (hashlib.sha256(line.encode()).digest()[:16] for line in lines)


class ArchiveStorage:
    """The files below ``location``; all paths are relative to it."""

    def __init__(self, location: str) -> None:
        self.location = location
        self.system, self.root = open_filesystem(location)

    def full_path(self, path: str) -> str:
        return f"{self.root}/{path}"

    def write_table(self, path: str, table: pa.Table) -> int:
        """Write a Parquet file; returns its size."""
        return self._write(path, lambda out: pq.write_table(table, out, compression="zstd"))

    def write_lines(self, path: str, lines: Iterable[str]) -> int:
        """Write a text file; returns its size."""
        return self._write(path, lambda out: out.write("".join(f"{line}\n" for line in lines).encode()))

    def _write(self, path: str, write: Callable[[pa.NativeFile], object]) -> int:
        folder = self.full_path(path).rpartition("/")[0]
        self.system.create_dir(folder, recursive=True)
        with self.system.open_output_stream(self.full_path(path)) as out:
            write(out)
        if isinstance(self.system, fs.LocalFileSystem):  # other file systems return when the file is durable
            fsync_files(self.root, [path])
        return self.size(path)

    def read_lines(self, path: str) -> list[str]:
        try:
            with self.system.open_input_stream(self.full_path(path)) as source:
                text: str = source.read().decode()
        except OSError as error:
            raise ArchiveUnusable(f"{shorten(self.full_path(path))} of the archive cannot be read: {error}") from error
        return text.removesuffix("\n").split("\n") if text else []

    def read_table(self, path: str, *, columns: Sequence[str] | None = None) -> pa.Table:
        """Read one file, or these columns of it."""
        try:
            with self.system.open_input_file(self.full_path(path)) as source:
                return pq.ParquetFile(source).read(columns=columns)
        except OSError as error:
            raise ArchiveUnusable(f"{shorten(self.full_path(path))} of the archive cannot be read: {error}") from error

    def sha256(self, path: str) -> str:
        """The SHA-256 of the file, read in chunks."""
        hashed = hashlib.sha256()
        try:
            with self.system.open_input_stream(self.full_path(path)) as source:
                while chunk := source.read(_CHUNK_BYTES):
                    hashed.update(chunk)
        except OSError as error:
            raise ArchiveUnusable(f"{shorten(self.full_path(path))} of the archive cannot be read: {error}") from error
        return hashed.hexdigest()

    def size(self, path: str) -> int:
        return int(self.system.get_file_info(self.full_path(path)).size)

    def list_files(self, kinds: Sequence[str]) -> list[str]:
        """All files below the folders of these kinds, whether or not a commit names them."""
        files: list[str] = []
        for kind in kinds:
            selector = fs.FileSelector(self.full_path(kind), allow_not_found=True, recursive=True)
            paths = (info.path for info in self.system.get_file_info(selector) if info.type == fs.FileType.File)
            files += (path[len(self.root) :].lstrip("/") for path in paths)
        return sorted(files)

    def remove(self, paths: Iterable[str]) -> int:
        """Remove files, and folders with their contents; returns how many of the paths existed."""
        removed = 0
        for path in paths:
            kind = self.system.get_file_info(self.full_path(path)).type
            if kind == fs.FileType.File:
                self.system.delete_file(self.full_path(path))
            elif kind == fs.FileType.Directory:
                self.system.delete_dir(self.full_path(path))
            removed += kind in (fs.FileType.File, fs.FileType.Directory)
        return removed


def fsync_files(root: str, paths: Iterable[str]) -> None:
    """Sync files below ``root`` to disk, and every folder in between, which may be new as well.

    Hot rows expire once the archive has them, so its files must survive a loss of power.
    """
    folders: set[str] = {root}
    for path in paths:
        fsync_path(f"{root}/{path}")
        folder = path.rpartition("/")[0]
        while folder:
            folders.add(f"{root}/{folder}")
            folder = folder.rpartition("/")[0]
    for folder in sorted(folders, reverse=True):
        fsync_path(folder)


def fsync_path(path: str) -> None:
    """A file, or a folder: its entries are synced."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def open_filesystem(location: str) -> tuple[fs.FileSystem, str]:
    """The file system of a location, and the path of the location in it."""
    if "://" not in location:
        return fs.LocalFileSystem(), str(Path(location))
    # Hadoop's schemes for S3.
    uri = location.replace("s3a://", "s3://", 1).replace("s3n://", "s3://", 1)
    try:
        system, path = fs.FileSystem.from_uri(uri)
    except (pa.ArrowInvalid, OSError) as error:
        system, path = _fsspec_filesystem(uri, error)
    return system, path.rstrip("/")


def _fsspec_filesystem(uri: str, error: Exception) -> tuple[fs.FileSystem, str]:
    try:
        import fsspec  # type: ignore[import-not-found, unused-ignore]

        system, path = fsspec.core.url_to_fs(uri)
    except (ImportError, ValueError):
        raise ArchiveUnusable(f"The archive cannot be at {shorten(uri)}: {error}") from None
    return fs.PyFileSystem(fs.FSSpecHandler(system)), str(path)
