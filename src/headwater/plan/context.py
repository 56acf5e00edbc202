"""What operators and expressions may call on the trace they are part of."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from headwater.plan.flow import CombinedValue, UnknownValue, Value
from headwater.plan.lineage import Attribute
from headwater.plan.relation import ColumnScope, Relation
from headwater.plan.sqltext.text import SqlText
from headwater.plan.tree import PlanNode


class TraceContext(Protocol):
    ctes: dict[int, Relation]
    """The common table expressions read so far, by id."""
    loops: dict[int, tuple[CombinedValue, ...]]
    """The columns of recursive queries, which are read before they are complete."""

    @property
    def ambiguous(self) -> Collection[str]:
        """Column names that more than one source has."""
        ...

    def value(self, node: PlanNode, scope: ColumnScope) -> Value:
        """Where an expression's value comes from."""
        ...

    def text(self, node: PlanNode, scope: ColumnScope) -> SqlText: ...

    def subquery(self, node: PlanNode, scope: ColumnScope) -> Relation:
        """The plan inside a subquery expression, traced once."""
        ...

    def source(self, node: PlanNode, attributes: tuple[Attribute, ...]) -> Relation: ...

    def output(self, plan: PlanNode) -> tuple[Attribute, ...]:
        """The columns of a plan that is not itself part of the trace."""
        ...

    def origin(self, leaf: PlanNode) -> Relation | None:
        """The plan behind a leaf, if the caller knows it."""
        ...

    def gap(self, operator: str, reason: str, *, rows: bool = False) -> UnknownValue:
        """Record that something cannot be traced. With ``rows`` it concerns all columns, else those that depend on
        it."""
        ...
