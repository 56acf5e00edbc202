"""Rules for Catalyst operators, one family per module."""

from __future__ import annotations

from headwater.plan.operators import ctes, generate, joins, leaves, merged, opaque, project, rows, setops
from headwater.plan.operators.family import Operator, OperatorFamily
from headwater.plan.tree import PlanNode

FAMILIES: tuple[OperatorFamily, ...] = (
    leaves.FAMILY,
    rows.FAMILY,
    project.FAMILY,
    joins.FAMILY,
    setops.FAMILY,
    generate.FAMILY,
    ctes.FAMILY,
    merged.FAMILY,
    opaque.FAMILY,
)
_OPERATORS: dict[str, Operator] = {name: rule for family in FAMILIES for name, rule in family.items()}


def rule_for(node: PlanNode) -> Operator:
    if is_persistent_view(node):
        return leaves.persistent_view
    rule = _OPERATORS.get(node.name)
    if rule is not None:
        return rule
    return opaque.unknown_operator if node.children else leaves.leaf


def inputs_of(node: PlanNode) -> tuple[PlanNode, ...]:
    """The plans that an operator reads, in the order to walk them."""
    if is_persistent_view(node):
        return ()
    if node.name == "WithCTE":  # definitions first: the query refers to them
        query = node.tree("plan")
        return node.trees("cteDefs") + ((query,) if query is not None else ())
    return node.children


def is_persistent_view(node: PlanNode) -> bool:
    return node.name == "View" and not node.flag("isTempView") and bool(node.children)
