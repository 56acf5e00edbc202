"""Decodes JSON into the types of :mod:`headwater.model`: the inverse of :mod:`headwater.model.plain`.

The types come from the annotations of the classes. Decoding is strict: a member that is missing, unknown or of another
type raises :class:`ShapeError` with its path, so that an answer of another version is never misread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import cache
from types import GenericAlias, NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from headwater.model.answers import Change, Closure, Grain, Node, RunDiff
from headwater.model.lineage import Dependency
from headwater.model.names import Dataset, Endpoint, Job

Answer = TypeVar("Answer")
Decoder = Callable[[object, str], Any]
"""From a JSON value and its path to an instance of the type that the decoder is for."""
_SCALARS: dict[object, tuple[type, ...]] = {
    str: (str,),
    int: (int,),
    float: (float, int),
    bool: (bool,),
    NoneType: (NoneType,),
}


class ShapeError(ValueError):
    """``field`` is the path to a value of an unknown shape."""

    def __init__(self, field: str, reason: str) -> None:
        self.field = field
        self.reason = reason
        super().__init__(f"{field}: {reason}")


def decode(kind: type[Answer], value: object, field: str = "$") -> Answer:
    """``value`` as an instance of ``kind``."""
    expected: object = kind
    answer: Answer = decoder(expected)(value, field)
    return answer


def decode_all(kind: type[Answer], values: object, field: str = "items") -> tuple[Answer, ...]:
    expected: object = GenericAlias(tuple, (kind, ...))
    answers: tuple[Answer, ...] = decoder(expected)(values, field)
    return answers


@cache
def decoder(kind: object) -> Decoder:
    """The decoder of ``kind``. The annotations of a class are resolved once."""
    if kind is Any or kind is object:
        return lambda value, field: value
    if isinstance(kind, type) and kind in _SCALARS:
        return _scalar(kind)
    if kind is datetime:
        return _moment
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _union(inner)
    if origin in (tuple, list):
        return _sequence(origin, inner)
    if origin is not None and issubclass(origin, Mapping):
        return _mapping(inner[1])
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return _choice(kind)
    if isinstance(kind, type) and (is_dataclass(kind) or hasattr(kind, "_fields")):
        return _record(kind)
    raise TypeError(f"no decoder is known for {kind}")


def _scalar(kind: type) -> Decoder:
    allowed = _SCALARS[kind]

    def scalar(value: object, field: str) -> object:
        if type(value) not in allowed:  # not isinstance: True is not a number
            raise ShapeError(field, f"{_named(value)} where {kind.__name__} is expected")
        return value

    return scalar


def _moment(value: object, field: str) -> datetime:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        moment = None
    if moment is None:
        raise ShapeError(field, f"{_named(value)} where a time is expected")
    if moment.tzinfo is None:
        raise ShapeError(field, "a time without a zone")
    return moment


def _union(kinds: tuple[object, ...]) -> Decoder:
    if set(kinds) >= {Dataset, Job}:
        endpoint: Decoder = _endpoint
        return _optional(endpoint) if NoneType in kinds else endpoint
    others = [kind for kind in kinds if kind is not NoneType]
    if len(others) == 1:
        return _optional(decoder(others[0]))
    if all(kind in _SCALARS for kind in others):
        allowed = tuple(name for kind in kinds for name in _SCALARS[kind])

        def scalar(value: object, field: str) -> object:
            if type(value) not in allowed:
                raise ShapeError(field, f"{_named(value)} where a plain value is expected")
            return value

        return scalar
    raise TypeError(f"no decoder is known for a union of {kinds}")


def _optional(inner: Decoder) -> Decoder:
    return lambda value, field: None if value is None else inner(value, field)


def _endpoint(value: object, field: str) -> Endpoint:
    """A job has a type; a dataset has none."""
    kind = Job if isinstance(value, dict) and value.get("type") == "job" else Dataset
    endpoint: Endpoint = decoder(kind)(value, field)
    return endpoint


def _sequence(origin: type, inner: tuple[object, ...]) -> Decoder:
    if origin is tuple and inner[-1] is not Ellipsis:
        return _fixed([decoder(kind) for kind in inner])
    item = decoder(inner[0])

    def sequence(value: object, field: str) -> object:
        if not isinstance(value, list):
            raise ShapeError(field, f"{_named(value)} where a list is expected")
        return origin(item(element, f"{field}[{index}]") for index, element in enumerate(value))

    return sequence


def _fixed(items: Sequence[Decoder]) -> Decoder:
    def fixed(value: object, field: str) -> tuple[object, ...]:
        if not isinstance(value, list) or len(value) != len(items):
            raise ShapeError(field, f"{_named(value)} where a list of {len(items)} is expected")
        pairs = enumerate(zip(items, value, strict=True))
        return tuple(item(element, f"{field}[{index}]") for index, (item, element) in pairs)

    return fixed


def _mapping(inner: object) -> Decoder:
    item = decoder(inner)

    def mapping(value: object, field: str) -> dict[str, object]:
        return {name: item(member, f"{field}.{name}") for name, member in _object(value, field).items()}

    return mapping


def _choice(kind: type[StrEnum]) -> Decoder:
    members = {member.value: member for member in kind}

    def choice(value: object, field: str) -> StrEnum:
        member = members.get(value) if isinstance(value, str) else None
        if member is None:
            raise ShapeError(field, f"{_named(value)} is not one of {', '.join(kind)}")
        return member

    return choice


def _record(kind: type) -> Decoder:
    hints = get_type_hints(kind)
    names = tuple(member.name for member in fields(kind)) if is_dataclass(kind) else tuple(hints)
    members: dict[str, Decoder] = {}  # filled at the first use: a class may contain itself
    tag = {"type": "job"} if kind is Job else {}

    def record(value: object, field: str) -> object:
        if not members:
            members.update({name: decoder(hints[name]) for name in names})
        document = _object(value, field)
        _require_members(document, {*names, *tag}, field)
        if any(document[name] != expected for name, expected in tag.items()):
            raise ShapeError(f"{field}.type", f"{_named(document['type'])} where 'job' is expected")
        return kind(**{name: member(document[name], f"{field}.{name}") for name, member in members.items()})

    return record


def decode_page(kind: type[Answer], page: object) -> tuple[tuple[Answer, ...], str | None]:
    """The items of one page of a list, and the cursor of the next."""
    document = _object(page, "$")
    _require_members(document, {"items", "next"}, "$")
    return decode_all(kind, document["items"]), decoder(str | None)(document["next"], "next")


def decode_list(kind: type[Answer], answer: object) -> tuple[Answer, ...]:
    """The items of a complete list, whose cursor is missing or null."""
    return decode_page(kind, {"next": None, **_object(answer, "$")})[0]


def decode_part(answer: object, part: str) -> tuple[dict[str, object], list[object], str | None]:
    """One page of an answer: its other members, the list ``part`` with its items undecoded, and the cursor of the next
    page."""
    document = _object(answer, "$")
    for name in (part, "next"):
        if name not in document:
            raise ShapeError(name, "it is missing")
    items: list[object] = decoder(list[object])(document[part], part)
    cursor: str | None = decoder(str | None)(document["next"], "next")
    return {name: value for name, value in document.items() if name not in (part, "next")}, items, cursor


def decode_closure(head: Mapping[str, object], nodes: Sequence[object]) -> Closure:
    """The answer of `lineage/upstream` or `lineage/downstream` with `parents`; ``nodes`` are those of all pages."""
    names = [member.name for member in fields(Closure) if member.name != "nodes"]
    _require_members(head, set(names), "$")
    hints = get_type_hints(Closure)
    values = {name: decoder(hints[name])(head[name], name) for name in names}
    return Closure(**values, nodes=tuple(_nodes(nodes, values["grain"])))


def decode_diff(answer: object) -> RunDiff:
    """A change may be any JSON value. Of a column edge it is a list, whose dependencies become members of the enum."""
    diff = decode(RunDiff, answer)
    changes = [
        Change(change.what, change.name, _dependencies(change.before, place), _dependencies(change.after, place))
        for change, place in ((change, f"column_edges[{index}]") for index, change in enumerate(diff.column_edges))
    ]
    return replace(diff, column_edges=tuple(changes))


def _dependencies(edges: object, field: str) -> object:
    documents: list[dict[str, object]] | None = decoder(list[dict[str, object]] | None)(edges, field)
    dependency = decoder(Dependency)
    return documents and [{**edge, "dependency": dependency(edge.get("dependency"), field)} for edge in documents]


_NODE = {"endpoint", "part", "depth", "dependency", "via", "path", "parent"}
_Ref = tuple[int, Endpoint, str | None]


def _nodes(values: Sequence[object], grain: Grain) -> list[Node]:
    """A node's parent is one hop nearer, so it precedes the node in the list."""
    hints = get_type_hints(Node)
    nodes: dict[_Ref, Node] = {}
    for index, value in enumerate(values):
        field = f"nodes[{index}]"
        document = _object(value, field)
        _require_members(document, _NODE, field)
        members = {
            name: decoder(hints[name])(document[name], f"{field}.{name}")
            for name in ("endpoint", "part", "depth", "dependency", "via")
        }
        parent = None
        if document["parent"] is not None:
            parent = nodes.get((members["depth"] - 1, *_parent(document["parent"], f"{field}.parent")))
            if parent is None:
                raise ShapeError(
                    f"{field}.parent", "it is not among the preceding nodes: the graph has changed meanwhile"
                )
        nodes[members["depth"], members["endpoint"], members["part"]] = Node(**members, grain=grain, parent=parent)
    return list(nodes.values())


def _parent(value: object, field: str) -> tuple[Endpoint, str | None]:
    document = _object(value, field)
    _require_members(document, {"endpoint", "part"}, field)
    part: str | None = decoder(str | None)(document["part"], f"{field}.part")
    return _endpoint(document["endpoint"], f"{field}.endpoint"), part


def _object(value: object, field: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise ShapeError(field, f"{_named(value)} where an object is expected")
    return value


def _require_members(document: Mapping[str, object], names: set[str], field: str) -> None:
    missing, unknown = sorted(names - document.keys()), sorted(document.keys() - names)
    if missing:
        raise ShapeError(f"{field}.{missing[0]}", "it is missing")
    if unknown:
        raise ShapeError(f"{field}.{unknown[0]}", "this version of Headwater does not know it")


def _named(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
