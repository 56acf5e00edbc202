"""Facets of several writes as those of the one run that made them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

FacetsByOutput = Sequence[tuple[str, Mapping[str, object]]]
"""The facet of each output, by the output's name."""


def merge_facets(facets: FacetsByOutput) -> dict[str, object] | None:
    """Lists are concatenated, each entry with its output; the keys of mappings get the output as a prefix."""
    if len(facets) <= 1:
        return dict(facets[0][1]) if facets else None
    merged: dict[str, object] = {}
    for output, facet in facets:
        for name, value in facet.items():
            if isinstance(value, list):
                entries = merged.setdefault(name, [])
                assert isinstance(entries, list)
                entries.extend({"output": output, **entry} for entry in value)
            elif isinstance(value, Mapping):
                members = merged.setdefault(name, {})
                assert isinstance(members, dict)
                members.update({f"{output}.{key}": entry for key, entry in value.items()})
            else:
                merged[name] = merged.get(name, True) and value
    return merged


def merge_ledgers(facets: FacetsByOutput) -> dict[str, object] | None:
    """A row may be in one output and not in another, so each output has its own ledger; the run states whether all
    balance."""
    if len(facets) <= 1:
        return dict(facets[0][1]) if facets else None
    merged: dict[str, object] = {
        "exact": all(facet["exact"] for _, facet in facets),
        "outputs": [{"output": output, **facet} for output, facet in facets],
    }
    verdicts = [facet.get("balanced") for _, facet in facets]
    if False in verdicts or None not in verdicts:
        merged["balanced"] = False not in verdicts
    return merged
