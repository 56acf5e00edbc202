"""Version 2: what can be computed from the event is computed, not copied; what nobody knows is said to be undecided.

A ledger balances by its counts, an expectation holds by its bounds, a hash is right if what was hashed is beside it and
has it. A run whose grain or types were looked at only in part is not said to be sound in them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from headwater.formats.openlineage.claims.balance import balance_of
from headwater.formats.openlineage.claims.preimages import wrong_hashes
from headwater.formats.openlineage.claims.reading import (
    EXPECTATIONS,
    GRAIN,
    LEDGER,
    MANIFEST,
    TYPES,
    Judged,
    few,
    lossy_casts,
    mappings,
    named,
)
from headwater.model.certificates import Breach, Invariant, Undecided
from headwater.model.runs import Facets
from headwater.proof.canonical import canonical_scalar

_IN_PART = "not everything was looked at"


def judged(facets: Facets) -> Judged:
    found = list(_judged(facets))
    return Judged(
        tuple(each for each in found if isinstance(each, Invariant)),
        tuple(each for each in found if isinstance(each, Undecided)),
    )


def _judged(facets: Facets) -> Iterator[Invariant | Undecided]:
    if isinstance(manifest := facets.get(MANIFEST), Mapping):
        yield from _manifest(manifest)
    if isinstance(ledger := facets.get(LEDGER), Mapping):
        yield _balance(ledger)
    if isinstance(grain := facets.get(GRAIN), Mapping):
        yield _grain(grain)
    if isinstance(types := facets.get(TYPES), Mapping):
        yield _types(types)
    if isinstance(expected := facets.get(EXPECTATIONS), Mapping):
        for each in mappings(expected.get("expectations")):
            yield _expectation(each)


def _manifest(manifest: Mapping[str, Any]) -> Iterator[Invariant]:
    wrong = wrong_hashes(manifest)
    if wrong:
        verb = "is" if len(wrong) == 1 else "are"
        yield Invariant("manifest", False, f"{few(wrong)} {verb} not of what stands beside it", breach=Breach.CRITICAL)
    elif wrong is not None:
        yield Invariant("manifest", True)


def _balance(ledger: Mapping[str, Any]) -> Invariant | Undecided:
    holds, detail, _ = balance_of(ledger)
    if holds is None:
        return Undecided("balance", detail)
    return Invariant("balance", holds, detail, breach=None if holds else Breach.CRITICAL)


def _grain(grain: Mapping[str, Any]) -> Invariant | Undecided:
    validations, open_ones = mappings(grain.get("validations")), mappings(grain.get("undecided"))
    failed = [named(each, "node", "name") for each in validations if each.get("holds") is not True]
    told = [f"{len(failed)} of {len(validations)} do not hold: {few(failed)}"] if failed else []
    told += [f"{len(open_ones)} not decided"] if open_ones else []
    told += [_IN_PART] if grain.get("complete") is False else []
    detail = "; ".join(told) or None
    if failed:
        return Invariant("grain", False, detail, breach=Breach.MATERIAL)
    if grain.get("complete") is False or (open_ones and not validations):
        return Undecided("grain", detail)
    if not validations and grain.get("complete") is not True:  # that nothing was found says little by itself
        return Undecided("grain", "nothing was checked")
    return Invariant("grain", True, detail)


def _types(types: Mapping[str, Any]) -> Invariant | Undecided:
    """A cast that loses something may be meant: it is told, and breaks nothing."""
    lossy = lossy_casts(types)
    if types.get("complete") is False:
        return Undecided("types", "; ".join(filter(None, (lossy, _IN_PART))))
    return Invariant("types", True, lossy)


def _expectation(expectation: Mapping[str, Any]) -> Invariant | Undecided:
    name, observed = named(expectation, "name"), expectation.get("observed")
    holds = _within(observed, expectation)
    if expectation.get("holds") is False:
        holds = False
    shown = canonical_scalar(observed)
    detail = None if shown is None else f"observed {shown}"
    if holds is None:
        return Undecided(name, "; ".join(filter(None, (detail, "there are no bounds to tell it by"))))
    materiality = str(expectation.get("materiality")).upper()
    breach = Breach(materiality) if materiality in list(Breach) else Breach.MATERIAL
    threshold = canonical_scalar(expectation.get("threshold"))
    return Invariant(name, holds, detail, threshold, None if holds else breach)


def _within(observed: Any, expectation: Mapping[str, Any]) -> bool | None:
    """None where no bound is given that could be compared with. What was not measured is within no bounds."""
    bounds = [(side, expectation[side]) for side in ("atLeast", "atMost") if expectation.get(side) is not None]
    if not bounds or not all(_is_number(bound) for _, bound in bounds):
        return None
    if not _is_number(observed):
        return False
    return all(observed >= bound if side == "atLeast" else observed <= bound for side, bound in bounds)


def _is_number(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)
