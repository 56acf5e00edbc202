"""Follows the columns of a plan from its output to its sources."""

from __future__ import annotations

from collections.abc import Callable

from headwater.plan.commands import WriteCommand
from headwater.plan.expressions import evaluate
from headwater.plan.flow import CombinedValue, ReachedField, SourceColumn, UnknownValue, Value, follow
from headwater.plan.lineage import Attribute, Dependency, Derivation, Gap, LineageSource, PlanLineage, PlanOutputColumn
from headwater.plan.operators import inputs_of, rule_for
from headwater.plan.relation import ColumnScope, Relation, RelationColumn
from headwater.plan.rowlevel import ROW_LEVEL
from headwater.plan.sqltext.ambiguity import ambiguous_names
from headwater.plan.sqltext.names import quote_identifier
from headwater.plan.sqltext.render import render
from headwater.plan.sqltext.text import SqlText, shorten_sql
from headwater.plan.tree import PlanNode

LeafResolver = Callable[[PlanNode], PlanNode | None]
"""From a leaf to the plan behind it, whose columns are the leaf's by position: that of a checkpointed DataFrame, for
example."""


def _no_origin(leaf: PlanNode) -> PlanNode | None:
    return None


def trace_plan(query: PlanNode, origin: LeafResolver = _no_origin) -> PlanLineage:
    """The lineage of a query's output. Raises PlanUnreadable if a nested part of the plan's JSON is invalid."""
    trace = _Trace(origin, query)
    return trace.answer(trace.walk(query, None))


def trace_write(write: WriteCommand, origin: LeafResolver = _no_origin) -> PlanLineage:
    """The lineage of what a command writes, under the target's column names.

    MERGE, UPDATE and DELETE have their target among the sources: what is not changed comes from there.
    """
    trace = _Trace(origin, *(tree for field in _PLANS for tree in write.node.trees(field)))
    if write.command in ROW_LEVEL:
        return trace.answer(ROW_LEVEL[write.command](write.node, trace))
    if write.query is None:
        return PlanLineage((), (), (), (Gap(write.command, "the command does not carry its query", ()),))
    relation = trace.walk(write.query, None)
    if write.unnamed and not write.columns:
        trace.gap(write.command, "it names its columns itself, and the plan's JSON does not say how", rows=True)
    return trace.answer(Relation(tuple(write.renamed(relation.columns)), relation.whole))


_PLANS = ("query", "plan", "inputQuery", "source", "sourceTable", "target", "targetTable")
"""The fields of a command that contain the plans it reads."""


class _Trace:
    """One walk over one plan; the context of its operators and expressions."""

    def __init__(self, origin: LeafResolver, *roots: PlanNode) -> None:
        self._behind = origin
        self._sources: list[LineageSource] = []
        self._gaps: list[tuple[str, str, bool]] = []
        self._subqueries: dict[int, Relation] = {}
        self.ctes: dict[int, Relation] = {}
        self.loops: dict[int, tuple[CombinedValue, ...]] = {}
        self.ambiguous = ambiguous_names(roots)

    def walk(self, plan: PlanNode, outer: ColumnScope | None) -> Relation:
        """From the leaves up, without recursion: a plan of 300 joins is 300 levels deep."""
        done: list[Relation] = []
        pending: list[tuple[PlanNode, int]] = [(plan, -1)]
        while pending:
            node, inputs = pending.pop()
            if inputs < 0:
                children = inputs_of(node)
                pending.append((node, len(children)))
                pending.extend((child, -1) for child in reversed(children))
            else:
                split = len(done) - inputs
                relations = done[split:]
                del done[split:]
                done.append(rule_for(node)(node, relations, outer, self))
        return done[0]

    def value(self, node: PlanNode, scope: ColumnScope) -> Value:
        return evaluate(node, scope, self)

    def text(self, node: PlanNode, scope: ColumnScope) -> SqlText:
        return render(node, scope, self)

    def subquery(self, node: PlanNode, scope: ColumnScope) -> Relation:
        # Used for its value and for its text, but its sources count once. The plan keeps the node, so its id is stable.
        relation = self._subqueries.get(id(node))
        if relation is None:
            plan = node.tree("plan")
            relation = self.walk(plan, scope) if plan is not None else Relation(())
            self._subqueries[id(node)] = relation
        return relation

    def source(self, node: PlanNode, attributes: tuple[Attribute, ...]) -> Relation:
        number = len(self._sources)
        self._sources.append(LineageSource(node.name, attributes, node))
        home = _table(node)
        return Relation(
            tuple(
                RelationColumn(
                    expr_id=a.expr_id,
                    name=a.name,
                    value=SourceColumn(number, a.name, a.type),
                    text=SqlText(quote_identifier(a.name)),
                    type=a.type,
                    nullable=a.nullable,
                    home=home,
                )
                for a in attributes
            )
        )

    def output(self, plan: PlanNode) -> tuple[Attribute, ...]:
        columns = _Trace(_no_origin, plan).walk(plan, None).columns
        return tuple(Attribute(c.name, c.expr_id, c.type, c.nullable is not False) for c in columns)

    def origin(self, leaf: PlanNode) -> Relation | None:
        plan = self._behind(leaf)
        return None if plan is None else self.walk(plan, None)

    def gap(self, operator: str, reason: str, *, rows: bool = False) -> UnknownValue:
        self._gaps.append((operator, reason, rows))
        return UnknownValue(len(self._gaps) - 1)

    def answer(self, relation: Relation) -> PlanLineage:
        reached: dict[int, list[str]] = {}
        columns = []
        for column in relation.columns:
            lost: set[int] = set()
            fields = follow(column.value, shorten_sql(column.text), lost)
            columns.append(PlanOutputColumn(column.name, column.type, column.nullable, _derivations(fields)))
            for gap in lost:
                reached.setdefault(gap, []).append(column.name)
        everywhere: set[int] = set()
        whole = _derivations(follow(relation.whole, None, everywhere))
        gaps = [
            Gap(operator, reason, () if rows or index in everywhere else tuple(reached[index]))
            for index, (operator, reason, rows) in enumerate(self._gaps)
            if rows or index in everywhere or index in reached
        ]
        return PlanLineage(tuple(self._sources), tuple(columns), whole, tuple(dict.fromkeys(gaps)))


def _derivations(fields: dict[ReachedField, str | None]) -> tuple[Derivation, ...]:
    return tuple(
        sorted(
            Derivation(
                reached.source,
                reached.field,
                Dependency.DIRECT if reached.kind.direct else Dependency.INDIRECT,
                reached.kind.name,
                reached.masking,
                text,
            )
            for reached, text in fields.items()
        )
    )


def _table(node: PlanNode) -> str:
    """A source's name in its catalog, if it has one."""
    for field in ("catalogTable", "tableMeta", "desc"):
        described = node.fields.get(field)
        identifier = described.get("identifier") if isinstance(described, dict) else None
        if isinstance(identifier, dict) and isinstance(identifier.get("table"), str):
            return str(identifier["table"])
    return ""
