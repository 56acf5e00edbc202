"""Facets of several writes as those of the one run that made them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Told = Sequence[tuple[str, Mapping[str, Any]]]
"""What was told of each output, by its name."""


def merged(told: Told) -> dict[str, Any] | None:
    """Lists one after the other, each entry with its output; mappings with the output before their keys."""
    if len(told) <= 1:
        return dict(told[0][1]) if told else None
    found: dict[str, Any] = {}
    for output, facet in told:
        for name, value in facet.items():
            if isinstance(value, list):
                found.setdefault(name, []).extend({"output": output, **each} for each in value)
            elif isinstance(value, Mapping):
                found.setdefault(name, {}).update({f"{output}.{key}": each for key, each in value.items()})
            else:
                found[name] = found.get(name, True) and value
    return found


def merged_ledgers(told: Told) -> dict[str, Any] | None:
    """A row may be in one output and not in another, so each has its own; of the whole it is said that all balance."""
    if len(told) <= 1:
        return dict(told[0][1]) if told else None
    found: dict[str, Any] = {
        "exact": all(facet["exact"] for _, facet in told),
        "outputs": [{"output": output, **facet} for output, facet in told],
    }
    said = [facet.get("balanced") for _, facet in told]
    if False in said or None not in said:
        found["balanced"] = False not in said
    return found
