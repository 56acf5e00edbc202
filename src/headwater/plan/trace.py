"""Following the columns of a plan from its output to its sources."""

from __future__ import annotations

from collections.abc import Callable

from headwater.plan.commands import Write
from headwater.plan.expressions import evaluate
from headwater.plan.flow import Leaf, Lost, Mix, Reached, Value, follow
from headwater.plan.lineage import Attribute, Dependency, Derivation, Gap, OutputColumn, PlanLineage, Source
from headwater.plan.operators import inputs_of, rule_for
from headwater.plan.relation import Column, Relation, Scope
from headwater.plan.rowlevel import ROW_LEVEL
from headwater.plan.sqltext.ambiguity import ambiguous_names
from headwater.plan.sqltext.names import quoted
from headwater.plan.sqltext.render import render
from headwater.plan.sqltext.text import Text, shortened
from headwater.plan.tree import Node

Origin = Callable[[Node], Node | None]
"""From a leaf to the plan behind it, whose columns are the leaf's by position: that of a checkpointed frame, say."""


def _no_origin(leaf: Node) -> Node | None:
    return None


def trace_plan(query: Node, origin: Origin = _no_origin) -> PlanLineage:
    """The lineage of a query's output. Raises PlanUnreadable where the plan's JSON is broken further in."""
    trace = _Trace(origin, query)
    return trace.answer(trace.walk(query, None))


def trace_write(write: Write, origin: Origin = _no_origin) -> PlanLineage:
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
"""Where a command holds the plans it reads."""


class _Trace:
    """One walk over one plan; the context of its operators and expressions."""

    def __init__(self, origin: Origin, *roots: Node) -> None:
        self._behind = origin
        self._sources: list[Source] = []
        self._gaps: list[tuple[str, str, bool]] = []
        self._subqueries: dict[int, Relation] = {}
        self.ctes: dict[int, Relation] = {}
        self.loops: dict[int, tuple[Mix, ...]] = {}
        self.ambiguous = ambiguous_names(roots)

    def walk(self, plan: Node, outer: Scope | None) -> Relation:
        """From the leaves up, without recursion: a plan of 300 joins is 300 levels deep."""
        done: list[Relation] = []
        todo: list[tuple[Node, int]] = [(plan, -1)]
        while todo:
            node, inputs = todo.pop()
            if inputs < 0:
                below = inputs_of(node)
                todo.append((node, len(below)))
                todo.extend((child, -1) for child in reversed(below))
            else:
                split = len(done) - inputs
                relations = done[split:]
                del done[split:]
                done.append(rule_for(node)(node, relations, outer, self))
        return done[0]

    def value(self, node: Node, scope: Scope) -> Value:
        return evaluate(node, scope, self)

    def text(self, node: Node, scope: Scope) -> Text:
        return render(node, scope, self)

    def subquery(self, node: Node, scope: Scope) -> Relation:
        # Asked for its value and for its text, and its sources count once. The plan keeps the node, so its id is safe.
        known = self._subqueries.get(id(node))
        if known is None:
            plan = node.tree("plan")
            known = self.walk(plan, scope) if plan is not None else Relation(())
            self._subqueries[id(node)] = known
        return known

    def source(self, node: Node, attributes: tuple[Attribute, ...]) -> Relation:
        number = len(self._sources)
        self._sources.append(Source(node.name, attributes, node))
        home = _table(node)
        return Relation(
            tuple(
                Column(a.expr_id, a.name, Leaf(number, a.name, a.type), Text(quoted(a.name)), a.type, a.nullable, home)
                for a in attributes
            )
        )

    def output(self, plan: Node) -> tuple[Attribute, ...]:
        columns = _Trace(_no_origin, plan).walk(plan, None).columns
        return tuple(Attribute(c.name, c.expr_id, c.type, c.nullable is not False) for c in columns)

    def origin(self, leaf: Node) -> Relation | None:
        plan = self._behind(leaf)
        return None if plan is None else self.walk(plan, None)

    def gap(self, operator: str, reason: str, *, rows: bool = False) -> Lost:
        self._gaps.append((operator, reason, rows))
        return Lost(len(self._gaps) - 1)

    def answer(self, relation: Relation) -> PlanLineage:
        reached: dict[int, list[str]] = {}
        columns = []
        for column in relation.columns:
            lost: set[int] = set()
            found = follow(column.value, shortened(column.text), lost)
            columns.append(OutputColumn(column.name, column.type, column.nullable, _derivations(found)))
            for gap in lost:
                reached.setdefault(gap, []).append(column.name)
        everywhere: set[int] = set()
        whole = _derivations(follow(relation.whole, None, everywhere))
        gaps = [
            Gap(operator, reason, () if rows or at in everywhere else tuple(reached[at]))
            for at, (operator, reason, rows) in enumerate(self._gaps)
            if rows or at in everywhere or at in reached
        ]
        return PlanLineage(tuple(self._sources), tuple(columns), whole, tuple(dict.fromkeys(gaps)))


def _derivations(found: dict[Reached, str | None]) -> tuple[Derivation, ...]:
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
            for reached, text in found.items()
        )
    )


def _table(node: Node) -> str:
    """A source's name in its catalog, if it has one."""
    for field in ("catalogTable", "tableMeta", "desc"):
        described = node.fields.get(field)
        identifier = described.get("identifier") if isinstance(described, dict) else None
        if isinstance(identifier, dict) and isinstance(identifier.get("table"), str):
            return str(identifier["table"])
    return ""
