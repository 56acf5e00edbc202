"""What the operators of a plan do to columns, as `jvm/PlanSteps.java` reads it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from headwater.capture.events.plan_cuts import PlanCut
from headwater.evidence.documents import (
    CastDocument,
    FacetCoverage,
    NullabilityDocument,
    OperatorDocument,
    PlanStepsDocument,
)
from headwater.evidence.stitching import stitch
from headwater.model.json_types import JsonValue
from headwater.redaction.literals import mask_literals

_LEFT_OUT = "(left out)"


@dataclass(frozen=True)
class MadeColumn:
    """A column that an operator computes from others."""

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
class JoinStep:
    """``left`` and ``right`` are the columns that have to be equal, in pairs."""

    kind: str
    condition: str | None
    left: tuple[int, ...]
    right: tuple[int, ...]
    left_columns: frozenset[int]
    right_columns: frozenset[int]


@dataclass(frozen=True)
class MeasuredOperator:
    """An operator. ``number`` is its index in the plan, from the top; ``below`` are the numbers of its inputs."""

    number: int
    operator: str
    parent: int
    leaf: Mapping[int, str] | None
    """The columns of a leaf, by id."""
    makes: tuple[MadeColumn, ...]
    casts: tuple[CastDocument, ...]
    nulls: tuple[NullabilityDocument, ...]
    join: JoinStep | None
    keys: tuple[int, ...] | None
    """The columns by which it outputs one row each; None if it does not, or does not output them."""
    measures: tuple[Measure, ...]
    defines: int | None
    refers: int | None
    """The common table expression that it defines or reads."""
    columns: tuple[int, ...]
    stands_for: tuple[int, ...] = ()
    """The columns of a leaf that stands for the plan below it, which was computed before and is read again."""
    below: list[int] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.number} {self.operator}"


@dataclass(frozen=True)
class PlanSteps:
    all: tuple[MeasuredOperator, ...]
    columns: tuple[tuple[int, str], ...]
    """Of the result: ids and names."""
    whole: bool
    """Whether all operators were read."""
    not_seen: tuple[Mapping[str, str], ...] = ()
    """Operators with an unknown plan behind them, each with the reason."""

    @classmethod
    def read(cls, text: str, cuts: Sequence[PlanCut] = (), literals: str = "keep") -> PlanSteps:
        """``cuts``: leaves that stand for other plans. The steps of those plans are appended, as inputs of the leaf.
        ``literals``: whether literals stay in the text of expressions."""
        document: PlanStepsDocument = json.loads(text)
        whole, not_seen = stitch(document, cuts)
        if literals != "keep":
            document["steps"] = _without_literals(document["steps"], literals)
        steps = tuple(_step(number, item) for number, item in enumerate(document["steps"]))
        for step in steps:
            if step.parent >= 0:
                steps[step.parent].below.append(step.number)
        columns = tuple((item["id"], item["name"]) for item in document["columns"])
        reasons = tuple({"node": steps[number].name, "reason": why} for number, why in not_seen.items())
        return cls(steps, columns, whole, reasons)

    @cached_property
    def names(self) -> Mapping[int, str]:
        """The names of columns, by id."""
        names: dict[int, str] = {}
        for step in self.all:
            names |= {column.id: column.name for column in step.makes} | dict(step.leaf or {})
        return names | dict(self.columns)

    def coverage(self, *, all_reported: bool = True) -> FacetCoverage:
        """Whether a facet made of these steps is complete; ``all_reported``: it had room for everything."""
        coverage: FacetCoverage = {"complete": self.whole and all_reported and not self.not_seen}
        if self.not_seen:
            coverage["notSeen"] = [dict(reason) for reason in self.not_seen]
        return coverage

    def above(self, step: MeasuredOperator) -> set[int]:
        """The operators above it. A recursive definition is above a reference to itself."""
        numbers = set()
        while step.parent >= 0:
            numbers.add(step.parent)
            step = self.all[step.parent]
        return numbers

    def ancestors_until(self, step: MeasuredOperator, until: Collection[str]) -> Iterator[MeasuredOperator]:
        """The operators that its rows reach, up to those named in ``until``; from a common table expression on to its
        references."""
        pending, seen = [step], {step.number}
        while pending:
            current = pending.pop()
            if current.defines is not None:
                parents = [parent for parent in self.all if parent.refers == current.defines]
            else:
                parents = [self.all[current.parent]] if current.parent >= 0 else []
            for parent in parents:
                if parent.number not in seen and parent.operator not in until:
                    seen.add(parent.number)
                    pending.append(parent)
                    yield parent

    def column_names(self, ids: Sequence[int] | frozenset[int]) -> list[str]:
        return sorted(self.names.get(id, f"#{id}") for id in ids)


def _without_literals(document: JsonValue, literals: str) -> JsonValue:
    """The text of expressions masked, or left out; a plain name stays, which trace.py recognises by its form."""
    if isinstance(document, list):
        return [_without_literals(item, literals) for item in document]
    if not isinstance(document, dict):
        return document
    return {
        key: _text_without_literals(value, literals)
        if key in ("sql", "condition") and isinstance(value, str)
        else _without_literals(value, literals)
        for key, value in document.items()
    }


def _text_without_literals(sql: str, literals: str) -> str:
    masked = mask_literals(sql)
    return masked if literals == "mask" or ("(" not in masked and " " not in masked) else _LEFT_OUT


def _step(number: int, fields: OperatorDocument) -> MeasuredOperator:
    join = None
    if "join" in fields:
        columns = (frozenset(fields["leftColumns"]), frozenset(fields["rightColumns"]))
        join = JoinStep(
            fields["join"], fields.get("condition"), tuple(fields["left"]), tuple(fields["right"]), *columns
        )
    leaf = fields.get("leaf")
    keys = fields.get("keys")
    return MeasuredOperator(
        number=number,
        operator=fields["operator"],
        parent=fields["parent"],
        leaf=None if leaf is None else {item["id"]: item["name"] for item in leaf},
        makes=tuple(MadeColumn(item["id"], item["name"], item["sql"], tuple(item["from"])) for item in fields["makes"]),
        casts=tuple(fields["casts"]),
        nulls=tuple(fields["nulls"]),
        join=join,
        keys=None if keys is None else tuple(keys),
        measures=tuple(
            Measure(item["column"], item["function"], item["distinct"], item["sql"], frozenset(item["from"]))
            for item in fields.get("measures", ())
        ),
        defines=fields.get("defines"),
        refers=fields.get("refers"),
        columns=tuple(fields.get("columns", ())),
        stands_for=tuple(fields.get("standsFor", ())),
    )
