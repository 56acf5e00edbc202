"""What an operator passes to the one above it: its columns by expression id, and what decides its rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from headwater.plan.flow import NO_SOURCE, CombinedValue, DependencyKind, Value, ValuePart, ValueWithSql
from headwater.plan.lineage import Attribute
from headwater.plan.sqltext.text import SqlText
from headwater.plan.tree import PlanNode


@dataclass(frozen=True, slots=True)
class RelationColumn:
    expr_id: int
    name: str
    value: Value
    text: SqlText | None = None
    """Its SQL; None if there is no single expression, as for a column of a UNION."""
    type: object = None
    nullable: bool | None = None
    home: str | None = None
    """The source's name, which may be empty, if this is a source's own column, still unchanged."""

    def as_attribute(self, attribute: Attribute) -> RelationColumn:
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
    def with_sql(self) -> ValueWithSql:
        return ValueWithSql(self.text.sql if self.text is not None else None, self.value)


@dataclass(frozen=True)
class Relation:
    columns: tuple[RelationColumn, ...]
    whole: Value = NO_SOURCE

    @cached_property
    def by_id(self) -> Mapping[int, RelationColumn]:
        return {column.expr_id: column for column in self.columns}

    def with_whole(self, *added: Value) -> Relation:
        return Relation(self.columns, combine_values(self.whole, *added))

    def with_columns(self, columns: Iterable[RelationColumn]) -> Relation:
        return Relation((*self.columns, *columns), self.whole)


@dataclass(frozen=True)
class ColumnScope:
    """Where a name is resolved: among the columns below, then in the query around a subquery."""

    columns: Mapping[int, RelationColumn]
    outer: ColumnScope | None = None
    operator: str = field(default="", compare=False)

    def find(self, expr_id: int | None) -> RelationColumn | None:
        scope: ColumnScope | None = self
        while scope is not None and expr_id is not None:
            column = scope.columns.get(expr_id)
            if column is not None:
                return column
            scope = scope.outer
        return None

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(column.name for column in self.columns.values())

    def is_ambiguous(self, name: str) -> bool:
        """Whether a subquery and the query around it both have a column of this name."""
        having, scope = 0, self if self.outer is not None else None
        while scope is not None:
            having += name in scope._names
            scope = scope.outer
        return having > 1

    def with_columns(self, columns: Iterable[RelationColumn]) -> ColumnScope:
        """With further columns, such as the variables of a lambda function."""
        return ColumnScope({column.expr_id: column for column in columns}, self, self.operator)


def combine_values(*values: Value) -> Value:
    """Several values that decide over rows as one."""
    used = [value for value in values if value is not NO_SOURCE]
    if len(used) == 1:
        return used[0]
    return (
        CombinedValue(ValuePart(value, DependencyKind.IDENTITY, through=True) for value in used) if used else NO_SOURCE
    )


def row_dependency(kind: DependencyKind, *values: Value) -> Value:
    """Conditions, keys or orders as a value that decides over rows."""
    return CombinedValue(ValuePart(value, kind) for value in values)


def read_attribute(node: PlanNode) -> Attribute | None:
    """A reference to a column, or the column of an alias."""
    expr_id, name = node.expr_id, node.text("name")
    if expr_id is None or name is None:
        return None
    return Attribute(name, expr_id, node.fields.get("dataType"), node.fields.get("nullable") is not False)


def read_attributes(nodes: Iterable[PlanNode]) -> tuple[Attribute, ...]:
    return tuple(attribute for attribute in map(read_attribute, nodes) if attribute is not None)
