"""Version 1: whether the ledger balances and whether expectations hold is taken from whoever wrote the event."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from headwater.formats.openlineage.claims.reading import (
    EXPECTATIONS,
    GRAIN,
    LEDGER,
    TYPES,
    Judged,
    few,
    lossy_casts,
    mappings,
    named,
)
from headwater.model.certificates import Breach, Invariant
from headwater.model.runs import Facets
from headwater.proof.canonical import canonical_scalar


def judged(facets: Facets) -> Judged:
    return Judged(tuple(_invariants(facets)))


def _invariants(facets: Facets) -> Iterator[Invariant]:
    if isinstance(ledger := facets.get(LEDGER), Mapping) and not _claims_nothing(ledger):
        yield _balance(ledger)
    if isinstance(grain := facets.get(GRAIN), Mapping):
        yield _grain(grain)
    if isinstance(types := facets.get(TYPES), Mapping):
        yield Invariant("types", True, lossy_casts(types))
    if isinstance(expected := facets.get(EXPECTATIONS), Mapping):
        for each in mappings(expected.get("expectations")):
            yield _expectation(each)


def _claims_nothing(ledger: Mapping[str, Any]) -> bool:
    """One that says itself that not all rows were followed, and so not whether they balance."""
    return ledger.get("exact") is False and "balanced" not in ledger


def _balance(ledger: Mapping[str, Any]) -> Invariant:
    holds = ledger.get("balanced") is True
    detail = None if holds else "rows of the sources are not all accounted for, once each"
    return Invariant("balance", holds, detail, breach=None if holds else Breach.CRITICAL)


def _grain(grain: Mapping[str, Any]) -> Invariant:
    validations = mappings(grain.get("validations"))
    failed = [named(each, "node", "name") for each in validations if each.get("holds") is not True]
    detail = f"{len(failed)} of {len(validations)} do not hold: {few(failed)}" if failed else None
    return Invariant("grain", not failed, detail, breach=Breach.MATERIAL if failed else None)


def _expectation(expectation: Mapping[str, Any]) -> Invariant:
    holds = expectation.get("holds") is True
    observed = canonical_scalar(expectation.get("observed"))
    materiality = str(expectation.get("materiality")).upper()
    breach = Breach(materiality) if materiality in list(Breach) else Breach.MATERIAL
    return Invariant(
        name=named(expectation, "name"),
        holds=holds,
        detail=None if observed is None else f"observed {observed}",
        threshold=canonical_scalar(expectation.get("threshold")),
        breach=None if holds else breach,
    )
