"""A whole graph held against the six rules of the format, element by element, in whatever order they come.

Of each element only its ids are kept, as 16 bytes each: a million edges are some hundred megabytes, whatever they say.
"""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

import numpy as np

from headwater.errors import GraphCyclic, GraphInvalid, IdNotUnique, ReferenceDangling
from headwater.formats.wia.checks import faults, is_id
from headwater.formats.wia.cycles import Numbers, knots, path_round
from headwater.formats.wia.elements import ID_OF, Document, Kind, named

_MOST_CYCLES = 100
_ENDS = ("source_node_id", "target_node_id")
_TABLES = ("source_table", "target_table")
_NODELESS = -1


def id_bytes(text: str) -> bytes:
    """An id as it is compared: however it is spelled, it is the same 128 bits."""
    return bytes.fromhex(text.replace("-", ""))


class GraphCheck:
    def __init__(self) -> None:
        self.counts = dict.fromkeys(Kind, 0)
        self._nodes: dict[bytes, int] = {}
        self._names: list[str] = []
        self._tables: set[str] = set()
        self._ids: dict[Kind, set[bytes]] = {kind: set() for kind in Kind}
        self._edges = bytearray()
        """Of each edge: its own id, its source's, its target's."""
        self._mentions: list[tuple[Kind, str, bytes]] = []
        """What is said of nodes, by whom, until it is known which nodes there are."""
        self._spoken_of: dict[str, str] = {}
        """By table: a column lineage that speaks of it."""

    def take(self, kind: Kind, document: Document) -> Iterator[GraphInvalid]:
        """What is wrong with one element, as far as it can be told before all are known."""
        self.counts[kind] += 1
        wrong = faults(kind, document)
        yield from wrong
        if not wrong and kind is not Kind.GRAPH:
            yield from self._keep(kind, document)
        elif wrong and kind is Kind.NODE:
            self._remember(document)

    def _remember(self, node: Document) -> None:
        """A node that is wrong is there all the same: what refers to it is not wrong for that."""
        if is_id(node.get("node_id")):
            if self._nodes.setdefault(id_bytes(node["node_id"]), len(self._names)) == len(self._names):
                self._names.append(str(node.get("name")))
            self._tables |= {f"{node.get('namespace')}/{node.get('name')}", str(node.get("qualified_name"))}

    def _keep(self, kind: Kind, document: Document) -> Iterator[GraphInvalid]:
        own = id_bytes(document[ID_OF[kind]])
        if own in self._ids[kind] or own in self._nodes:
            yield IdNotUnique(named(kind, document), "another element has this id")
            return
        if kind is Kind.NODE:
            if own in self._ids[Kind.EDGE]:
                yield IdNotUnique(named(kind, document), "an edge has this id")
                return
            self._nodes[own] = len(self._nodes)
            self._names.append(document["name"])
            self._tables |= {table_of(document), f"{document['namespace']}/{document['name']}"}
            return
        self._ids[kind].add(own)
        if kind is Kind.EDGE:
            self._edges += own + b"".join(id_bytes(document[end]) for end in _ENDS)
        elif kind is Kind.COLUMN:
            for end in _TABLES:
                self._spoken_of.setdefault(document[end], named(kind, document))
        else:
            self._mentions.append((kind, document[ID_OF[kind]], id_bytes(document["node_id"])))

    def finish(self) -> Iterator[GraphInvalid]:
        """What can only be told of the whole."""
        for kind, known_by, node in self._mentions:
            if node not in self._nodes:
                yield ReferenceDangling(f"{kind} {known_by}", f"node_id names no node: {UUID(bytes=node)}")
        for table, element in self._spoken_of.items():
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
            for end, node, place in zip(_ENDS, ends, (sources[number], targets[number]), strict=True):
                if place == _NODELESS:
                    yield ReferenceDangling(f"edge {own}", f"{end} names no node: {node}")

    def _cycles(self) -> Iterator[GraphInvalid]:
        sources, targets = self._ends
        whole = (sources != _NODELESS) & (targets != _NODELESS)
        sources, targets = sources[whole], targets[whole]
        if not len(sources):
            return
        ids = list(self._nodes)
        for knot in knots(sources, targets, len(self._nodes))[:_MOST_CYCLES]:
            path = [self._names[node] for node in path_round(knot, sources, targets)]
            yield GraphCyclic(f"node {UUID(bytes=ids[knot[0]])} '{self._names[knot[0]]}'", path)


def table_of(node: Document) -> str:
    """What column lineage calls a node."""
    qualified = node.get("qualified_name")
    return qualified if isinstance(qualified, str) and qualified else f"{node['namespace']}/{node['name']}"
