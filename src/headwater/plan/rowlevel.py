"""Commands that change rows in place: the target is itself a source, and keeps what is not assigned.

Where Spark rewrites such a command into a query for the whole target (ReplaceData) there is nothing to do here. It may
also rewrite it into the changes alone (WriteDelta), and Delta Lake, which runs it itself, leaves it as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from headwater.plan.context import Context
from headwater.plan.flow import Kind, Mix, Part, Said, Value
from headwater.plan.operators.family import said
from headwater.plan.operators.setops import either
from headwater.plan.relation import Column, Relation, Scope, decides, together
from headwater.plan.sqltext.text import shortened
from headwater.plan.tree import Node


class Walker(Context, Protocol):
    def walk(self, plan: Node, outer: Scope | None) -> Relation: ...


@dataclass
class _Changes:
    """What becomes of the target's columns."""

    scope: Scope
    context: Context
    values: dict[str, list[Value]] = field(default_factory=dict)
    """New values by column, in lower case."""
    chosen_by: dict[str, list[Value]] = field(default_factory=dict)
    """What decides, for a column alone, whether it gets its new value."""

    def assign(self, pairs: Iterable[tuple[str, Node]], chosen_by: Iterable[Value] = ()) -> None:
        conditions = list(chosen_by)
        for name, expression in pairs:
            text = shortened(self.context.text(expression, self.scope))
            value = Said(text, self.context.value(expression, self.scope))
            self.values.setdefault(name.casefold(), []).append(value)
            self.chosen_by.setdefault(name.casefold(), []).extend(conditions)

    def column(self, column: Column) -> Column:
        """A target's column afterwards: as it was, or one of its new values."""
        name = column.name.casefold()
        if name not in self.values:
            return column
        parts = [Part(value, Kind.IDENTITY, through=True) for value in (column.said, *self.values[name])]
        parts += [Part(value, Kind.CONDITIONAL) for value in self.chosen_by[name]]
        return replace(column, value=Mix(parts), text=None, home=None)


def _merge(node: Node, trace: Walker) -> Relation:
    target_plan = node.tree("targetTable") or node.tree("target")
    source_plan = node.tree("sourceTable") or node.tree("source")
    if target_plan is None or source_plan is None:
        trace.gap(node.name, "its target or source is not in the plan's JSON", rows=True)
        return Relation(())
    target, source = trace.walk(target_plan, None), trace.walk(source_plan, None)
    changes = _Changes(Scope({**source.by_id, **target.by_id}, None, node.name), trace)
    matched = [said(tree, changes.scope, trace) for f in ("mergeCondition", "condition") for tree in node.trees(f)]
    deciding = []
    for group in _CLAUSES:
        clauses = [clause for name in group for clause in node.trees(name)]
        conditions = [said(tree, changes.scope, trace) for clause in clauses for tree in clause.trees("condition")]
        only_updates = all("Update" in clause.name for clause in clauses)
        # Clauses are tried in turn, so each depends on the conditions before it. Among updates that concerns the
        # columns they assign; an insert or a delete in the group makes it a matter of rows.
        if not only_updates:
            deciding.append(decides(Kind.FILTER, *conditions))
        for clause in clauses:
            changes.assign(_assignments(clause), conditions if only_updates else ())
    columns = tuple(changes.column(column) for column in target.columns)
    return Relation(columns, together(target.whole, source.whole, decides(Kind.JOIN, *matched), *deciding))


def _update(node: Node, trace: Walker) -> Relation:
    plan = node.tree("table") or node.tree("target")
    if plan is None:
        trace.gap(node.name, "its target is not in the plan's JSON", rows=True)
        return Relation(())
    target = trace.walk(plan, None)
    changes = _Changes(Scope(target.by_id, None, node.name), trace)
    conditions = [said(tree, changes.scope, trace) for tree in node.trees("condition")]
    if positional := node.trees("updateExpressions"):  # one for every column of the target
        names = (column.name for column in target.columns)
        changes.assign(zip(names, positional, strict=False), conditions)
    else:
        changes.assign(_pairs(node.trees("assignments")), conditions)
    return Relation(tuple(changes.column(column) for column in target.columns), target.whole)


def _delete(node: Node, trace: Walker) -> Relation:
    plan = node.tree("table") or node.tree("target")
    if plan is None:
        trace.gap(node.name, "its target is not in the plan's JSON", rows=True)
        return Relation(())
    target = trace.walk(plan, None)
    scope = Scope(target.by_id, None, node.name)
    return target.with_whole(decides(Kind.FILTER, *(said(tree, scope, trace) for tree in node.trees("condition"))))


def _delta(node: Node, trace: Walker) -> Relation:
    """Spark's rewrite for tables that take changes only: what the query does not mention stays as it is."""
    plan, query = node.tree("originalTable") or node.tree("table"), node.tree("query")
    if plan is None or query is None:
        trace.gap(node.name, "its target or query is not in the plan's JSON", rows=True)
        return Relation(())
    target, changes = trace.walk(plan, None), trace.walk(query, None)
    changed = {column.name: column for column in changes.columns}
    columns = []
    for kept in target.columns:
        new = changed.get(kept.name)
        columns.append(
            kept if new is None else replace(kept, value=either([kept.said, new.said]), text=None, home=None)
        )
    return Relation(tuple(columns), together(target.whole, changes.whole))


def _assignments(clause: Node) -> Iterator[tuple[str, Node]]:
    yield from _pairs((*clause.trees("assignments"), *clause.trees("actions")))


def _pairs(assignments: Iterable[Node]) -> Iterator[tuple[str, Node]]:
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

ROW_LEVEL: Mapping[str, Callable[[Node, Walker], Relation]] = {
    "MergeIntoTable": _merge,
    "MergeIntoCommand": _merge,
    "UpdateTable": _update,
    "UpdateCommand": _update,
    "DeleteFromTable": _delete,
    "DeleteFromTableWithFilters": _delete,
    "DeleteCommand": _delete,
    "WriteDelta": _delta,
}
