"""The facet `cdme.grainSafety`: what one row stands for at each operator, and where rows are counted twice.

A join multiplies the rows of a side that can meet several on the other. To add up what comes from such a side alone
counts it more than once. From the plan one can prove that a side is unique (it was grouped or made distinct by the
columns joined on, or these were declared to be its key); that it is not, only the rows can tell. So the plan's answers
are "holds" and "undecided", and those that were measured (ledger.py) are "holds" and "does not", with rows to show for
it. What is said of joins is in fan_out.py.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from headwater.evidence.fan_out import FanOut, Met
from headwater.evidence.repeats import Repeats, least_repeated
from headwater.evidence.steps import Measure, Step, Steps

_LEFT_ALONE = ("LeftSemi", "LeftAnti")
_TELLS_ONCE = frozenset({"max", "min", "first", "last", "any_value", "bool_and", "bool_or", "some", "every", "mode"})
"""Functions that give the same however often a row is there."""
_ONE_BY_ONE = (
    "Project Filter Sort SubqueryAlias View Repartition RepartitionByExpression RebalancePartitions ResolvedHint "
    "CollectMetrics EventTimeWatermark CTERelationDef WithCTE"
)
"""Operators each of whose rows is a row of what is below."""
_KEEPS = f"{_ONE_BY_ONE} GlobalLimit LocalLimit Offset Tail Window Deduplicate Distinct".split()
"""Operators that make no row of another two, and no two of one. A sample may, if rows are put back."""
_MOST_KEYS = 8

Key = frozenset[int]


@dataclass
class _State:
    """``keys``: columns that no two rows share. ``multiplied``: by column, the operator that may repeat its values."""

    keys: set[Key] = field(default_factory=set)
    multiplied: dict[int, Step] = field(default_factory=dict)
    origin: dict[int, frozenset[int]] = field(default_factory=dict)
    """By column, the columns of sources that it is made of."""
    repeated: Step | None = None
    """The operator by which whole rows may be there more than once."""
    near: frozenset[int] = frozenset()
    """Leaves, by their numbers, whose rows stand side by side in the rows here: nothing is between but joins."""
    always: frozenset[int] = frozenset()
    """Those of them that every row here has a row of."""


def grain_safety(
    steps: Steps, measured: Mapping[int, Repeats] | None = None, declared: Collection[Key] = ()
) -> dict[str, Any]:
    """``measured``: by the id of a source's column, what was counted of its source. ``declared``: columns that somebody
    has said to be the key of what they come from."""
    judge = _Judge(steps, measured or {}, declared)
    judge.walk()
    told = {"nodes": judge.nodes, "validations": judge.validations, "undecided": judge.undecided}
    return {**told, **steps.coverage()}


class _Judge:
    def __init__(self, steps: Steps, measured: Mapping[int, Repeats], declared: Collection[Key]) -> None:
        self._steps = steps
        self._measured = measured
        self._declared = declared
        self._states: dict[int, _State] = {}
        self._defined = {step.defines: step for step in steps.all if step.defines is not None}
        self._fan_out = FanOut(steps, self._of_leaf(), has_declared=bool(declared))
        self.nodes: list[dict[str, Any]] = []
        self.validations: list[dict[str, Any]] = []
        self.undecided: list[dict[str, Any]] = []

    def _of_leaf(self) -> dict[int, Repeats]:
        found = {}
        for step in self._steps.all:
            known = [self._measured[id] for id in step.leaf or step.stands_for if id in self._measured]
            if known:
                found[step.number] = known[0]
        return found

    def walk(self) -> None:
        """From the leaves up, and the definition of a common table expression before those who read it."""
        todo = [step.number for step in self._steps.all]
        while todo:
            step = self._steps.all[todo[-1]]
            before = [number for number in self._needs(step) if number not in self._states]
            if before and step.number not in self._states:
                todo += before
                continue
            todo.pop()
            if step.number not in self._states:
                self._states[step.number] = self._state(step)
        self.validations += self._fan_out.validations()
        self.undecided += self._fan_out.undecided()
        for step in self._steps.all:
            if step.join is not None or step.keys is not None or step.number == 0:
                named = (self._steps.named(key) for key in self._states[step.number].keys)
                grain = min(named, key=lambda names: (len(names), names), default=None)
                self.nodes.append({"node": step.name} if grain is None else {"node": step.name, "grain": grain})

    def _needs(self, step: Step) -> list[int]:
        definition = self._defined.get(step.refers) if step.refers is not None else None
        looped = definition is None or definition.number in self._steps.above(step)
        return [*step.below, *([] if looped or definition is None else [definition.number])]

    def _state(self, step: Step) -> _State:
        below = [self._states[number] for number in step.below if number in self._states]
        if step.refers is not None:
            return self._referred(step)
        if step.leaf is not None:
            leaf = frozenset([step.number])
            keys = {key for key in self._declared if key <= step.leaf.keys()}
            return _State(keys, origin={id: frozenset([id]) for id in step.leaf}, near=leaf, always=leaf)
        if step.join is not None and len(below) == 2:
            return self._joined(step, *below)
        if step.measures or step.operator == "Aggregate":
            return self._aggregated(step, below[0])
        state = _together(below)
        if step.stands_for:
            return _stood_for(step, state)
        if step.operator not in _KEEPS:
            state.keys = set()
        if step.operator not in _ONE_BY_ONE.split():
            state.near = state.always = frozenset()
        if step.operator == "Generate":
            state.multiplied |= dict.fromkeys(state.origin, step)
        _made(step, state)
        made = {each.id for each in step.makes}
        state.keys |= {key for key in self._declared if key & made and key <= state.origin.keys()}
        if step.keys is not None:
            state.keys.add(frozenset(step.keys))
        return state

    def _referred(self, step: Step) -> _State:
        definition = None if step.refers is None else self._defined.get(step.refers)
        known = self._states.get(definition.number) if definition is not None else None
        if definition is None or known is None:
            return _State(origin={id: frozenset() for id in step.columns})
        names = dict(zip(definition.columns, step.columns, strict=False))
        return _State(
            {frozenset(names[id] for id in key) for key in known.keys if key <= names.keys()},
            {names[id]: by for id, by in known.multiplied.items() if id in names},
            {names[id]: of for id, of in known.origin.items() if id in names},
            known.repeated,
        )

    def _joined(self, step: Step, left: _State, right: _State) -> _State:
        join = step.join
        assert join is not None
        if join.kind in _LEFT_ALONE or join.kind.startswith("ExistenceJoin"):
            return left
        one_right = any(key <= set(join.right) for key in right.keys)
        one_left = any(key <= set(join.left) for key in left.keys)
        state = _together([left, right])
        state.keys = {a | b for a in left.keys for b in right.keys}
        if one_right:
            state.keys |= left.keys if join.kind not in ("RightOuter", "FullOuter") else set()
        else:
            state.multiplied |= dict.fromkeys(join.left_columns, step)
        if one_left:
            state.keys |= right.keys if join.kind not in ("LeftOuter", "FullOuter") else set()
        else:
            state.multiplied |= dict.fromkeys(join.right_columns, step)
        state.keys = set(sorted(state.keys, key=lambda key: (len(key), sorted(key)))[:_MOST_KEYS])
        state.repeated = _repeated(step, left, right, one_left, one_right)
        if join.kind in ("RightOuter", "FullOuter"):
            state.always -= left.always
        if join.kind in ("LeftOuter", "FullOuter"):
            state.always -= right.always
        met = Met(step, left.near, left.always, right.near, right.always, one_left, one_right)
        self._fan_out.add(met)
        return state

    def _aggregated(self, step: Step, below: _State) -> _State:
        at_risk = [measure for measure in step.measures if _may_repeat(measure, below)]
        for measure in at_risk:
            self._tell_measure(step, measure, below)
        added = [measure for measure in step.measures if _adds_up(measure) and measure.sources]
        plain = [measure for measure in added if measure not in at_risk]
        of_columns = [measure for measure in at_risk if measure.sources]
        if of_columns and plain:
            self._tell_mixed(step, of_columns, plain, below)
        origin = {made.id: _origin(made.sources, below) for made in step.makes}
        state = _State(origin={**below.origin, **origin})
        if step.keys is not None:
            state.keys.add(frozenset(step.keys))
        return state

    def _tell_measure(self, step: Step, measure: Measure, below: _State) -> None:
        by = below.multiplied[min(measure.sources)] if measure.sources else below.repeated
        assert by is not None
        told = {"node": step.name, "check": "double counting", "column": measure.column, "expression": measure.sql}
        found = self._counted(measure, below)
        if found is None:
            detail = f"rows may have been multiplied by {by.name}"
            self.undecided.append({**told, "multipliedBy": by.name, "detail": detail})
        elif found.rows == found.distinct:
            self.validations.append({**told, "holds": True, "by": "rows"})
        else:
            detail = f"{found.distinct:,} rows were added up as {found.rows:,}, multiplied by {by.name}"
            wrong = {"holds": False, "by": "rows", "multipliedBy": by.name, "detail": detail}
            self.validations.append({**told, **wrong, "keys": found.sample()})

    def _tell_mixed(self, step: Step, at_risk: Sequence[Measure], plain: Sequence[Measure], below: _State) -> None:
        told = {
            "node": step.name,
            "check": "mixed grain",
            "column": ", ".join(sorted({measure.column for measure in (*at_risk, *plain)})),
        }
        counted = [self._counted(measure, below) for measure in at_risk]
        if any(found is not None and found.rows != found.distinct for found in counted):
            detail = "rows of different grain are added up beside each other"
            self.validations.append({**told, "holds": False, "by": "rows", "detail": detail})
        elif any(found is None for found in counted):
            self.undecided.append({**told, "detail": "rows of different grain may be added up beside each other"})

    def _counted(self, measure: Measure, below: _State) -> Repeats | None:
        """What was counted of the sources of a measure; of several the one that was repeated most. To count rows is
        right if it counts those of one source once each."""
        if not measure.sources:
            return least_repeated(self._fan_out.of_leaf, below.always)
        columns = _origin(tuple(measure.sources), below)
        if not columns or not columns <= self._measured.keys():
            return None
        return max((self._measured[id] for id in columns), key=lambda each: each.rows - each.distinct)


def _adds_up(measure: Measure) -> bool:
    return not measure.distinct and measure.function not in _TELLS_ONCE


def _may_repeat(measure: Measure, below: _State) -> bool:
    """A product of both sides of a join is of the grain of the join: only what comes from one side alone is at risk.
    `count(*)` is, where rows of both sides may be there more than once."""
    if not measure.sources:
        return measure.function == "count" and not measure.distinct and below.repeated is not None
    return _adds_up(measure) and measure.sources <= below.multiplied.keys()


def _repeated(step: Step, left: _State, right: _State, one_left: bool, one_right: bool) -> Step | None:
    """Where one side is unique, a row stands for one of the other side, and is there as often as that."""
    if one_right and one_left:
        return left.repeated or right.repeated
    if one_right:
        return left.repeated
    return right.repeated if one_left else step


def _origin(ids: Sequence[int], state: _State) -> frozenset[int]:
    return frozenset[int]().union(*(state.origin.get(id, frozenset()) for id in ids))


def _together(states: Sequence[_State]) -> _State:
    if len(states) == 1:
        (only,) = states
        return _State(set(only.keys), dict(only.multiplied), dict(only.origin), only.repeated, only.near, only.always)
    joined = _State()
    for state in states:
        joined.multiplied |= state.multiplied
        joined.origin |= state.origin
        joined.repeated = joined.repeated or state.repeated
        joined.near |= state.near
        joined.always |= state.always
    return joined


def _stood_for(step: Step, state: _State) -> _State:
    """A frame that was run before and is read again. Its rows are counted as they are read: how often those behind it
    were there cannot be told by that, where they may have been repeated before."""
    _made(step, state)
    origin = {id: state.origin.get(id, frozenset()) if id in state.multiplied else {id} for id in step.stands_for}
    state.origin |= {id: frozenset(of) for id, of in origin.items()}
    state.near = state.always = frozenset([step.number])
    return state


def _made(step: Step, state: _State) -> None:
    """Columns that are new, or have another name."""
    renamed: dict[int, int] = {}
    for made in step.makes:
        if made.sources and all(id in state.multiplied for id in made.sources):
            state.multiplied[made.id] = state.multiplied[made.sources[0]]
        state.origin[made.id] = _origin(made.sources, state)
        if len(made.sources) == 1 and "(" not in made.sql and " " not in made.sql:
            renamed.setdefault(made.sources[0], made.id)
    for key in list(state.keys):
        if key & renamed.keys():
            state.keys.add(frozenset(renamed.get(id, id) for id in key))
