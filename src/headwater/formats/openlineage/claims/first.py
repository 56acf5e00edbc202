"""Version 1: whether the ledger balances and whether expectations hold is taken from the event as stated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from headwater.formats.openlineage.claims.reading import Judgement, first_names, joined_name, lossy_casts, mappings
from headwater.formats.openlineage.facet_names import EXPECTATIONS_FACET, GRAIN_FACET, LEDGER_FACET, TYPES_FACET
from headwater.model.certificates import Breach, Invariant
from headwater.model.runs import Facets
from headwater.proof.canonical import canonical_scalar


def judge(facets: Facets) -> Judgement:
    return Judgement(tuple(_invariants(facets)))


def _invariants(facets: Facets) -> Iterator[Invariant]:
    if isinstance(ledger := facets.get(LEDGER_FACET), Mapping) and not _claims_nothing(ledger):
        yield _balance(ledger)
    if isinstance(grain := facets.get(GRAIN_FACET), Mapping):
        yield _grain(grain)
    if isinstance(types := facets.get(TYPES_FACET), Mapping):
        yield Invariant("types", True, lossy_casts(types))
    if isinstance(expected := facets.get(EXPECTATIONS_FACET), Mapping):
        for expectation in mappings(expected.get("expectations")):
            yield _expectation(expectation)


def _claims_nothing(ledger: Mapping[str, object]) -> bool:
    """A ledger that states that not all rows were followed, and so not whether they balance."""
    return ledger.get("exact") is False and "balanced" not in ledger


def _balance(ledger: Mapping[str, object]) -> Invariant:
    holds = ledger.get("balanced") is True
    detail = None if holds else "rows of the sources are not all accounted for, once each"
    return Invariant("balance", holds, detail, breach=None if holds else Breach.CRITICAL)


def _grain(grain: Mapping[str, object]) -> Invariant:
    validations = mappings(grain.get("validations"))
    failed = [
        joined_name(validation, "node", "name") for validation in validations if validation.get("holds") is not True
    ]
    detail = f"{len(failed)} of {len(validations)} do not hold: {first_names(failed)}" if failed else None
    return Invariant("grain", not failed, detail, breach=Breach.MATERIAL if failed else None)


def _expectation(expectation: Mapping[str, object]) -> Invariant:
    holds = expectation.get("holds") is True
    observed = canonical_scalar(expectation.get("observed"))
    materiality = str(expectation.get("materiality")).upper()
    breach = Breach(materiality) if materiality in list(Breach) else Breach.MATERIAL
    return Invariant(
        name=joined_name(expectation, "name"),
        holds=holds,
        detail=None if observed is None else f"observed {observed}",
        threshold=canonical_scalar(expectation.get("threshold")),
        breach=None if holds else breach,
    )
