"""How each output column is derived, in the four terms of WIA-DATA-008."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from headwater.capture.events.inputs import InputColumn
from headwater.plan.lineage import Derivation, Gap, PlanLineage

Resolve = Callable[[Sequence[Derivation]], Sequence[InputColumn]]


def column_types(lineage: PlanLineage, resolve: Resolve, gaps: Iterable[Gap]) -> dict[str, str]:
    """``aggregated``: an aggregate function is on the path. ``joined``: computed from columns of several joined
    sources. ``direct``: a copy. ``computed``: anything else, a constant too. A column with a gap has no type."""
    lost = [gap.columns for gap in gaps]
    joins = _joined_sources(lineage.whole)
    types = {}
    for column in lineage.columns:
        sources = resolve(column.derivations)
        if any(column.name in columns for columns in lost) or (not sources and () in lost):
            continue
        subtypes = {source.subtype for source in sources}
        if "AGGREGATION" in subtypes:
            types[column.name] = "aggregated"
        elif subtypes == {"IDENTITY"}:
            types[column.name] = "direct"
        elif _is_joined(column.derivations, joins):
            types[column.name] = "joined"
        else:
            types[column.name] = "computed"
    return types


def _joined_sources(derivations: Iterable[Derivation]) -> frozenset[int]:
    return frozenset(derivation.source for derivation in derivations if derivation.subtype == "JOIN")


def _is_joined(derivations: Iterable[Derivation], joins: frozenset[int]) -> bool:
    """Whether one expression uses several sources. Under a union two sources may have the same expression, each of its
    own columns: then the names are the same, and there is no join between them."""
    expressions: dict[str | None, set[tuple[int, str]]] = {}
    for derivation in derivations:
        if derivation.type == "DIRECT":
            expressions.setdefault(derivation.logic, set()).add((derivation.source, derivation.field))
    for used in expressions.values():
        sources, fields = {source for source, _ in used}, {name for _, name in used}
        if len(sources) > 1 and (len(fields) > 1 or sources <= joins):
            return True
    return False
