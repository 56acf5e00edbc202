"""Which joins have multiplied the rows that they were asked about.

A join is read from its first side (of a right outer join, the second): what is joined on shall not multiply the rows
of that, unless it is known to be meant, as where they are unique by what is joined on. Where the rows that a join gives
are added up or made distinct further up, that it multiplies them is no harm by itself: then each measure is judged for
itself (grain.py).

Rows are counted where they end up, not behind each join. Those that are there once each were multiplied by none; of
those that are not, some join has to be the one. If there are several that it can have been, they are named together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from headwater.evidence.repeats import Repeats, least_repeated
from headwater.evidence.steps import Step, Steps

_UNITES = ("Aggregate", "Distinct", "Deduplicate")
_EXPANDS = ("Generate", "Expand")
_ONE_SIDED = ("LeftSemi", "LeftAnti", "ExistenceJoin")


@dataclass(frozen=True)
class Met:
    """A join: of both sides the leaves whose rows stand in its rows, those among them that every row has, and whether
    they are known to be unique by what is joined on."""

    step: Step
    left: frozenset[int]
    always_left: frozenset[int]
    right: frozenset[int]
    always_right: frozenset[int]
    one_left: bool
    one_right: bool

    @property
    def proven(self) -> bool:
        return self.one_left or self.one_right

    @property
    def leading(self) -> frozenset[int]:
        """Of the side that the join is read from; none of a full outer join, which has no such side."""
        kind = self.step.join.kind if self.step.join is not None else ""
        if kind == "FullOuter":
            return frozenset()
        return self.always_right if kind == "RightOuter" else self.always_left


class FanOut:
    """``of_leaf``: by the number of a leaf, what was counted of it."""

    def __init__(self, steps: Steps, of_leaf: Mapping[int, Repeats], *, has_declared: bool) -> None:
        self._steps = steps
        self._has_declared = has_declared
        self.of_leaf = of_leaf
        self._joins: list[Met] = []

    def add(self, join: Met) -> None:
        self._joins.append(join)

    def validations(self) -> list[dict[str, Any]]:
        return [*self._by_plan(), *self._by_rows(), *self._multiplied(), *self._contradicted()]

    def undecided(self) -> list[dict[str, Any]]:
        return [
            {**_told(join), "detail": "neither side is known to be unique by what is joined on"}
            for join in self._joins
            if not join.proven and not self._keeps_its_rows(join) and not self._is_decided(join)
        ]

    def _by_plan(self) -> Iterator[dict[str, Any]]:
        for join in self._joins:
            if join.proven:
                yield {**_told(join), "holds": True, "cardinality": _cardinality(join), "by": "plan"}

    def _by_rows(self) -> Iterator[dict[str, Any]]:
        """Joins that have left the rows they are read from as they were, or that are judged where they are added up."""
        for join in self._joins:
            if join.proven:
                continue
            if self._keeps_its_rows(join):
                yield {**_told(join), "holds": True, "by": "rows"}
            elif self._is_decided(join) and self._is_united(join.step):
                detail = "it repeats rows, which are added up or made distinct further up: that is judged there"
                yield {**_told(join), "holds": True, "by": "rows", "detail": detail}

    def _multiplied(self) -> Iterator[dict[str, Any]]:
        told = set()
        for join in self._joins:
            if join.proven or self._keeps_its_rows(join) or not self._is_decided(join):
                continue
            leaf, suspects = self._suspected(join)
            if self._is_united(join.step) or suspects in told:
                continue
            told.add(suspects)
            yield {**_told(*(each for each in self._joins if each.step.number in suspects)), **self._wrong(leaf)}

    def _contradicted(self) -> Iterator[dict[str, Any]]:
        """Rows are there more than once, and no join can have multiplied them: a key that was declared is none."""
        told = set()
        for leaf, found in self.of_leaf.items() if self._has_declared else ():
            beside = [join for join in self._joins if leaf in join.left | join.right]
            alone = all(join.one_right if leaf in join.left else join.one_left for join in beside)
            nodes = frozenset(join.step.number for join in beside)
            if found.several and beside and alone and not self._is_unclear(leaf) and nodes not in told:
                told.add(nodes)
                yield {**_told(*beside), **self._wrong(leaf), "declared": "what was declared to be a key is none"}

    def _wrong(self, leaf: int) -> dict[str, Any]:
        found = self.of_leaf[leaf]
        detail = f"{found.distinct:,} rows of {self._steps.all[leaf].name} have become {found.rows:,}"
        return {"holds": False, "by": "rows", "detail": detail, "keys": found.sample()}

    def _keeps_its_rows(self, join: Met) -> bool:
        """Whether the rows that the join is read from are there once each, which is enough for it and all above it."""
        found = least_repeated(self.of_leaf, join.leading)
        return found is not None and not found.several

    def _is_decided(self, join: Met) -> bool:
        """Whether its rows are multiplied for certain, and by nothing that is known to be meant."""
        found = least_repeated(self.of_leaf, join.leading)
        if found is None or not found.several:
            return False
        leaf, suspects = self._suspected(join)
        meant = any(each.proven and each.step.number in suspects for each in self._joins)
        return not meant and not self._is_unclear(leaf)

    def _suspected(self, join: Met) -> tuple[int, frozenset[int]]:
        """The leaf for which the fewest joins come into question, and these."""
        by_leaf = {leaf: self._suspects(leaf) for leaf in join.leading}
        return min(by_leaf.items(), key=lambda each: (len(each[1]), each[0]))

    def _suspects(self, leaf: int) -> frozenset[int]:
        """The joins that may have multiplied its rows: those where what it meets is not known to be unique, and where
        the rows of its side are not known to be there once each."""
        return frozenset(
            join.step.number
            for join in self._joins
            for near, always, alone in (
                (join.left, join.always_left, join.one_right),
                (join.right, join.always_right, join.one_left),
            )
            if leaf in near and not alone and not self._are_once(always)
        )

    def _are_once(self, leaves: frozenset[int]) -> bool:
        found = least_repeated(self.of_leaf, leaves)
        return found is not None and not found.several

    def _is_unclear(self, leaf: int) -> bool:
        """Whether something else above it may have made several rows of one, where they are counted: an operator that
        does, or a join that its rows do not come to one by one."""
        joins = {join.step.number for join in self._joins if leaf in join.left | join.right}
        return any(
            step.operator in _EXPANDS or (step.join is not None and step.number not in joins and not _one_sided(step))
            for step in self._steps.way_up(self._steps.all[leaf], _UNITES)
        )

    def _is_united(self, step: Step, seen: frozenset[int] = frozenset()) -> bool:
        """Whether its rows are added up or made distinct, or only looked for, before they are the result."""
        at = step
        while at.parent >= 0:
            if at.defines is not None:
                readers = [each for each in self._steps.all if each.refers == at.defines]
                known = seen | {at.number}
                return at.number not in seen and bool(readers) and all(self._is_united(each, known) for each in readers)
            above = self._steps.all[at.parent]
            if above.operator in _UNITES or (_one_sided(above) and above.below[0] != at.number):
                return True
            at = above
        return at.number != 0  # of a subquery there is a value, or whether there is any


def _told(*joins: Met) -> dict[str, Any]:
    """Of several, that it is one of them."""
    conditions = [join.step.join.condition for join in joins if join.step.join is not None]
    named = {"node": " or ".join(join.step.name for join in joins), "check": "fan-out"}
    on = " or ".join(condition for condition in conditions if condition is not None)
    return {**named, "on": on} if on else named


def _one_sided(step: Step) -> bool:
    """Whether it is a join that only looks whether there is a row on the other side."""
    return step.join is not None and step.join.kind.startswith(_ONE_SIDED)


def _cardinality(join: Met) -> str:
    if join.one_left and join.one_right:
        return "one to one"
    return "many to one" if join.one_right else "one to many"
