"""The facets that runs are judged by, and how to read what anybody may have written into them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from headwater.model.certificates import Invariant, Undecided
from headwater.model.runs import Facets
from headwater.proof.canonical import canonical_text

MANIFEST = "cdme.runManifest"
LEDGER = "cdme.accountingLedger"
TYPES = "cdme.typeUnification"
GRAIN = "cdme.grainSafety"
EXPECTATIONS = "headwater_expectations"
_FEW = 5


class Judged(NamedTuple):
    invariants: tuple[Invariant, ...]
    undecided: tuple[Undecided, ...] = ()


Rules = Callable[[Facets], Judged]


def mappings(value: Any) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def named(value: Mapping[str, Any], *keys: str) -> str:
    return ".".join(canonical_text(str(value[key])) for key in keys if key in value) or "unnamed"


def few(names: Sequence[str]) -> str:
    return ", ".join(names[:_FEW]) + (f" and {len(names) - _FEW} more" if len(names) > _FEW else "")


def lossy_casts(types: Mapping[str, Any]) -> str | None:
    lossy = [
        named(each, "node", "column", "name") for each in mappings(types.get("morphismReports")) if each.get("lossy")
    ]
    if not lossy:
        return None
    return f"{'one cast loses' if len(lossy) == 1 else f'{len(lossy)} casts lose'} something: {few(lossy)}"
