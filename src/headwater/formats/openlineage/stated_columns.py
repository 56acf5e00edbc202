"""The column lineage of one facet, taken apart before anybody has to wait for it.

A facet of some megabytes has a hundred thousand column edges. All that can be made of it without the store is made when
the event is read (:func:`prepare_columns`), which holds nobody up, and is at hand when it is folded, which holds up
everybody else that writes.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from threading import Lock
from typing import Any

from headwater.formats.openlineage.text import storable
from headwater.model.lineage import ColumnEdge, Dependency
from headwater.model.names import Dataset, Endpoint

How = tuple[Dependency, str | None, bool, str | None]
_MOST_EDGES = 200_000
"""That are kept between reading and folding, of all facets together."""
_to_json = json.JSONEncoder(separators=(",", ":")).encode


class StatedColumns:
    """``facet`` is a `columnLineage` facet of ``target``."""

    def __init__(self, facet: Mapping[str, Any], target: Endpoint) -> None:
        self.by_upstream: dict[Dataset, list[ColumnEdge]] = {}
        edges: set[ColumnEdge] = set()
        for edge in _edges(facet, target):
            if edge not in edges:
                edges.add(edge)
                assert isinstance(edge.upstream, Dataset)
                self.by_upstream.setdefault(edge.upstream, []).append(edge)
        self.edges = frozenset(edges)
        quoted = Quoted()
        self.rows = {
            upstream: sorted((row_text(edge, quoted), row_of(edge)) for edge in same)
            for upstream, same in self.by_upstream.items()
        }
        """By upstream: each edge as it is stored, without the upstream, after its text, which is their order."""


class Quoted(dict[str | None, str]):
    """Strings as JSON. A facet says the same ones again and again."""

    def __missing__(self, text: str | None) -> str:
        self[text] = quoted = _to_json(text)
        return quoted


Row = tuple[str | None, str | None, Dependency, str | None, int, str | None]


def row_of(edge: ColumnEdge) -> Row:
    source, column, dependency = edge.upstream_column, edge.downstream_column, edge.dependency
    return source, column, dependency, edge.subtype, int(edge.masking), edge.logic


def row_text(edge: ColumnEdge, quoted: Quoted) -> str:
    """:func:`row_of` as the end of a JSON array."""
    columns = f"{quoted[edge.upstream_column]},{quoted[edge.downstream_column]}"
    how = f"{quoted[edge.dependency]},{quoted[edge.subtype]},{edge.masking:d},{quoted[edge.logic]}"
    return f"{columns},{how}]"


_prepared: OrderedDict[tuple[int, Endpoint], tuple[Mapping[str, Any], StatedColumns]] = OrderedDict()
_lock = Lock()


def prepare_columns(facets: Iterable[tuple[Mapping[str, Any], Endpoint]]) -> None:
    """For the next :func:`stated_columns` of the same facets, each with the dataset that it is of."""
    for facet, target in facets:
        made = StatedColumns(facet, target)
        with _lock:
            _prepared[id(facet), target] = facet, made
            while len(_prepared) > 1 and sum(len(other.edges) for _, other in _prepared.values()) > _MOST_EDGES:
                _prepared.popitem(last=False)


def stated_columns(facet: Mapping[str, Any], target: Endpoint) -> StatedColumns:
    with _lock:
        of, made = _prepared.pop((id(facet), target), (None, None))
    return made if made is not None and of is facet else StatedColumns(facet, target)


def _edges(facet: Mapping[str, Any], target: Endpoint) -> Iterator[ColumnEdge]:
    fields, names = facet.get("fields"), _Names()
    for name, target_field in fields.items() if isinstance(fields, Mapping) else ():
        if isinstance(target_field, Mapping) and storable(name):
            unstated = _how_of_field(target_field)
            yield from _input_fields(target_field.get("inputFields"), target, name, unstated, names)
    yield from _input_fields(facet.get("dataset"), target, None, (Dependency.INDIRECT, None, False, None), names)


def _input_fields(
    items: Any, target: Endpoint, column: str | None, unstated: How, names: _Names
) -> Iterator[ColumnEdge]:
    """``unstated``: how the fields flow that do not say so."""
    for item in objects(items):
        namespace, name, source = item.get("namespace"), item.get("name"), text_of(item, "field")
        if source is None or not isinstance(namespace, str) or not isinstance(name, str):
            continue
        upstream = names[namespace, name]
        if upstream is not None:
            stated = item.get("transformations")
            for how in transformations(stated, unstated) if stated else (unstated,):
                yield ColumnEdge(upstream, source, target, column, *how)


class _Names(dict[tuple[str, str], Dataset | None]):
    """By namespace and name: the dataset, made once; None for what no store can hold."""

    def __missing__(self, key: tuple[str, str]) -> Dataset | None:
        self[key] = dataset = Dataset(*key) if all(map(storable, key)) else None
        return dataset


def _how_of_field(target_field: Mapping[str, Any]) -> How:
    """The first form of the facet says this once per target field, and does not tell direct from indirect."""
    kind = text_of(target_field, "transformationType")
    subtype = None if kind in (None, "MASKED") else kind
    return Dependency.DIRECT, subtype, kind == "MASKED", _logic(target_field, "transformationDescription")


def transformations(stated: Any, unstated: How) -> Iterator[How]:
    said = list(objects(stated))
    for transformation in said:
        kind = text_of(transformation, "type")
        dependency = Dependency(kind) if kind in ("DIRECT", "INDIRECT") else unstated[0]
        masking = transformation.get("masking") is True
        yield dependency, text_of(transformation, "subtype"), masking, _logic(transformation, "description")
    if not said:
        yield unstated


def objects(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, Mapping))


def text_of(item: Mapping[str, Any], key: str) -> str | None:
    value = item.get(key)
    return value if isinstance(value, str) and storable(value) else None


def _logic(item: Mapping[str, Any], key: str) -> str | None:
    return text_of(item, key) or None
