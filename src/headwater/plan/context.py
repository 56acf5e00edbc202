"""What operators and expressions ask of the trace they are part of."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from headwater.plan.flow import Lost, Mix, Value
from headwater.plan.lineage import Attribute
from headwater.plan.relation import Relation, Scope
from headwater.plan.sqltext.text import Text
from headwater.plan.tree import Node


class Context(Protocol):
    ctes: dict[int, Relation]
    """The common table expressions seen so far, by id."""
    loops: dict[int, tuple[Mix, ...]]
    """The columns of recursive queries, which are read before they are complete."""

    @property
    def ambiguous(self) -> Collection[str]:
        """Column names that more than one source has."""
        ...

    def value(self, node: Node, scope: Scope) -> Value:
        """Where an expression's value comes from."""
        ...

    def text(self, node: Node, scope: Scope) -> Text: ...

    def subquery(self, node: Node, scope: Scope) -> Relation:
        """The plan inside a subquery expression, traced once."""
        ...

    def source(self, node: Node, attributes: tuple[Attribute, ...]) -> Relation: ...

    def output(self, plan: Node) -> tuple[Attribute, ...]:
        """The columns of a plan that is not itself part of the trace."""
        ...

    def origin(self, leaf: Node) -> Relation | None:
        """What the caller knows to be behind a leaf."""
        ...

    def gap(self, operator: str, reason: str, *, rows: bool = False) -> Lost:
        """Notes that something cannot be seen through. With ``rows`` it concerns all columns, else those that the
        answer reaches."""
        ...
