"""Removes secrets from a design (plan/shape.py, a declared pipeline) before it is hashed."""

from __future__ import annotations

from collections.abc import Mapping

from headwater.redaction.redactor import Redactor
from headwater.redaction.shapes import MARK, is_secret_column

_NAMED = ("AttributeReference", "Alias", "UnresolvedAttribute")


def redact_design(design: object, redactor: Redactor) -> object:
    """Text by its shape, as everywhere; and the text literals of an expression with a column that has the name of a
    secret, such as `password = '…'`: a plan has the name and the value in separate nodes."""
    if isinstance(design, Mapping):
        return {name: _field(name, value, redactor) for name, value in design.items()}
    if isinstance(design, list):
        if any(_names_secret(node) for node in design):
            design = [_without_value(node) for node in design]
        return [redact_design(item, redactor) for item in design]
    return redactor.document(design)


def _field(name: str, value: object, redactor: Redactor) -> object:
    if name == "options" and isinstance(value, Mapping):
        return redactor.options(value)
    return redact_design(value, redactor)


def _names_secret(node: object) -> bool:
    if not isinstance(node, Mapping) or node.get("is") not in _NAMED:
        return False
    name = node.get("name")
    return isinstance(name, str) and is_secret_column(name)


def _without_value(node: object) -> object:
    if isinstance(node, Mapping) and node.get("is") == "Literal" and isinstance(node.get("value"), str):
        return {**node, "value": MARK} if node.get("dataType") in ("string", "binary") else node
    return node
