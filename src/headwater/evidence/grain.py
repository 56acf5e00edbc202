"""The facet `cdme.grainSafety`: what one row stands for at each operator, and where rows are counted twice.

A join multiplies the rows of a side that can match several rows of the other. Aggregating a measure of such a side
alone counts it more than once. From the plan it can be proven that a side is unique (it was grouped or made distinct by
the join keys, or these were declared as its key); that it is not, only the rows can show. So the plan's verdicts are
"holds" and "undecided", and the verdicts from counted rows (ledger.py) are "holds" and "does not hold", with sample
rows. Joins are judged in fan_out.py.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from headwater.evidence.documents import GrainFacet, GrainNode, GrainReport
from headwater.evidence.fan_out import FanOutCheck, JoinMatch
from headwater.evidence.repeats import Repeats, least_repeated
from headwater.evidence.steps import Measure, MeasuredOperator, PlanSteps
from headwater.plan.operator_traits import operators_with

_LEFT_ONLY_JOINS = ("LeftSemi", "LeftAnti")
_IGNORES_REPEATS = frozenset(
    {"max", "min", "first", "last", "any_value", "bool_and", "bool_or", "some", "every", "mode"}
)
"""Functions with the same result however often a row is repeated."""
_ONE_BY_ONE = operators_with(lambda traits: traits.traced_as_one_row and not traits.order_matters)
"""Operators whose output rows are each one input row."""
_KEEPS = operators_with(lambda traits: traits.repeats_no_row)
"""Operators that do not repeat rows. A sample may repeat them, with replacement."""
_MAX_KEYS = 8

Key = frozenset[int]


@dataclass
class _GrainState:
    """``keys``: columns that are unique. ``multiplied``: by column, the operator that may repeat its values."""

    keys: set[Key] = field(default_factory=set)
    multiplied: dict[int, MeasuredOperator] = field(default_factory=dict)
    origin: dict[int, frozenset[int]] = field(default_factory=dict)
    """By column, the columns of sources that it is computed from."""
    repeated: MeasuredOperator | None = None
    """The operator that may repeat whole rows."""
    near: frozenset[int] = frozenset()
    """Leaves, by number, whose rows are part of the rows here: there are only joins in between."""
    always: frozenset[int] = frozenset()
    """Those of them that every row here contains a row of."""


def grain_safety(
    steps: PlanSteps, measured: Mapping[int, Repeats] | None = None, declared: Collection[Key] = ()
) -> GrainFacet:
    """``measured``: by the id of a source's column, the repeats counted of its source. ``declared``: declared keys, as
    column ids."""
    analysis = _GrainAnalysis(steps, measured or {}, declared)
    analysis.walk()
    return {
        "nodes": analysis.nodes,
        "validations": analysis.validations,
        "undecided": analysis.undecided,
        **steps.coverage(),
    }


class _GrainAnalysis:
    def __init__(self, steps: PlanSteps, measured: Mapping[int, Repeats], declared: Collection[Key]) -> None:
        self._steps = steps
        self._measured = measured
        self._declared = declared
        self._states: dict[int, _GrainState] = {}
        self._defined = {step.defines: step for step in steps.all if step.defines is not None}
        self._fan_out = FanOutCheck(steps, self._of_leaf(), has_declared=bool(declared))
        self.nodes: list[GrainNode] = []
        self.validations: list[GrainReport] = []
        self.undecided: list[GrainReport] = []

    def _of_leaf(self) -> dict[int, Repeats]:
        repeats = {}
        for step in self._steps.all:
            counts = [self._measured[id] for id in step.leaf or step.stands_for if id in self._measured]
            if counts:
                repeats[step.number] = counts[0]
        return repeats

    def walk(self) -> None:
        """From the leaves up, and the definition of a common table expression before its references."""
        pending = [step.number for step in self._steps.all]
        while pending:
            step = self._steps.all[pending[-1]]
            missing = [number for number in self._needs(step) if number not in self._states]
            if missing and step.number not in self._states:
                pending += missing
                continue
            pending.pop()
            if step.number not in self._states:
                self._states[step.number] = self._state(step)
        self.validations += self._fan_out.validations()
        self.undecided += self._fan_out.undecided()
        for step in self._steps.all:
            if step.join is not None or step.keys is not None or step.number == 0:
                column_names = (self._steps.column_names(key) for key in self._states[step.number].keys)
                grain = min(column_names, key=lambda names: (len(names), names), default=None)
                self.nodes.append({"node": step.name} if grain is None else {"node": step.name, "grain": grain})

    def _needs(self, step: MeasuredOperator) -> list[int]:
        definition = self._defined.get(step.refers) if step.refers is not None else None
        looped = definition is None or definition.number in self._steps.above(step)
        return [*step.below, *([] if looped or definition is None else [definition.number])]

    def _state(self, step: MeasuredOperator) -> _GrainState:
        inputs = [self._states[number] for number in step.below if number in self._states]
        if step.refers is not None:
            return self._referred(step)
        if step.leaf is not None:
            leaf = frozenset([step.number])
            keys = {key for key in self._declared if key <= step.leaf.keys()}
            return _GrainState(keys, origin={id: frozenset([id]) for id in step.leaf}, near=leaf, always=leaf)
        if step.join is not None and len(inputs) == 2:
            return self._joined(step, *inputs)
        if step.measures or step.operator == "Aggregate":
            return self._aggregated(step, inputs[0])
        state = _merged_state(inputs)
        if step.stands_for:
            return _state_of_cut(step, state)
        if step.operator not in _KEEPS:
            state.keys = set()
        if step.operator not in _ONE_BY_ONE:
            state.near = state.always = frozenset()
        if step.operator == "Generate":
            state.multiplied |= dict.fromkeys(state.origin, step)
        _add_made_columns(step, state)
        made_ids = {column.id for column in step.makes}
        state.keys |= {key for key in self._declared if key & made_ids and key <= state.origin.keys()}
        if step.keys is not None:
            state.keys.add(frozenset(step.keys))
        return state

    def _referred(self, step: MeasuredOperator) -> _GrainState:
        definition = None if step.refers is None else self._defined.get(step.refers)
        state = self._states.get(definition.number) if definition is not None else None
        if definition is None or state is None:
            return _GrainState(origin={id: frozenset() for id in step.columns})
        names = dict(zip(definition.columns, step.columns, strict=False))
        return _GrainState(
            {frozenset(names[id] for id in key) for key in state.keys if key <= names.keys()},
            {names[id]: by for id, by in state.multiplied.items() if id in names},
            {names[id]: of for id, of in state.origin.items() if id in names},
            state.repeated,
        )

    def _joined(self, step: MeasuredOperator, left: _GrainState, right: _GrainState) -> _GrainState:
        join = step.join
        assert join is not None
        if join.kind in _LEFT_ONLY_JOINS or join.kind.startswith("ExistenceJoin"):
            return left
        one_right = any(key <= set(join.right) for key in right.keys)
        one_left = any(key <= set(join.left) for key in left.keys)
        state = _merged_state([left, right])
        state.keys = {a | b for a in left.keys for b in right.keys}
        if one_right:
            state.keys |= left.keys if join.kind not in ("RightOuter", "FullOuter") else set()
        else:
            state.multiplied |= dict.fromkeys(join.left_columns, step)
        if one_left:
            state.keys |= right.keys if join.kind not in ("LeftOuter", "FullOuter") else set()
        else:
            state.multiplied |= dict.fromkeys(join.right_columns, step)
        state.keys = set(sorted(state.keys, key=lambda key: (len(key), sorted(key)))[:_MAX_KEYS])
        state.repeated = _repeating_step(step, left, right, one_left, one_right)
        if join.kind in ("RightOuter", "FullOuter"):
            state.always -= left.always
        if join.kind in ("LeftOuter", "FullOuter"):
            state.always -= right.always
        met = JoinMatch(
            step=step,
            left=left.near,
            always_left=left.always,
            right=right.near,
            always_right=right.always,
            left_is_unique=one_left,
            right_is_unique=one_right,
        )
        self._fan_out.add(met)
        return state

    def _aggregated(self, step: MeasuredOperator, input_state: _GrainState) -> _GrainState:
        at_risk = [measure for measure in step.measures if _may_repeat(measure, input_state)]
        for measure in at_risk:
            self._judge_measure(step, measure, input_state)
        added = [measure for measure in step.measures if _adds_up(measure) and measure.sources]
        plain = [measure for measure in added if measure not in at_risk]
        of_columns = [measure for measure in at_risk if measure.sources]
        if of_columns and plain:
            self._judge_mixed_grain(step, of_columns, plain, input_state)
        origin = {column.id: _origin(column.sources, input_state) for column in step.makes}
        state = _GrainState(origin={**input_state.origin, **origin})
        if step.keys is not None:
            state.keys.add(frozenset(step.keys))
        return state

    def _judge_measure(self, step: MeasuredOperator, measure: Measure, input_state: _GrainState) -> None:
        multiplier = input_state.multiplied[min(measure.sources)] if measure.sources else input_state.repeated
        assert multiplier is not None
        report: GrainReport = {
            "node": step.name,
            "check": "double counting",
            "column": measure.column,
            "expression": measure.sql,
        }
        repeats = self._counted(measure, input_state)
        if repeats is None:
            detail = f"rows may have been multiplied by {multiplier.name}"
            self.undecided.append({**report, "multipliedBy": multiplier.name, "detail": detail})
        elif repeats.rows == repeats.distinct:
            self.validations.append({**report, "holds": True, "by": "rows"})
        else:
            detail = f"{repeats.distinct:,} rows were added up as {repeats.rows:,}, multiplied by {multiplier.name}"
            report |= {"holds": False, "by": "rows", "multipliedBy": multiplier.name, "detail": detail}
            self.validations.append({**report, "keys": repeats.sample()})

    def _judge_mixed_grain(
        self, step: MeasuredOperator, at_risk: Sequence[Measure], plain: Sequence[Measure], input_state: _GrainState
    ) -> None:
        report: GrainReport = {
            "node": step.name,
            "check": "mixed grain",
            "column": ", ".join(sorted({measure.column for measure in (*at_risk, *plain)})),
        }
        counted = [self._counted(measure, input_state) for measure in at_risk]
        if any(repeats is not None and repeats.rows != repeats.distinct for repeats in counted):
            detail = "rows of different grain are added up beside each other"
            self.validations.append({**report, "holds": False, "by": "rows", "detail": detail})
        elif any(repeats is None for repeats in counted):
            self.undecided.append({**report, "detail": "rows of different grain may be added up beside each other"})

    def _counted(self, measure: Measure, input_state: _GrainState) -> Repeats | None:
        """The repeats counted of the sources of a measure; of several the largest. A count of rows is right if it
        counts the rows of one source once each."""
        if not measure.sources:
            return least_repeated(self._fan_out.of_leaf, input_state.always)
        columns = _origin(tuple(measure.sources), input_state)
        if not columns or not columns <= self._measured.keys():
            return None
        return max((self._measured[id] for id in columns), key=lambda repeats: repeats.rows - repeats.distinct)


def _adds_up(measure: Measure) -> bool:
    return not measure.distinct and measure.function not in _IGNORES_REPEATS


def _may_repeat(measure: Measure, input_state: _GrainState) -> bool:
    """A product of both sides of a join has the grain of the join: only a measure of one side alone is at risk.
    `count(*)` is at risk if rows of both sides may be repeated."""
    if not measure.sources:
        return measure.function == "count" and not measure.distinct and input_state.repeated is not None
    return _adds_up(measure) and measure.sources <= input_state.multiplied.keys()


def _repeating_step(
    step: MeasuredOperator, left: _GrainState, right: _GrainState, one_left: bool, one_right: bool
) -> MeasuredOperator | None:
    """If one side is unique, an output row stands for one row of the other side, and is repeated as often as that."""
    if one_right and one_left:
        return left.repeated or right.repeated
    if one_right:
        return left.repeated
    return right.repeated if one_left else step


def _origin(ids: Sequence[int], state: _GrainState) -> frozenset[int]:
    return frozenset[int]().union(*(state.origin.get(id, frozenset()) for id in ids))


def _merged_state(states: Sequence[_GrainState]) -> _GrainState:
    if len(states) == 1:
        (only,) = states
        return _GrainState(
            set(only.keys), dict(only.multiplied), dict(only.origin), only.repeated, only.near, only.always
        )
    joined = _GrainState()
    for state in states:
        joined.multiplied |= state.multiplied
        joined.origin |= state.origin
        joined.repeated = joined.repeated or state.repeated
        joined.near |= state.near
        joined.always |= state.always
    return joined


def _state_of_cut(step: MeasuredOperator, state: _GrainState) -> _GrainState:
    """A DataFrame that was computed before and is read again. Its rows are counted as they are read: that does not show
    how often the rows behind it were there, if they may have been repeated before."""
    _add_made_columns(step, state)
    origin = {id: state.origin.get(id, frozenset()) if id in state.multiplied else {id} for id in step.stands_for}
    state.origin |= {id: frozenset(of) for id, of in origin.items()}
    state.near = state.always = frozenset([step.number])
    return state


def _add_made_columns(step: MeasuredOperator, state: _GrainState) -> None:
    """Columns that are new, or have another name."""
    renamed: dict[int, int] = {}
    for column in step.makes:
        if column.sources and all(id in state.multiplied for id in column.sources):
            state.multiplied[column.id] = state.multiplied[column.sources[0]]
        state.origin[column.id] = _origin(column.sources, state)
        if len(column.sources) == 1 and "(" not in column.sql and " " not in column.sql:
            renamed.setdefault(column.sources[0], column.id)
    for key in list(state.keys):
        if key & renamed.keys():
            state.keys.add(frozenset(renamed.get(id, id) for id in key))
