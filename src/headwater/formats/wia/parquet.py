"""A lineage graph as Parquet: a folder with one file for each kind of element, its fields as typed columns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from headwater.formats.wia.decoding import decode_json
from headwater.formats.wia.elements import FIELDS, LISTS, Document, Element, ElementKind, FieldType
from headwater.formats.wia.flat import DOCUMENT, flatten, unflatten

FILES = {
    ElementKind.NODE: "lineage_nodes.parquet",
    ElementKind.EDGE: "lineage_edges.parquet",
    ElementKind.COLUMN: "lineage_columns.parquet",
    ElementKind.PROVENANCE: "lineage_provenance.parquet",
    ElementKind.QUALITY: "lineage_quality.parquet",
}
_HEAD = b"wia_graph"
_ROWS = 20_000
_TYPES = {
    FieldType.TIME: pa.timestamp("us", tz="UTC"),
    FieldType.COUNT: pa.int64(),
    FieldType.FRACTION: pa.float64(),
    FieldType.FLAG: pa.bool_(),
    FieldType.TEXTS: pa.list_(pa.string()),
}


def schema_of(kind: ElementKind) -> pa.Schema:
    columns = [pa.field(field.name, _TYPES.get(field.type, pa.string())) for field in FIELDS[kind]]
    return pa.schema([*columns, pa.field(DOCUMENT, pa.string())])


def write(elements: Iterable[Element], folder: Path) -> None:
    """All five files, also empty ones. The head is in the metadata of the nodes."""
    stream = iter(elements)
    _, head = next(stream)
    with ExitStack() as files:
        tables = {kind: files.enter_context(_ElementWriter(kind, folder / name, head)) for kind, name in FILES.items()}
        for kind, document in stream:
            tables[kind].add(document)


class _ElementWriter:
    def __init__(self, kind: ElementKind, file: Path, head: Document) -> None:
        self._kind = kind
        schema = schema_of(kind)
        if kind is ElementKind.NODE:
            schema = schema.with_metadata({_HEAD: json.dumps(head)})
        self._schema = schema
        self._writer = pq.ParquetWriter(file, schema, compression="zstd")
        self._rows: dict[str, list[object]] = {name: [] for name in schema.names}

    def __enter__(self) -> _ElementWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._flush()
        self._writer.close()

    def add(self, document: Document) -> None:
        for name, value in _storable(flatten(self._kind, document), document).items():
            self._rows[name].append(value)
        if len(self._rows[DOCUMENT]) >= _ROWS:
            self._flush()

    def _flush(self) -> None:
        if self._rows[DOCUMENT]:
            self._writer.write_batch(pa.RecordBatch.from_pydict(self._rows, schema=self._schema))
        self._rows = {name: [] for name in self._rows}


def _storable(row: dict[str, object], document: Document) -> dict[str, object]:
    """Half a surrogate pair has no UTF-8 form: the document has it as JSON, and the column an approximation."""
    unencodable = [name for name, value in row.items() if isinstance(value, str | list) and _encodable(value) != value]
    if unencodable:
        row |= {name: _encodable(row[name]) for name in unencodable} | {DOCUMENT: json.dumps(document)}
    return row


def _encodable(value: object) -> object:
    if isinstance(value, list):
        return [_encodable(item) for item in value]
    return value.encode(errors="replace").decode() if isinstance(value, str) and not value.isascii() else value


def read(folder: Path) -> Iterator[Element]:
    """Raises a ``ValueError`` that names the file and the row."""
    for kind, name in FILES.items():
        file = folder / name
        if not file.is_file():
            if kind in (ElementKind.NODE, ElementKind.EDGE):
                raise ValueError(f"it contains no {name}")
            continue
        try:
            with pq.ParquetFile(file) as opened:
                if kind is ElementKind.NODE:
                    yield ElementKind.GRAPH, _head(opened)
                yield from _rows(kind, name, opened)
        except (pa.ArrowException, OSError) as error:
            raise ValueError(f"{name} cannot be read: {str(error).splitlines()[0]}") from None


def _head(opened: pq.ParquetFile) -> Document:
    stated = (opened.schema_arrow.metadata or {}).get(_HEAD)
    head = decode_json(stated.decode()) if stated is not None else {}
    if not isinstance(head, dict):
        raise ValueError(f"the metadata '{_HEAD.decode()}' of {FILES[ElementKind.NODE]} is not a JSON object")
    return head


def _rows(kind: ElementKind, name: str, opened: pq.ParquetFile) -> Iterator[Element]:
    present = set(opened.schema_arrow.names)
    columns = [field.name for field in schema_of(kind) if field.name in present]
    missing = [f.name for f in FIELDS[kind] if f.required and f.name not in present and DOCUMENT not in present]
    if missing:
        raise ValueError(f"{name} has no column '{missing[0]}' of {LISTS[kind]}")
    row = 0
    for batch in opened.iter_batches(batch_size=_ROWS, columns=columns):
        for flat in batch.to_pylist():
            row += 1
            try:
                yield kind, unflatten(kind, flat)
            except ValueError as error:
                raise ValueError(f"row {row:,} of {name}: {error}") from None
