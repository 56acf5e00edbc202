"""What the operators of one plan do to columns, as `jvm/Steps.java` tells it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from headwater.capture.events.plan_cuts import Cut
from headwater.evidence.stitching import stitch
from headwater.redaction.literals import mask_literals

_LEFT_OUT = "(left out)"


@dataclass(frozen=True)
class Made:
    """A column that an operator makes of others."""

    id: int
    name: str
    sql: str
    sources: tuple[int, ...]


@dataclass(frozen=True)
class Measure:
    """An aggregate function and the columns it is taken over."""

    column: str
    function: str
    distinct: bool
    sql: str
    sources: frozenset[int]


@dataclass(frozen=True)
class Joined:
    """``left`` and ``right`` are the columns that have to be equal, in pairs."""

    kind: str
    condition: str | None
    left: tuple[int, ...]
    right: tuple[int, ...]
    left_columns: frozenset[int]
    right_columns: frozenset[int]


@dataclass(frozen=True)
class Step:
    """An operator. ``number`` is its place in the plan, from the top; ``below`` are the numbers of its inputs."""

    number: int
    operator: str
    parent: int
    leaf: Mapping[int, str] | None
    """The columns of one that reads, by their ids."""
    makes: tuple[Made, ...]
    casts: tuple[Mapping[str, Any], ...]
    nulls: tuple[Mapping[str, Any], ...]
    join: Joined | None
    keys: tuple[int, ...] | None
    """The columns by which it leaves one row each; None if it does not, or does not show them."""
    measures: tuple[Measure, ...]
    defines: int | None
    refers: int | None
    """The common table expression that it defines or reads."""
    columns: tuple[int, ...]
    stands_for: tuple[int, ...] = ()
    """The columns of a leaf that stands for the plan below it: that was run before, and is read again."""
    below: list[int] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.number} {self.operator}"


@dataclass(frozen=True)
class Steps:
    all: tuple[Step, ...]
    columns: tuple[tuple[int, str], ...]
    """Of the result: ids and names."""
    whole: bool
    """Whether all operators were looked at."""
    not_seen: tuple[Mapping[str, str], ...] = ()
    """Operators with more behind them than can be seen, each with the reason."""

    @classmethod
    def read(cls, text: str, cuts: Sequence[Cut] = (), literals: str = "keep") -> Steps:
        """``cuts``: leaves that stand for other plans. The steps of these come behind, as what is below such a leaf.
        ``literals``: whether those of expressions stay in their text."""
        told = json.loads(text)
        whole, not_seen = stitch(told, cuts)
        if literals != "keep":
            told["steps"] = _without_literals(told["steps"], literals)
        steps = tuple(_step(number, each) for number, each in enumerate(told["steps"]))
        for step in steps:
            if step.parent >= 0:
                steps[step.parent].below.append(step.number)
        columns = tuple((each["id"], each["name"]) for each in told["columns"])
        reasons = tuple({"node": steps[number].name, "reason": why} for number, why in not_seen.items())
        return cls(steps, columns, whole, reasons)

    @cached_property
    def names(self) -> Mapping[int, str]:
        """Of columns, by their ids."""
        found: dict[int, str] = {}
        for step in self.all:
            found |= {made.id: made.name for made in step.makes} | dict(step.leaf or {})
        return found | dict(self.columns)

    def coverage(self, *, all_told: bool = True) -> dict[str, Any]:
        """Whether a facet made of these steps tells everything; ``all_told``: it had room for what it found."""
        told: dict[str, Any] = {"complete": self.whole and all_told and not self.not_seen}
        return {**told, "notSeen": [dict(each) for each in self.not_seen]} if self.not_seen else told

    def above(self, step: Step) -> set[int]:
        """The operators that it is within: a recursive definition is read within itself."""
        found = set()
        while step.parent >= 0:
            found.add(step.parent)
            step = self.all[step.parent]
        return found

    def way_up(self, step: Step, until: Sequence[str]) -> Iterator[Step]:
        """The operators that its rows come to, up to such ones; from a common table expression on where it is read."""
        todo, seen = [step], {step.number}
        while todo:
            at = todo.pop()
            if at.defines is not None:
                above = [each for each in self.all if each.refers == at.defines]
            else:
                above = [self.all[at.parent]] if at.parent >= 0 else []
            for each in above:
                if each.number not in seen and each.operator not in until:
                    seen.add(each.number)
                    todo.append(each)
                    yield each

    def named(self, ids: Sequence[int] | frozenset[int]) -> list[str]:
        return sorted(self.names.get(id, f"#{id}") for id in ids)


def _without_literals(told: Any, literals: str) -> Any:
    """The text of expressions masked, or left out; a mere name stays, which is known by its form (trace.py)."""
    if isinstance(told, list):
        return [_without_literals(each, literals) for each in told]
    if not isinstance(told, dict):
        return told
    return {
        key: _text_without_literals(value, literals)
        if key in ("sql", "condition") and isinstance(value, str)
        else _without_literals(value, literals)
        for key, value in told.items()
    }


def _text_without_literals(sql: str, literals: str) -> str:
    masked = mask_literals(sql)
    return masked if literals == "mask" or ("(" not in masked and " " not in masked) else _LEFT_OUT


def _step(number: int, told: Mapping[str, Any]) -> Step:
    join = None
    if "join" in told:
        columns = (frozenset(told["leftColumns"]), frozenset(told["rightColumns"]))
        join = Joined(told["join"], told.get("condition"), tuple(told["left"]), tuple(told["right"]), *columns)
    leaf = told.get("leaf")
    keys = told.get("keys")
    return Step(
        number,
        told["operator"],
        told["parent"],
        None if leaf is None else {each["id"]: each["name"] for each in leaf},
        tuple(Made(each["id"], each["name"], each["sql"], tuple(each["from"])) for each in told["makes"]),
        tuple(told["casts"]),
        tuple(told["nulls"]),
        join,
        None if keys is None else tuple(keys),
        tuple(
            Measure(each["column"], each["function"], each["distinct"], each["sql"], frozenset(each["from"]))
            for each in told.get("measures", ())
        ),
        told.get("defines"),
        told.get("refers"),
        tuple(told.get("columns", ())),
        tuple(told.get("standsFor", ())),
    )
