"""Version 2: what can be computed from the event is computed, not copied; what is unknown is undecided.

A ledger balances by its counts, an expectation holds by its bounds, a hash is verified with the document beside it. If
the grain or the types of a run were only read in part, they are undecided.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TypeGuard

from headwater.formats.openlineage.claims.balance import ledger_balance
from headwater.formats.openlineage.claims.preimages import wrong_hashes
from headwater.formats.openlineage.claims.reading import Judgement, first_names, joined_name, lossy_casts, mappings
from headwater.formats.openlineage.facet_names import (
    EXPECTATIONS_FACET,
    GRAIN_FACET,
    LEDGER_FACET,
    MANIFEST_FACET,
    TYPES_FACET,
)
from headwater.model.certificates import Breach, Invariant, Undecided
from headwater.model.runs import Facets
from headwater.proof.canonical import canonical_scalar

_IN_PART = "not everything was looked at"


def judge(facets: Facets) -> Judgement:
    judgements = list(_judgements(facets))
    return Judgement(
        tuple(judgement for judgement in judgements if isinstance(judgement, Invariant)),
        tuple(judgement for judgement in judgements if isinstance(judgement, Undecided)),
    )


def _judgements(facets: Facets) -> Iterator[Invariant | Undecided]:
    if isinstance(manifest := facets.get(MANIFEST_FACET), Mapping):
        yield from _manifest(manifest)
    if isinstance(ledger := facets.get(LEDGER_FACET), Mapping):
        yield _balance(ledger)
    if isinstance(grain := facets.get(GRAIN_FACET), Mapping):
        yield _grain(grain)
    if isinstance(types := facets.get(TYPES_FACET), Mapping):
        yield _types(types)
    if isinstance(expected := facets.get(EXPECTATIONS_FACET), Mapping):
        for expectation in mappings(expected.get("expectations")):
            yield _expectation(expectation)


def _manifest(manifest: Mapping[str, object]) -> Iterator[Invariant]:
    wrong = wrong_hashes(manifest)
    if wrong:
        verb = "is" if len(wrong) == 1 else "are"
        yield Invariant(
            "manifest", False, f"{first_names(wrong)} {verb} not of what stands beside it", breach=Breach.CRITICAL
        )
    elif wrong is not None:
        yield Invariant("manifest", True)


def _balance(ledger: Mapping[str, object]) -> Invariant | Undecided:
    holds, detail, _ = ledger_balance(ledger)
    if holds is None:
        return Undecided("balance", detail)
    return Invariant("balance", holds, detail, breach=None if holds else Breach.CRITICAL)


def _grain(grain: Mapping[str, object]) -> Invariant | Undecided:
    validations, undecided = mappings(grain.get("validations")), mappings(grain.get("undecided"))
    failed = [
        joined_name(validation, "node", "name") for validation in validations if validation.get("holds") is not True
    ]
    details = [f"{len(failed)} of {len(validations)} do not hold: {first_names(failed)}"] if failed else []
    details += [f"{len(undecided)} not decided"] if undecided else []
    details += [_IN_PART] if grain.get("complete") is False else []
    detail = "; ".join(details) or None
    if failed:
        return Invariant("grain", False, detail, breach=Breach.MATERIAL)
    if grain.get("complete") is False or (undecided and not validations):
        return Undecided("grain", detail)
    if not validations and grain.get("complete") is not True:  # an empty list alone proves nothing
        return Undecided("grain", "nothing was checked")
    return Invariant("grain", True, detail)


def _types(types: Mapping[str, object]) -> Invariant | Undecided:
    """A lossy cast may be intended: it is reported, and is no breach."""
    lossy = lossy_casts(types)
    if types.get("complete") is False:
        return Undecided("types", "; ".join(filter(None, (lossy, _IN_PART))))
    return Invariant("types", True, lossy)


def _expectation(expectation: Mapping[str, object]) -> Invariant | Undecided:
    name, observed = joined_name(expectation, "name"), expectation.get("observed")
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


def _within(observed: object, expectation: Mapping[str, object]) -> bool | None:
    """None if there is no comparable bound. A value that was not measured is not within any bounds."""
    stated = [(side, expectation[side]) for side in ("atLeast", "atMost") if expectation.get(side) is not None]
    bounds = [(side, bound) for side, bound in stated if _is_number(bound)]
    if not bounds or len(bounds) < len(stated):
        return None
    if not _is_number(observed):
        return False
    return all(observed >= bound if side == "atLeast" else observed <= bound for side, bound in bounds)


def _is_number(value: object) -> TypeGuard[float]:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)
