"""Checks a whole graph against the six rules of the format, element by element, in any order.

It stores only the ids of each element, 16 bytes each: a million edges take some hundred megabytes, whatever their
content.
"""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

import numpy as np

from headwater.errors import GraphCyclic, GraphInvalid, IdNotUnique, ReferenceDangling
from headwater.formats.wia.checks import element_faults, is_id
from headwater.formats.wia.cycles import Numbers, cycle_path, strong_components
from headwater.formats.wia.elements import ID_OF, Document, ElementKind, element_name

_MAX_CYCLES = 100
_ENDS = ("source_node_id", "target_node_id")
_TABLES = ("source_table", "target_table")
_NODELESS = -1


def id_bytes(text: str) -> bytes:
    """An id as 16 bytes, which do not depend on upper or lower case."""
    return bytes.fromhex(text.replace("-", ""))


class GraphCheck:
    def __init__(self) -> None:
        self.counts = dict.fromkeys(ElementKind, 0)
        self._nodes: dict[bytes, int] = {}
        self._names: list[str] = []
        self._tables: set[str] = set()
        self._ids: dict[ElementKind, set[bytes]] = {kind: set() for kind in ElementKind}
        self._edges = bytearray()
        """Of each edge: its own id, that of its source, that of its target."""
        self._mentions: list[tuple[ElementKind, str, bytes]] = []
        """References to nodes, with the element they are in, until all nodes are known."""
        self._column_tables: dict[str, str] = {}
        """By table: a column lineage that refers to it."""

    def check(self, kind: ElementKind, document: Document) -> Iterator[GraphInvalid]:
        """The faults of one element that do not depend on other elements to come."""
        self.counts[kind] += 1
        faults = element_faults(kind, document)
        yield from faults
        if not faults and kind is not ElementKind.GRAPH:
            yield from self._add(kind, document)
        elif faults and kind is ElementKind.NODE:
            self._remember(document)

    def _remember(self, node: Document) -> None:
        """An invalid node still exists: references to it are not dangling."""
        if is_id(node.get("node_id")):
            if self._nodes.setdefault(id_bytes(node["node_id"]), len(self._names)) == len(self._names):
                self._names.append(str(node.get("name")))
            self._tables |= {f"{node.get('namespace')}/{node.get('name')}", str(node.get("qualified_name"))}

    def _add(self, kind: ElementKind, document: Document) -> Iterator[GraphInvalid]:
        own = id_bytes(document[ID_OF[kind]])
        if own in self._ids[kind] or own in self._nodes:
            yield IdNotUnique(element_name(kind, document), "another element has this id")
            return
        if kind is ElementKind.NODE:
            if own in self._ids[ElementKind.EDGE]:
                yield IdNotUnique(element_name(kind, document), "an edge has this id")
                return
            self._nodes[own] = len(self._nodes)
            self._names.append(document["name"])
            self._tables |= {table_of(document), f"{document['namespace']}/{document['name']}"}
            return
        self._ids[kind].add(own)
        if kind is ElementKind.EDGE:
            self._edges += own + b"".join(id_bytes(document[end]) for end in _ENDS)
        elif kind is ElementKind.COLUMN:
            for end in _TABLES:
                self._column_tables.setdefault(document[end], element_name(kind, document))
        else:
            self._mentions.append((kind, document[ID_OF[kind]], id_bytes(document["node_id"])))

    def finish(self) -> Iterator[GraphInvalid]:
        """The faults of the graph as a whole."""
        for kind, known_by, node in self._mentions:
            if node not in self._nodes:
                yield ReferenceDangling(f"{kind} {known_by}", f"node_id names no node: {UUID(bytes=node)}")
        for table, element in self._column_tables.items():
            if table not in self._tables:
                yield ReferenceDangling(element, f"no node has the qualified name '{table}'")
        yield from self._dangling()
        yield from self._cycles()

    def _numbered(self) -> tuple[Numbers, Numbers]:
        """The ends of all edges as numbers of nodes, -1 where there is no such node."""
        ends = np.empty((len(self._edges) // 48, 2), dtype=np.int64)
        edges = memoryview(self._edges)
        for number, start in enumerate(range(0, len(edges), 48)):
            ends[number, 0] = self._nodes.get(bytes(edges[start + 16 : start + 32]), _NODELESS)
            ends[number, 1] = self._nodes.get(bytes(edges[start + 32 : start + 48]), _NODELESS)
        return ends[:, 0], ends[:, 1]

    def _dangling(self) -> Iterator[GraphInvalid]:
        sources, targets = self._ends = self._numbered()
        for number in np.flatnonzero((sources == _NODELESS) | (targets == _NODELESS)).tolist():
            own, *ends = (UUID(bytes=bytes(self._edges[s : s + 16])) for s in range(number * 48, number * 48 + 48, 16))
            for end, node, number_of_node in zip(_ENDS, ends, (sources[number], targets[number]), strict=True):
                if number_of_node == _NODELESS:
                    yield ReferenceDangling(f"edge {own}", f"{end} names no node: {node}")

    def _cycles(self) -> Iterator[GraphInvalid]:
        sources, targets = self._ends
        known = (sources != _NODELESS) & (targets != _NODELESS)
        sources, targets = sources[known], targets[known]
        if not len(sources):
            return
        ids = list(self._nodes)
        for component in strong_components(sources, targets, len(self._nodes))[:_MAX_CYCLES]:
            path = [self._names[node] for node in cycle_path(component, sources, targets)]
            yield GraphCyclic(f"node {UUID(bytes=ids[component[0]])} '{self._names[component[0]]}'", path)


def table_of(node: Document) -> str:
    """The name of a node in column lineage."""
    qualified = node.get("qualified_name")
    return qualified if isinstance(qualified, str) and qualified else f"{node['namespace']}/{node['name']}"
