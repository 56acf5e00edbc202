"""A graph laid down in a file of its own, so that what belongs to a node can be read together, however large it is."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import Self

from headwater.formats.openlineage.text import is_storable
from headwater.formats.wia.elements import Document, ElementKind
from headwater.formats.wia.events import NodeGroup
from headwater.formats.wia.graph_check import id_bytes, table_of
from headwater.formats.wia.namespaces import from_uri
from headwater.model.names import Dataset
from headwater.store.schema.stored_rows import PlainRow

_TABLES = """
    CREATE TABLE node
        (number INTEGER PRIMARY KEY, id BLOB UNIQUE, namespace TEXT, name TEXT, called TEXT, document TEXT);
    CREATE TABLE edge (source BLOB, target BLOB, document TEXT);
    CREATE TABLE columns (source TEXT, target TEXT, document TEXT);
    CREATE TABLE said (kind TEXT, node BLOB, document TEXT);
"""
_INDEXES = "CREATE INDEX IF NOT EXISTS node_called ON node (called)"
_INSERTS = {
    ElementKind.NODE: "INSERT INTO node (id, namespace, name, called, document) VALUES (?, ?, ?, ?, ?)",
    ElementKind.EDGE: "INSERT INTO edge VALUES (?, ?, ?)",
    ElementKind.COLUMN: "INSERT INTO columns VALUES (?, ?, ?)",
}
_INSERT_OTHER = "INSERT INTO said VALUES (?, ?, ?)"
_EDGES = """
    SELECT target.number, source.namespace, source.name, edge.document FROM edge
    JOIN node AS target ON target.id = edge.target JOIN node AS source ON source.id = edge.source
    ORDER BY target.number, edge.rowid
"""
# A qualified name may stand for several nodes: then the first is meant.
_COLUMNS = """
    SELECT target.number, source.namespace, source.name, columns.document FROM columns
    JOIN node AS target ON target.number = (SELECT min(number) FROM node WHERE called = columns.target)
    JOIN node AS source ON source.number = (SELECT min(number) FROM node WHERE called = columns.source)
    ORDER BY target.number, columns.rowid
"""
_OTHERS = """
    SELECT node.number, said.kind, said.document FROM said JOIN node ON node.id = said.node
    ORDER BY node.number, said.rowid
"""
_AT_ONCE = 5_000
_encode = json.JSONEncoder(separators=(",", ":")).encode


class Staging:
    """Elements of a sound graph go in; nodes come out, each with what is said of it, in the order they came."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="headwater-import-")
        self._database = sqlite3.connect(Path(self._folder.name) / "graph.db", isolation_level=None)
        self._database.execute("PRAGMA journal_mode = OFF")
        self._database.execute("PRAGMA synchronous = OFF")
        self._database.executescript(_TABLES)
        self._waiting: dict[str, list[tuple[object, ...]]] = {}
        self._names: set[Dataset] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()
        self._folder.cleanup()

    def add(self, kind: ElementKind, document: Document) -> None:
        if kind is ElementKind.NODE:
            dataset = self._dataset(document)
            row = (id_bytes(document["node_id"]), dataset.namespace, dataset.name, table_of(document))
            self._insert(_INSERTS[kind], (*row, _encode(document)))
        elif kind is ElementKind.EDGE:
            ends = id_bytes(document["source_node_id"]), id_bytes(document["target_node_id"])
            self._insert(_INSERTS[kind], (*ends, _encode(document)))
        elif kind is ElementKind.COLUMN:
            self._insert(_INSERTS[kind], (document["source_table"], document["target_table"], _encode(document)))
        elif kind is not ElementKind.GRAPH:
            self._insert(_INSERT_OTHER, (kind, id_bytes(document["node_id"]), _encode(document)))

    def _dataset(self, node: Document) -> Dataset:
        """By the full name of a node. The format distinguishes nodes by their ids alone, so two may have the same
        name; the later one gets its id as a suffix here too."""
        namespace, qualified = from_uri(node["namespace"]), node.get("qualified_name") or ""
        beginning = f"{node['namespace']}/"
        full = qualified.removeprefix(beginning) if qualified.startswith(beginning) else ""
        name = full if full and is_storable(full) else node["name"]
        dataset = Dataset(namespace, name)
        if dataset in self._names:
            dataset = Dataset(namespace, f"{name}#{node['node_id']}")
        self._names.add(dataset)
        return dataset

    def _insert(self, statement: str, row: tuple[object, ...]) -> None:
        waiting = self._waiting.setdefault(statement, [])
        waiting.append(row)
        if len(waiting) >= _AT_ONCE:
            self._flush(statement)

    def _flush(self, statement: str) -> None:
        self._database.execute("BEGIN")
        self._database.executemany(statement, self._waiting.pop(statement))
        self._database.execute("COMMIT")

    def groups(self) -> Iterator[NodeGroup]:
        for statement in list(self._waiting):
            self._flush(statement)
        self._database.execute(_INDEXES)
        edges, columns, others = (_Behind(self._database.execute(query)) for query in (_EDGES, _COLUMNS, _OTHERS))
        nodes = self._database.execute("SELECT number, namespace, name, document FROM node ORDER BY number")
        for number, namespace, name, document in nodes:
            said = [(kind, json.loads(text)) for _, kind, text in others.of(number)]
            yield NodeGroup(
                Dataset(namespace, name),
                json.loads(document),
                [(Dataset(n, d), text) for _, n, d, text in edges.of(number)],
                [(Dataset(n, d), json.loads(text)) for _, n, d, text in columns.of(number)],
                [each for kind, each in said if kind == ElementKind.PROVENANCE],
                [each for kind, each in said if kind == ElementKind.QUALITY],
            )


class _Behind:
    """Rows in the order of the nodes that they belong to, taken node by node."""

    def __init__(self, rows: Iterator[PlainRow]) -> None:
        self._groups = groupby(rows, key=lambda row: row[0])
        self._next = next(self._groups, None)

    def of(self, number: int) -> list[PlainRow]:
        if self._next is None or self._next[0] != number:
            return []
        rows = list(self._next[1])
        self._next = next(self._groups, None)
        return rows
