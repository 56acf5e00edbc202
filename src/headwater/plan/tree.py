"""The JSON of a Catalyst plan as a tree.

``TreeNode.toJSON`` writes a tree as a list in pre-order, each node with its "class" and "num-children". A field that is
one of the children is written as the child's index, a list of them as a list of indexes; a tree in any other field (an
operator's expressions, a subquery's plan) is again such a list. Fields are parsed on demand: most of a plan is never
needed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TypeGuard, TypeVar

from headwater.errors import PlanUnreadable

Result = TypeVar("Result")


class PlanNode:
    """An operator or an expression. ``fields`` has the original JSON; :meth:`tree` and :meth:`trees` parse it."""

    __slots__ = ("_read", "children", "fields", "name")

    def __init__(self, name: str, fields: dict[str, object], children: tuple[PlanNode, ...]) -> None:
        self.name = name
        """The class without its package, such as "Project"."""
        self.fields = fields
        self.children = children
        self._read: dict[str, tuple[PlanNode, ...]] = {}

    def __repr__(self) -> str:
        return f"<{self.name} with {len(self.children)} children>"

    def tree(self, field: str) -> PlanNode | None:
        """The one node in a field; None if the field is absent or empty."""
        trees = self.trees(field)
        return trees[0] if trees else None

    def trees(self, field: str) -> tuple[PlanNode, ...]:
        """All nodes in a field, nested lists flattened."""
        cached = self._read.get(field)
        if cached is None:
            cached = self._read[field] = tuple(self._nodes(self.fields.get(field), field))
        return cached

    def other_trees(self) -> Iterator[PlanNode]:
        """All nodes in fields that are not children."""
        for field, value in self.fields.items():
            if isinstance(value, list) and value and not isinstance(value[0], int):
                yield from self.trees(field)

    def rows(self, field: str) -> list[tuple[PlanNode, ...]] | None:
        """A list of lists of nodes; None if the field is not one."""
        value = self.fields.get(field)
        if not isinstance(value, list) or not all(isinstance(row, list) for row in value):
            return None
        return [tuple(self._nodes(row, field)) for row in value]

    def text(self, field: str) -> str | None:
        value = self.fields.get(field)
        return value if isinstance(value, str) else None

    def flag(self, field: str) -> bool:
        return self.fields.get(field) is True

    def number(self, field: str) -> int | None:
        value = self.fields.get(field)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def object_name(self, field: str) -> str | None:
        """The simple name of a Scala object or class in a field: "Inner" for Catalyst's `Inner$`."""
        value = self.fields.get(field)
        if not isinstance(value, dict):
            return None
        name = value.get("object") or value.get("product-class")
        return simple_name(name) if isinstance(name, str) else None

    @property
    def expr_id(self) -> int | None:
        """Catalyst's id of a column."""
        value = self.fields.get("exprId")
        expr_id = value.get("id") if isinstance(value, dict) else None
        return expr_id if isinstance(expr_id, int) else None

    def expr_ids(self, field: str) -> list[int]:
        """Catalyst's ids in a list of them; empty if the field is not one."""
        values = self.fields.get(field)
        ids = [item.get("id") for item in values if isinstance(item, dict)] if isinstance(values, list) else []
        return [expr_id for expr_id in ids if isinstance(expr_id, int)]

    def _nodes(self, value: object, field: str) -> Iterator[PlanNode]:
        if isinstance(value, int) and not isinstance(value, bool):
            if not 0 <= value < len(self.children):
                raise PlanUnreadable(f"{self.name}.{field} names child {value} of {len(self.children)}")
            yield self.children[value]
        elif _is_tree(value):
            yield _read(value)
        elif isinstance(value, list):
            for item in value:
                yield from self._nodes(item, field)


def read_plan(text: str) -> PlanNode:
    """Parses ``plan.toJSON()``."""
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PlanUnreadable(f"it is not JSON: {error}") from error
    if not _is_tree(parsed):
        raise PlanUnreadable('it is not a list of nodes with "class" and "num-children"')
    return _read(parsed)


def fold(
    root: PlanNode, shortcut: Callable[[PlanNode], Result | None], combine: Callable[[PlanNode, list[Result]], Result]
) -> Result:
    """From the leaves up, without recursion: an expression may be nested deeper than Python's stack.

    ``shortcut`` may return the result of a node at once; its children are then not visited.
    """
    results: list[Result] = []
    todo: list[tuple[PlanNode, bool]] = [(root, False)]
    while todo:
        node, done = todo.pop()
        if done:
            split = len(results) - len(node.children)
            arguments = results[split:]
            del results[split:]
            results.append(combine(node, arguments))
        elif (answer := shortcut(node)) is not None:
            results.append(answer)
        else:
            todo.append((node, True))
            todo.extend((child, False) for child in reversed(node.children))
    return results[0]


def _is_tree(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict) and "num-children" in value[0]


def _read(items: list[object]) -> PlanNode:
    """Backwards through the pre-order, so that a node's children are ready when it is reached, first child on top."""
    ready: list[PlanNode] = []
    for item in reversed(items):
        if not isinstance(item, dict) or not isinstance(item.get("class"), str):
            raise PlanUnreadable('a node has no "class"')
        name = simple_name(item["class"])
        count = item.get("num-children")
        if not isinstance(count, int) or isinstance(count, bool) or count < 0:
            raise PlanUnreadable(f'{name} has no "num-children"')
        if count > len(ready):
            raise PlanUnreadable(f"{name} says it has {count} children, and {len(ready)} nodes are left for it")
        children = tuple(ready[len(ready) - count :][::-1]) if count else ()
        del ready[len(ready) - count :]
        ready.append(PlanNode(name, item, children))
    if len(ready) != 1:
        raise PlanUnreadable(f"it has {len(ready)} roots")
    return ready[0]


def simple_name(name: str) -> str:
    """`org.apache.….SampleMethod$Bernoulli$` is Bernoulli."""
    return name.rstrip("$").rsplit(".", 1)[-1].rsplit("$", 1)[-1]
