"""Commands that change rows in place: the target is itself a source, and keeps what is not assigned.

If Spark rewrites such a command into a query for the whole target (ReplaceData), nothing has to be done here. It may
also rewrite it into the changes alone (WriteDelta), and Delta Lake, which runs it itself, leaves it unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from headwater.plan.context import TraceContext
from headwater.plan.flow import CombinedValue, DependencyKind, Value, ValuePart, ValueWithSql
from headwater.plan.operators.family import value_with_sql
from headwater.plan.operators.setops import one_of
from headwater.plan.relation import ColumnScope, Relation, RelationColumn, combine_values, row_dependency
from headwater.plan.sqltext.text import shorten_sql
from headwater.plan.tree import PlanNode


class PlanWalker(TraceContext, Protocol):
    def walk(self, plan: PlanNode, outer: ColumnScope | None) -> Relation: ...


@dataclass
class _ColumnChanges:
    """The new values of the target's columns."""

    scope: ColumnScope
    context: TraceContext
    values: dict[str, list[Value]] = field(default_factory=dict)
    """New values by column, in lower case."""
    chosen_by: dict[str, list[Value]] = field(default_factory=dict)
    """What decides, for a column alone, whether it gets its new value."""

    def assign(self, pairs: Iterable[tuple[str, PlanNode]], chosen_by: Iterable[Value] = ()) -> None:
        conditions = list(chosen_by)
        for name, expression in pairs:
            text = shorten_sql(self.context.text(expression, self.scope))
            value = ValueWithSql(text, self.context.value(expression, self.scope))
            self.values.setdefault(name.casefold(), []).append(value)
            self.chosen_by.setdefault(name.casefold(), []).extend(conditions)

    def column(self, column: RelationColumn) -> RelationColumn:
        """A target's column afterwards: unchanged, or one of its new values."""
        name = column.name.casefold()
        if name not in self.values:
            return column
        parts = [
            ValuePart(value, DependencyKind.IDENTITY, through=True) for value in (column.with_sql, *self.values[name])
        ]
        parts += [ValuePart(value, DependencyKind.CONDITIONAL) for value in self.chosen_by[name]]
        return replace(column, value=CombinedValue(parts), text=None, home=None)


def _merge(node: PlanNode, trace: PlanWalker) -> Relation:
    target_plan = node.tree("targetTable") or node.tree("target")
    source_plan = node.tree("sourceTable") or node.tree("source")
    if target_plan is None or source_plan is None:
        trace.gap(node.name, "its target or source is not in the plan's JSON", rows=True)
        return Relation(())
    target, source = trace.walk(target_plan, None), trace.walk(source_plan, None)
    changes = _ColumnChanges(ColumnScope({**source.by_id, **target.by_id}, None, node.name), trace)
    matched = [
        value_with_sql(tree, changes.scope, trace) for f in ("mergeCondition", "condition") for tree in node.trees(f)
    ]
    deciding = []
    for group in _CLAUSES:
        clauses = [clause for name in group for clause in node.trees(name)]
        conditions = [
            value_with_sql(tree, changes.scope, trace) for clause in clauses for tree in clause.trees("condition")
        ]
        only_updates = all("Update" in clause.name for clause in clauses)
        # Clauses are tried in turn, so each depends on the conditions before it. Among updates that concerns the
        # columns they assign; an insert or a delete in the group makes it a matter of rows.
        if not only_updates:
            deciding.append(row_dependency(DependencyKind.FILTER, *conditions))
        for clause in clauses:
            changes.assign(_assignments(clause), conditions if only_updates else ())
    columns = tuple(changes.column(column) for column in target.columns)
    return Relation(
        columns, combine_values(target.whole, source.whole, row_dependency(DependencyKind.JOIN, *matched), *deciding)
    )


def _update(node: PlanNode, trace: PlanWalker) -> Relation:
    plan = node.tree("table") or node.tree("target")
    if plan is None:
        trace.gap(node.name, "its target is not in the plan's JSON", rows=True)
        return Relation(())
    target = trace.walk(plan, None)
    changes = _ColumnChanges(ColumnScope(target.by_id, None, node.name), trace)
    conditions = [value_with_sql(tree, changes.scope, trace) for tree in node.trees("condition")]
    if positional := node.trees("updateExpressions"):  # one for every column of the target
        names = (column.name for column in target.columns)
        changes.assign(zip(names, positional, strict=False), conditions)
    else:
        changes.assign(_pairs(node.trees("assignments")), conditions)
    return Relation(tuple(changes.column(column) for column in target.columns), target.whole)


def _delete(node: PlanNode, trace: PlanWalker) -> Relation:
    plan = node.tree("table") or node.tree("target")
    if plan is None:
        trace.gap(node.name, "its target is not in the plan's JSON", rows=True)
        return Relation(())
    target = trace.walk(plan, None)
    scope = ColumnScope(target.by_id, None, node.name)
    return target.with_whole(
        row_dependency(DependencyKind.FILTER, *(value_with_sql(tree, scope, trace) for tree in node.trees("condition")))
    )


def _delta(node: PlanNode, trace: PlanWalker) -> Relation:
    """Spark's rewrite for tables that take changes only: what the query does not mention stays unchanged."""
    plan, query = node.tree("originalTable") or node.tree("table"), node.tree("query")
    if plan is None or query is None:
        trace.gap(node.name, "its target or query is not in the plan's JSON", rows=True)
        return Relation(())
    target, changes = trace.walk(plan, None), trace.walk(query, None)
    changed = {column.name: column for column in changes.columns}
    columns = []
    for target_column in target.columns:
        changed_column = changed.get(target_column.name)
        columns.append(
            target_column
            if changed_column is None
            else replace(
                target_column, value=one_of([target_column.with_sql, changed_column.with_sql]), text=None, home=None
            )
        )
    return Relation(tuple(columns), combine_values(target.whole, changes.whole))


def _assignments(clause: PlanNode) -> Iterator[tuple[str, PlanNode]]:
    yield from _pairs((*clause.trees("assignments"), *clause.trees("actions")))


def _pairs(assignments: Iterable[PlanNode]) -> Iterator[tuple[str, PlanNode]]:
    """Column and new value. A field of a struct is assigned as its column."""
    for assignment in assignments:
        value = assignment.tree("value") or assignment.tree("expr")
        key = assignment.tree("key")
        while key is not None and key.name != "AttributeReference" and key.children:
            key = key.children[0]
        name = key.text("name") if key is not None else _first_part(assignment.text("targetColNameParts"))
        if name is not None and value is not None:
            yield name, value


def _first_part(listed: str | None) -> str | None:
    """Spark writes a list of names as "[a, b]"."""
    return listed.strip("[]").split(", ")[0] if listed else None


_CLAUSES = (
    ("matchedActions", "matchedClauses"),
    ("notMatchedActions", "notMatchedClauses"),
    ("notMatchedBySourceActions", "notMatchedBySourceClauses"),
)

ROW_LEVEL: Mapping[str, Callable[[PlanNode, PlanWalker], Relation]] = {
    "MergeIntoTable": _merge,
    "MergeIntoCommand": _merge,
    "UpdateTable": _update,
    "UpdateCommand": _update,
    "DeleteFromTable": _delete,
    "DeleteFromTableWithFilters": _delete,
    "DeleteCommand": _delete,
    "WriteDelta": _delta,
}
