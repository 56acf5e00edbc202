"""The facet `cdme.morphismTrace`: for each column that was written, the columns it comes from and the steps between."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from headwater.evidence.steps import Made, Step, Steps
from headwater.redaction.literals import without_strings

MOST_STEPS = 200
"""Of one column."""
MOST_COLUMNS = 2_000

Naming = Callable[[Step, int], str]
"""What a column of a reading operator is called."""


def morphisms(steps: Steps, naming: Naming) -> dict[str, Any]:
    """First the sources of a column, then the steps from there up."""
    made = _makers(steps)
    read = {id: step for step in steps.all if step.refers is None for id in step.leaf or ()}
    attributes: dict[str, list[str]] = {}
    whole = len(steps.columns) <= MOST_COLUMNS
    for id, name in steps.columns[:MOST_COLUMNS]:
        sources, between = _back(id, made, read, naming)
        whole = whole and len(between) <= MOST_STEPS
        attributes[name] = [*sorted(sources), *list(between)[:MOST_STEPS]]
    return {"targetAttributes": attributes, **steps.coverage(all_told=whole)}


def _makers(steps: Steps) -> Mapping[int, list[tuple[Step, Made | None, tuple[int, ...]]]]:
    """By a column's id, who makes it and of which."""
    found: dict[int, list[tuple[Step, Made | None, tuple[int, ...]]]] = {}
    defined = {step.defines: step for step in steps.all if step.defines is not None}
    for step in steps.all:
        for made in step.makes:
            found.setdefault(made.id, []).append((step, made, made.sources))
        definition = defined.get(step.refers) if step.refers is not None else None
        if definition is not None:
            for here, there in zip(step.columns, definition.columns, strict=False):
                found.setdefault(here, []).append((step, None, (there,)))
    return found


def _back(
    id: int,
    made: Mapping[int, list[tuple[Step, Made | None, tuple[int, ...]]]],
    read: Mapping[int, Step],
    naming: Naming,
) -> tuple[set[str], dict[str, None]]:
    """The sources, and the steps in such an order that each comes after those it builds on."""
    sources: set[str] = set()
    between: dict[str, None] = {}
    todo, seen = [(id, False)], {id}
    while todo:
        at, done = todo.pop()
        makers = made.get(at, [])
        if done:
            for step, how, _ in reversed(makers):  # the lower one first
                if how is not None and not _only_names(how):
                    between[f"{step.name}: {without_strings(how.name, how.sql)}"] = None
            continue
        todo.append((at, True))
        below = [each for _, _, sources_of in makers for each in sources_of]
        if at in read and (not makers or at in below):  # a union's column has the id of its first branch's
            sources.add(naming(read[at], at))
        fresh = [each for each in dict.fromkeys(below) if each not in seen]
        seen.update(fresh)
        todo += [(each, False) for each in fresh]
    return sources, between


def _only_names(made: Made) -> bool:
    """Another name for one column: `a AS b`."""
    return len(made.sources) == 1 and "(" not in made.sql and " " not in made.sql and made.sql != "UNION"
