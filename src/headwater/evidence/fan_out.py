"""Which joins have multiplied the rows of their leading side.

The leading side of a join is its first (of a right outer join, the second): the join shall not multiply those rows,
unless that is known to be intended, as where they are unique by the join keys. If the output rows of a join are
aggregated or made distinct further up, multiplying them is not a fault by itself: then each measure is judged
(grain.py).

Rows are counted where they end up, not behind each join. Rows that are there once were multiplied by no join; of the
others, some join has to be the cause. If several joins can be, they are reported together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from headwater.evidence.documents import GrainReport
from headwater.evidence.repeats import Repeats, least_repeated
from headwater.evidence.steps import MeasuredOperator, PlanSteps
from headwater.plan.operator_traits import RowEffect, operators_with

_UNITES = operators_with(lambda traits: traits.rows is RowEffect.MERGED)
_EXPANDS = operators_with(lambda traits: traits.rows is RowEffect.REPEATED)
_ONE_SIDED = ("LeftSemi", "LeftAnti", "ExistenceJoin")


@dataclass(frozen=True)
class JoinMatch:
    """A join: of both sides the leaves whose rows are part of its rows, those that every row has, and whether each side
    is unique by the join keys."""

    step: MeasuredOperator
    left: frozenset[int]
    always_left: frozenset[int]
    right: frozenset[int]
    always_right: frozenset[int]
    left_is_unique: bool
    right_is_unique: bool

    @property
    def proven(self) -> bool:
        return self.left_is_unique or self.right_is_unique

    @property
    def leading(self) -> frozenset[int]:
        """The leaves of the leading side; none of a full outer join, which has no leading side."""
        kind = self.step.join.kind if self.step.join is not None else ""
        if kind == "FullOuter":
            return frozenset()
        return self.always_right if kind == "RightOuter" else self.always_left


class FanOutCheck:
    """``of_leaf``: by the number of a leaf, the repeats that were counted."""

    def __init__(self, steps: PlanSteps, of_leaf: Mapping[int, Repeats], *, has_declared: bool) -> None:
        self._steps = steps
        self._has_declared = has_declared
        self.of_leaf = of_leaf
        self._joins: list[JoinMatch] = []

    def add(self, join: JoinMatch) -> None:
        self._joins.append(join)

    def validations(self) -> list[GrainReport]:
        return [*self._by_plan(), *self._by_rows(), *self._multiplied(), *self._contradicted()]

    def undecided(self) -> list[GrainReport]:
        return [
            {**_join_report(join), "detail": "neither side is known to be unique by what is joined on"}
            for join in self._joins
            if not join.proven and not self._keeps_its_rows(join) and not self._is_decided(join)
        ]

    def _by_plan(self) -> Iterator[GrainReport]:
        for join in self._joins:
            if join.proven:
                yield {**_join_report(join), "holds": True, "cardinality": _cardinality(join), "by": "plan"}

    def _by_rows(self) -> Iterator[GrainReport]:
        """Joins that kept the rows of their leading side, or that are judged where their rows are aggregated."""
        for join in self._joins:
            if join.proven:
                continue
            if self._keeps_its_rows(join):
                yield {**_join_report(join), "holds": True, "by": "rows"}
            elif self._is_decided(join) and self._is_united(join.step):
                detail = "it repeats rows, which are added up or made distinct further up: that is judged there"
                yield {**_join_report(join), "holds": True, "by": "rows", "detail": detail}

    def _multiplied(self) -> Iterator[GrainReport]:
        reported = set()
        for join in self._joins:
            if join.proven or self._keeps_its_rows(join) or not self._is_decided(join):
                continue
            leaf, suspects = self._suspected(join)
            if self._is_united(join.step) or suspects in reported:
                continue
            reported.add(suspects)
            yield self._violation(leaf, *(suspect for suspect in self._joins if suspect.step.number in suspects))

    def _contradicted(self) -> Iterator[GrainReport]:
        """Rows are repeated, and no join can have multiplied them: a declared key is not a key."""
        reported = set()
        for leaf, repeats in self.of_leaf.items() if self._has_declared else ():
            joins = [join for join in self._joins if leaf in join.left | join.right]
            all_unique = all(join.right_is_unique if leaf in join.left else join.left_is_unique for join in joins)
            nodes = frozenset(join.step.number for join in joins)
            if repeats.has_repeats and joins and all_unique and not self._is_unclear(leaf) and nodes not in reported:
                reported.add(nodes)
                yield {**self._violation(leaf, *joins), "declared": "what was declared to be a key is none"}

    def _violation(self, leaf: int, *joins: JoinMatch) -> GrainReport:
        repeats = self.of_leaf[leaf]
        detail = f"{repeats.distinct:,} rows of {self._steps.all[leaf].name} have become {repeats.rows:,}"
        return {**_join_report(*joins), "holds": False, "by": "rows", "detail": detail, "keys": repeats.sample()}

    def _keeps_its_rows(self, join: JoinMatch) -> bool:
        """Whether the rows of the leading side are there once each, which is enough for the join and all above it."""
        repeats = least_repeated(self.of_leaf, join.leading)
        return repeats is not None and not repeats.has_repeats

    def _is_decided(self, join: JoinMatch) -> bool:
        """Whether its rows are multiplied for certain, and not by something that is known to be intended."""
        repeats = least_repeated(self.of_leaf, join.leading)
        if repeats is None or not repeats.has_repeats:
            return False
        leaf, suspects = self._suspected(join)
        is_intended = any(other.proven and other.step.number in suspects for other in self._joins)
        return not is_intended and not self._is_unclear(leaf)

    def _suspected(self, join: JoinMatch) -> tuple[int, frozenset[int]]:
        """The leaf with the fewest joins that may be the cause, and these joins."""
        by_leaf = {leaf: self._suspects(leaf) for leaf in join.leading}
        return min(by_leaf.items(), key=lambda item: (len(item[1]), item[0]))

    def _suspects(self, leaf: int) -> frozenset[int]:
        """The joins that may have multiplied its rows: those whose other side is not known to be unique, and whose own
        side is not known to have its rows once each."""
        return frozenset(
            join.step.number
            for join in self._joins
            for near, always, alone in (
                (join.left, join.always_left, join.right_is_unique),
                (join.right, join.always_right, join.left_is_unique),
            )
            if leaf in near and not alone and not self._are_once(always)
        )

    def _are_once(self, leaves: frozenset[int]) -> bool:
        repeats = least_repeated(self.of_leaf, leaves)
        return repeats is not None and not repeats.has_repeats

    def _is_unclear(self, leaf: int) -> bool:
        """Whether another operator above it, where its rows are counted, may have repeated them: one that expands rows,
        or a join that its rows do not reach one by one."""
        joins = {join.step.number for join in self._joins if leaf in join.left | join.right}
        return any(
            step.operator in _EXPANDS
            or (step.join is not None and step.number not in joins and not _is_existence_join(step))
            for step in self._steps.ancestors_until(self._steps.all[leaf], _UNITES)
        )

    def _is_united(self, step: MeasuredOperator, seen: frozenset[int] = frozenset()) -> bool:
        """Whether its rows are aggregated or made distinct, or only tested for existence, before they are the
        result."""
        current = step
        while current.parent >= 0:
            if current.defines is not None:
                readers = [reader for reader in self._steps.all if reader.refers == current.defines]
                visited = seen | {current.number}
                return (
                    current.number not in seen
                    and bool(readers)
                    and all(self._is_united(reader, visited) for reader in readers)
                )
            parent = self._steps.all[current.parent]
            if parent.operator in _UNITES or (_is_existence_join(parent) and parent.below[0] != current.number):
                return True
            current = parent
        return current.number != 0  # of a subquery there is a value, or whether there is any


def _join_report(*joins: JoinMatch) -> GrainReport:
    """Several joins are reported as alternatives."""
    conditions = [join.step.join.condition for join in joins if join.step.join is not None]
    report: GrainReport = {"node": " or ".join(join.step.name for join in joins), "check": "fan-out"}
    on = " or ".join(condition for condition in conditions if condition is not None)
    if on:
        report["on"] = on
    return report


def _is_existence_join(step: MeasuredOperator) -> bool:
    """Whether it is a join that only tests whether the other side has a matching row."""
    return step.join is not None and step.join.kind.startswith(_ONE_SIDED)


def _cardinality(join: JoinMatch) -> str:
    if join.left_is_unique and join.right_is_unique:
        return "one to one"
    return "many to one" if join.right_is_unique else "one to many"
