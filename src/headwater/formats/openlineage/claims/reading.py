"""Reads evidence facets, of which nothing but JSON is guaranteed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from headwater.model.certificates import Invariant, Undecided
from headwater.model.runs import Facets
from headwater.proof.canonical import canonical_text

_MAX_NAMES = 5


class Judgement(NamedTuple):
    invariants: tuple[Invariant, ...]
    undecided: tuple[Undecided, ...] = ()


Rules = Callable[[Facets], Judgement]


def mappings(value: object) -> list[Mapping[str, object]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def joined_name(value: Mapping[str, object], *keys: str) -> str:
    return ".".join(canonical_text(str(value[key])) for key in keys if key in value) or "unnamed"


def first_names(names: Sequence[str]) -> str:
    return ", ".join(names[:_MAX_NAMES]) + (f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else "")


def lossy_casts(types: Mapping[str, object]) -> str | None:
    lossy = [
        joined_name(report, "node", "column", "name")
        for report in mappings(types.get("morphismReports"))
        if report.get("lossy")
    ]
    if not lossy:
        return None
    return f"{'one cast loses' if len(lossy) == 1 else f'{len(lossy)} casts lose'} something: {first_names(lossy)}"
