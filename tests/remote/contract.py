"""Whether two stores give the same answers: by value, by type and by error."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any

from headwater.errors import HeadwaterError, QueryError
from headwater.model.answers import Closure, Node

Query = Callable[[Any], object]


def exact(value: Any) -> Any:
    """``value`` with the type of everything in it, for comparison by `==`; a node with its parents."""
    if isinstance(value, Closure):
        return _members(value, {field.name for field in fields(value)} - {"nodes"}), _nodes(value.nodes)
    if is_dataclass(value) and not isinstance(value, type):
        return _members(value, {field.name for field in fields(value)})
    if isinstance(value, Mapping):
        return "mapping", [(name, exact(one)) for name, one in value.items()]
    if isinstance(value, datetime):
        return datetime, value, value.utcoffset()
    if isinstance(value, list | tuple):
        return type(value), [exact(one) for one in value]
    return type(value), value


def _members(value: Any, names: set[str]) -> Any:
    return type(value), [(name, exact(getattr(value, name))) for name in sorted(names)]


def _nodes(nodes: tuple[Node, ...]) -> Any:
    """Nodes are compared by identity, so their parents are given by their position in the list."""
    places: dict[int, int] = {id(node): place for place, node in enumerate(nodes)}
    names = {field.name for field in fields(Node)} - {"parent"}
    assert all(node.parent is None or id(node.parent) in places for node in nodes)
    return type(nodes), [
        (_members(node, names), None if node.parent is None else places[id(node.parent)], [s.label for s in node.path])
        for node in nodes
    ]


def outcome(ask: Query, store: Any) -> Any:
    """The answer, or the error with its text; for a lookup error also its attributes."""
    try:
        answer = ask(store)
    except HeadwaterError as error:
        return type(error), str(error), vars(error) if isinstance(error, QueryError) else {}
    return exact(answer)


def assert_same_answers(questions: Iterator[tuple[str, Query]], local: Any, remote: Any) -> int:
    """Runs every query on both; returns their number."""
    count = 0
    for title, ask in questions:
        expected, answered = outcome(ask, local), outcome(ask, remote)
        assert answered == expected, f"{title}\n  expected {expected}\n  answered {answered}"
        count += 1
    return count
