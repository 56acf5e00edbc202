"""The facet `cdme.morphismTrace`: for each column that was written, the columns it comes from and the steps in
between."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from headwater.evidence.documents import TraceFacet
from headwater.evidence.steps import MadeColumn, MeasuredOperator, PlanSteps
from headwater.redaction.literals import without_strings

MAX_STEPS = 200
"""Per column."""
MAX_COLUMNS = 2_000

ColumnNaming = Callable[[MeasuredOperator, int], str]
"""The name of a column of a leaf."""


def morphism_trace(steps: PlanSteps, naming: ColumnNaming) -> TraceFacet:
    """First the sources of a column, then the steps from there up."""
    makers = _makers(steps)
    read = {id: step for step in steps.all if step.refers is None for id in step.leaf or ()}
    attributes: dict[str, list[str]] = {}
    complete = len(steps.columns) <= MAX_COLUMNS
    for id, name in steps.columns[:MAX_COLUMNS]:
        sources, between = _trace_column(id, makers, read, naming)
        complete = complete and len(between) <= MAX_STEPS
        attributes[name] = [*sorted(sources), *list(between)[:MAX_STEPS]]
    return {"targetAttributes": attributes, **steps.coverage(all_reported=complete)}


def _makers(steps: PlanSteps) -> Mapping[int, list[tuple[MeasuredOperator, MadeColumn | None, tuple[int, ...]]]]:
    """By a column's id, the operators that make it, and of which columns."""
    makers: dict[int, list[tuple[MeasuredOperator, MadeColumn | None, tuple[int, ...]]]] = {}
    defined = {step.defines: step for step in steps.all if step.defines is not None}
    for step in steps.all:
        for made_column in step.makes:
            makers.setdefault(made_column.id, []).append((step, made_column, made_column.sources))
        definition = defined.get(step.refers) if step.refers is not None else None
        if definition is not None:
            for column, source in zip(step.columns, definition.columns, strict=False):
                makers.setdefault(column, []).append((step, None, (source,)))
    return makers


def _trace_column(
    id: int,
    makers_by_column: Mapping[int, list[tuple[MeasuredOperator, MadeColumn | None, tuple[int, ...]]]],
    read: Mapping[int, MeasuredOperator],
    naming: ColumnNaming,
) -> tuple[set[str], dict[str, None]]:
    """The sources, and the steps, each after those it builds on."""
    sources: set[str] = set()
    between: dict[str, None] = {}
    pending, seen = [(id, False)], {id}
    while pending:
        current, done = pending.pop()
        makers = makers_by_column.get(current, [])
        if done:
            for step, how, _ in reversed(makers):  # the lower one first
                if how is not None and not _only_names(how):
                    between[f"{step.name}: {without_strings(how.name, how.sql)}"] = None
            continue
        pending.append((current, True))
        source_ids = [column for _, _, sources_of in makers for column in sources_of]
        if current in read and (
            not makers or current in source_ids
        ):  # a union's column has the id of its first branch's
            sources.add(naming(read[current], current))
        unseen = [column for column in dict.fromkeys(source_ids) if column not in seen]
        seen.update(unseen)
        pending += [(column, False) for column in unseen]
    return sources, between


def _only_names(column: MadeColumn) -> bool:
    """Another name for a column: `a AS b`."""
    return len(column.sources) == 1 and "(" not in column.sql and " " not in column.sql and column.sql != "UNION"
