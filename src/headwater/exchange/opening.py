"""Reads an untrusted lineage file as a stream of elements or events, after detecting its format."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING

from headwater.errors import FileRefused
from headwater.formats import graphml
from headwater.formats.wia import json_graph, lines
from headwater.formats.wia.decoding import decode_json
from headwater.formats.wia.elements import Element, ElementKind
from headwater.formats.wia.versions import refuse_later_major

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_GZIP = b"\x1f\x8b"
_SNIFFED_BYTES = 2**16


class DetectedFormat(StrEnum):
    """The formats that can be detected from the content of a file."""

    JSON = "wia-json"
    JSONL = "wia-jsonl"
    PARQUET = "wia-parquet"
    GRAPHML = "graphml"
    OPENLINEAGE = "openlineage"


@contextmanager
def _naming_errors(file: str) -> Iterator[None]:
    """Turn errors of readers and of the system into one that names the file."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise FileRefused(file, None, f"not UTF-8 ({error.reason})") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FileRefused(file, None, f"the gzip file is truncated or damaged ({error})") from None
    except ValueError as error:
        raise FileRefused(file, None, str(error)) from None
    except OSError as error:
        raise FileRefused(file, None, error.strerror or str(error)) from None


class LineageFile:
    """A file and its format; its elements can be read repeatedly."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path)
        with _naming_errors(self.name):
            self.format = self._detect_format()

    def elements(self) -> Iterator[Element]:
        """Yield the elements of a graph; a later major version is refused."""
        with _naming_errors(self.name):
            for kind, document in self._read():
                version = document.get("version")
                if kind is ElementKind.GRAPH and isinstance(version, str):
                    refuse_later_major(self.name, version)
                yield kind, document

    def _read(self) -> Iterator[Element]:
        if self.format is DetectedFormat.PARQUET:
            from headwater.formats.wia import parquet

            yield from parquet.read(self.path)
        elif self.format is DetectedFormat.GRAPHML:
            with self._bytes() as binary:
                yield from graphml.read(binary)
        else:
            with self._text() as text:
                yield from (lines if self.format is DetectedFormat.JSONL else json_graph).read(text)

    def events(self) -> Iterator[tuple[int, str]]:
        """Yield OpenLineage events, each with its line number."""
        with _naming_errors(self.name), self._text() as text:
            yield from lines.numbered_lines(text)

    @contextmanager
    def _bytes(self) -> Iterator[io.BufferedReader]:
        with open(self.path, "rb") as file:
            compressed = file.read(2) == _GZIP
            file.seek(0)
            yield io.BufferedReader(_GzipReader(file), 2**20) if compressed else file

    @contextmanager
    def _text(self) -> Iterator[IO[str]]:
        with self._bytes() as binary:
            yield io.TextIOWrapper(binary, encoding="utf-8", newline="\n")

    def _detect_format(self) -> DetectedFormat:
        if self.path.is_dir():
            return DetectedFormat.PARQUET
        with self._bytes() as binary:
            start = binary.read(_SNIFFED_BYTES).removeprefix(b"\xef\xbb\xbf").lstrip()
        if start.startswith(b"<"):
            return DetectedFormat.GRAPHML
        first, _, rest = start.partition(b"\n")
        if not first.startswith(b"{"):
            raise ValueError("neither JSON, JSON lines, GraphML nor a folder of Parquet files")
        return _format_of_lines(first, rest)


def _format_of_lines(first: bytes, rest: bytes) -> DetectedFormat:
    """Detect the format by the first line: one element in JSON lines, but a graph may be a single line too."""
    try:
        statement = decode_json(first.decode())
    except ValueError:  # a line longer than the bytes read, or the beginning of a document
        if b'"eventTime"' in first and not rest:
            return DetectedFormat.OPENLINEAGE
        return DetectedFormat.JSONL if first.startswith((b'{"event":', b'{"event" :')) else DetectedFormat.JSON
    if isinstance(statement, dict) and "event" in statement and "data" in statement:
        return DetectedFormat.JSONL
    if isinstance(statement, dict) and "eventTime" in statement:
        return DetectedFormat.OPENLINEAGE
    return DetectedFormat.JSON


class _GzipReader(io.RawIOBase):
    """Reads a gzip file as a stream, and refuses one that expands far more than lineage does (a gzip bomb)."""

    _MIN_CHECKED = 2**26
    _RATIO = 250

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._gzip = gzip.GzipFile(fileobj=file)
        self._total = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        with memoryview(buffer) as view:
            content = self._gzip.read(view.nbytes)
            view[: len(content)] = content
        self._total += len(content)
        if self._total > self._MIN_CHECKED and self._total > self._RATIO * self._file.tell():
            raise ValueError(f"it expands to more than {self._RATIO} times its size")
        return len(content)
