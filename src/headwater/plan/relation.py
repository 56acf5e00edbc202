"""What an operator hands to the one above it: its columns by their expression ids, and what decides its rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from headwater.plan.flow import NOTHING, Kind, Mix, Part, Said, Value
from headwater.plan.lineage import Attribute
from headwater.plan.sqltext.text import Text
from headwater.plan.tree import Node


@dataclass(frozen=True, slots=True)
class Column:
    expr_id: int
    name: str
    value: Value
    text: Text | None = None
    """Its SQL; None where there is no one expression, as for a column of a UNION."""
    type: Any = None
    nullable: bool | None = None
    home: str | None = None
    """The source's name, which may be empty, if this is a source's own column, so far untouched."""

    def under(self, attribute: Attribute) -> Column:
        """This column as another operator names it."""
        return replace(
            self,
            expr_id=attribute.expr_id,
            name=attribute.name,
            type=attribute.type,
            nullable=attribute.nullable,
            home=self.home if attribute.name == self.name else None,
        )

    @property
    def said(self) -> Said:
        return Said(self.text.sql if self.text is not None else None, self.value)


@dataclass(frozen=True)
class Relation:
    columns: tuple[Column, ...]
    whole: Value = NOTHING

    @cached_property
    def by_id(self) -> Mapping[int, Column]:
        return {column.expr_id: column for column in self.columns}

    def with_whole(self, *added: Value) -> Relation:
        return Relation(self.columns, together(self.whole, *added))

    def with_columns(self, columns: Iterable[Column]) -> Relation:
        return Relation((*self.columns, *columns), self.whole)


@dataclass(frozen=True)
class Scope:
    """Where a name is looked up: among the columns below, then in the query around a subquery."""

    columns: Mapping[int, Column]
    outer: Scope | None = None
    operator: str = field(default="", compare=False)

    def find(self, expr_id: int | None) -> Column | None:
        scope: Scope | None = self
        while scope is not None and expr_id is not None:
            column = scope.columns.get(expr_id)
            if column is not None:
                return column
            scope = scope.outer
        return None

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(column.name for column in self.columns.values())

    def clashes(self, name: str) -> bool:
        """Whether a subquery and the query around it both have a column of this name."""
        having, scope = 0, self if self.outer is not None else None
        while scope is not None:
            having += name in scope._names
            scope = scope.outer
        return having > 1

    def binding(self, columns: Iterable[Column]) -> Scope:
        """With further columns, such as the variables of a lambda function."""
        return Scope({column.expr_id: column for column in columns}, self, self.operator)


def together(*values: Value) -> Value:
    """Several wholes as one."""
    some = [value for value in values if value is not NOTHING]
    if len(some) == 1:
        return some[0]
    return Mix(Part(value, Kind.IDENTITY, through=True) for value in some) if some else NOTHING


def decides(kind: Kind, *values: Value) -> Value:
    """Conditions, keys or orders as part of a whole."""
    return Mix(Part(value, kind) for value in values)


def attribute(node: Node) -> Attribute | None:
    """A reference to a column, or the column an alias makes."""
    expr_id, name = node.expr_id, node.text("name")
    if expr_id is None or name is None:
        return None
    return Attribute(name, expr_id, node.fields.get("dataType"), node.fields.get("nullable") is not False)


def attributes(nodes: Iterable[Node]) -> tuple[Attribute, ...]:
    return tuple(found for found in map(attribute, nodes) if found is not None)
