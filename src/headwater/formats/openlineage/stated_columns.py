"""The column lineage of one facet, parsed before the fold.

A facet of some megabytes has a hundred thousand column edges. The fold blocks all other writers, reading an event does
not: what needs no store is computed when the event is read (:func:`prepare_columns`), and cached for the fold.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from threading import Lock

from headwater.formats.openlineage.text import is_storable
from headwater.model.lineage import ColumnEdge, Dependency
from headwater.model.names import Dataset, Endpoint

Transformation = tuple[Dependency, str | None, bool, str | None]
_MAX_EDGES = 200_000
"""Maximum number of cached edges, of all facets together."""
_to_json = json.JSONEncoder(separators=(",", ":")).encode


class ParsedColumnLineage:
    """``facet`` is a `columnLineage` facet of ``target``."""

    def __init__(self, facet: Mapping[str, object], target: Endpoint) -> None:
        self.by_upstream: dict[Endpoint, list[ColumnEdge]] = {}
        edges: set[ColumnEdge] = set()
        for edge in _edges(facet, target):
            if edge not in edges:
                edges.add(edge)
                self.by_upstream.setdefault(edge.upstream, []).append(edge)
        self.edges = frozenset(edges)
        quoted = JsonStrings()
        self.rows = {
            upstream: sorted((row_text(edge, quoted), row_of(edge)) for edge in same)
            for upstream, same in self.by_upstream.items()
        }
        """By upstream: for each edge its text, which is the sort key, and its stored columns except the upstream."""


class JsonStrings(dict[str | None, str]):
    """Strings as JSON, cached: a facet repeats the same ones."""

    def __missing__(self, text: str | None) -> str:
        self[text] = quoted = _to_json(text)
        return quoted


ColumnEdgeRow = tuple[str | None, str | None, Dependency, str | None, int, str | None]


def row_of(edge: ColumnEdge) -> ColumnEdgeRow:
    source, column, dependency = edge.upstream_column, edge.downstream_column, edge.dependency
    return source, column, dependency, edge.subtype, int(edge.masking), edge.logic


def row_text(edge: ColumnEdge, quoted: JsonStrings) -> str:
    """:func:`row_of` as the end of a JSON array."""
    columns = f"{quoted[edge.upstream_column]},{quoted[edge.downstream_column]}"
    how = f"{quoted[edge.dependency]},{quoted[edge.subtype]},{edge.masking:d},{quoted[edge.logic]}"
    return f"{columns},{how}]"


_cache: OrderedDict[tuple[int, Endpoint], tuple[Mapping[str, object], ParsedColumnLineage]] = OrderedDict()
_lock = Lock()


def prepare_columns(facets: Iterable[tuple[Mapping[str, object], Endpoint]]) -> None:
    """Parse facets, each with its dataset, for the next :func:`parsed_column_lineage` of the same objects."""
    for facet, target in facets:
        parsed = ParsedColumnLineage(facet, target)
        with _lock:
            _cache[id(facet), target] = facet, parsed
            while len(_cache) > 1 and sum(len(other.edges) for _, other in _cache.values()) > _MAX_EDGES:
                _cache.popitem(last=False)


def parsed_column_lineage(facet: Mapping[str, object], target: Endpoint) -> ParsedColumnLineage:
    with _lock:
        cached_facet, parsed = _cache.pop((id(facet), target), (None, None))
    return parsed if parsed is not None and cached_facet is facet else ParsedColumnLineage(facet, target)


def _edges(facet: Mapping[str, object], target: Endpoint) -> Iterator[ColumnEdge]:
    fields, names = facet.get("fields"), _DatasetCache()
    for name, target_field in fields.items() if isinstance(fields, Mapping) else ():
        if isinstance(target_field, Mapping) and is_storable(name):
            unstated = _how_of_field(target_field)
            yield from _input_fields(target_field.get("inputFields"), target, name, unstated, names)
    yield from _input_fields(facet.get("dataset"), target, None, (Dependency.INDIRECT, None, False, None), names)


def _input_fields(
    items: object, target: Endpoint, column: str | None, unstated: Transformation, names: _DatasetCache
) -> Iterator[ColumnEdge]:
    """``unstated``: the transformation of fields that state none."""
    for item in objects(items):
        namespace, name, source = item.get("namespace"), item.get("name"), text_of(item, "field")
        if source is None or not isinstance(namespace, str) or not isinstance(name, str):
            continue
        upstream = names[namespace, name]
        if upstream is not None:
            stated = item.get("transformations")
            for how in transformations(stated, unstated) if stated else (unstated,):
                yield ColumnEdge(upstream, source, target, column, *how)


class _DatasetCache(dict[tuple[str, str], Dataset | None]):
    """By namespace and name: the dataset, created once; None for a name that cannot be stored."""

    def __missing__(self, key: tuple[str, str]) -> Dataset | None:
        self[key] = dataset = Dataset(*key) if all(map(is_storable, key)) else None
        return dataset


def _how_of_field(target_field: Mapping[str, object]) -> Transformation:
    """The first version of the facet states this once per target field, and does not distinguish direct from
    indirect."""
    kind = text_of(target_field, "transformationType")
    subtype = None if kind in (None, "MASKED") else kind
    return Dependency.DIRECT, subtype, kind == "MASKED", _logic(target_field, "transformationDescription")


def transformations(stated: object, unstated: Transformation) -> Iterator[Transformation]:
    stated_items = list(objects(stated))
    for transformation in stated_items:
        kind = text_of(transformation, "type")
        dependency = Dependency(kind) if kind in ("DIRECT", "INDIRECT") else unstated[0]
        masking = transformation.get("masking") is True
        yield dependency, text_of(transformation, "subtype"), masking, _logic(transformation, "description")
    if not stated_items:
        yield unstated


def objects(value: object) -> Iterator[Mapping[str, object]]:
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, Mapping))


def text_of(item: Mapping[str, object], key: str) -> str | None:
    value = item.get(key)
    return value if isinstance(value, str) and is_storable(value) else None


def _logic(item: Mapping[str, object], key: str) -> str | None:
    return text_of(item, key) or None
