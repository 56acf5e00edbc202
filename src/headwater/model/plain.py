"""Answers as JSON values, as ``--json`` prints and HTTP sends them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import Any

from headwater.model.answers import Node, Via
from headwater.model.names import Column, Dataset, Job, Partition

_AS_THEY_ARE = frozenset({str, int, float, bool, type(None)})


def plain(value: object) -> Any:
    """``value`` as dicts, lists, strings and numbers; its class decides the shape. Lists keep their order."""
    if type(value) in _AS_THEY_ARE:  # most of any answer, and a large one has a hundred thousand
        return value
    if isinstance(value, Node):
        node = {name: plain(getattr(value, name)) for name in ("endpoint", "part", "depth", "dependency", "via")}
        return node | {"path": [step.label for step in value.path]}
    if isinstance(value, Job):
        return {"type": "job", "namespace": value.namespace, "name": value.name}
    if isinstance(value, Dataset | Column | Partition) or (is_dataclass(value) and not isinstance(value, type)):
        return {name: plain(getattr(value, name)) for name in _names(type(value))}
    if isinstance(value, Via):
        return {name: plain(item) for name, item in value._asdict().items()}
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return value


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
