"""Operators, one family a file."""

from __future__ import annotations

from headwater.plan.operators import ctes, generate, joins, leaves, merged, opaque, project, rows, setops
from headwater.plan.operators.family import Family, Operator
from headwater.plan.tree import Node

FAMILIES: tuple[Family, ...] = (
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


def rule_for(node: Node) -> Operator:
    if is_persistent_view(node):
        return leaves.persistent_view
    rule = _OPERATORS.get(node.name)
    if rule is not None:
        return rule
    return opaque.unknown if node.children else leaves.leaf


def inputs_of(node: Node) -> tuple[Node, ...]:
    """The plans an operator reads, in the order to walk them."""
    if is_persistent_view(node):
        return ()
    if node.name == "WithCTE":  # definitions first: the query refers to them
        query = node.tree("plan")
        return node.trees("cteDefs") + ((query,) if query is not None else ())
    return node.children


def is_persistent_view(node: Node) -> bool:
    return node.name == "View" and not node.flag("isTempView") and bool(node.children)
