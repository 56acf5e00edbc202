"""What becomes of every item of a pipeline, computed the long way: plain lists of rows, each with its items.

A pipeline is a list of steps. `walk` computes the rows of each node; `account` says for every item which nodes did
what with it, and where it ended. It shares no code with the implementation that it checks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Item = tuple[str, int]
"""The source, and the id of the row there."""
Values = dict[str, Any]

EMITTED, FILTERED_OUT, JOINED, AGGREGATED, RETRIED, ERROR, DEAD_LETTERED = 1, 2, 4, 8, 16, 32, 64


@dataclass(frozen=True)
class ModelRow:
    """A row, and its items."""

    values: Values
    items: frozenset[Item]


@dataclass(frozen=True)
class Step:
    """``kind``: source, filter, project, union, distinct, group, map, flat_map, join, aggregate, passage or sink."""

    name: str
    kind: str
    inputs: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    """Of what it gives."""
    data: tuple[tuple[Any, ...], ...] = ()
    how: str = ""
    """Of a join its kind; of a source how it is read; of a filter which one; of a map what becomes of failures."""
    retries: int = 0


@dataclass(frozen=True)
class FunctionResult:
    """What a row function did with one row."""

    row: ModelRow
    flags: int
    retries: int
    given: list[ModelRow]


@dataclass
class NodeOutputs:
    """The outputs of all nodes."""

    rows: dict[str, list[ModelRow]] = field(default_factory=dict)
    calls: dict[str, list[FunctionResult]] = field(default_factory=dict)


@dataclass(frozen=True)
class ModelHop:
    node: str
    flags: int
    emissions: int
    contributors: int | None
    retries: int
    ports: tuple[int, ...]


@dataclass(frozen=True)
class ModelRecord:
    hops: tuple[ModelHop, ...]
    node: str
    flags: int
    others: frozenset[Item]


def kept_by(how: str, row: Mapping[str, Any]) -> bool:
    """The available filters."""
    if how == "even":
        return row["v"] is not None and row["v"] % 2 == 0
    if how == "k":
        return row["k"] is not None
    return how == "all"


class Behaviour:
    """What a map does with a row, determined only by the row's v."""

    def __init__(self, many: bool, retries: int) -> None:
        self.many = many
        self.retries = retries
        self.begun: set[Any] = set()

    def __call__(self, row: Any) -> Any:
        """As a function that runs on Spark's workers. It remembers that it has failed once."""
        given, failures = self.of(row["k"], row["v"])
        if failures > self.retries:
            raise ValueError(f"never {row['v']}")
        if failures and row["v"] not in self.begun:
            self.begun.add(row["v"])
            raise ValueError(f"not yet {row['v']}")
        self.begun.discard(row["v"])
        return given

    def of(self, k: int | None, v: int | None) -> tuple[Any, int]:
        """What it returns, and after how many failures."""
        if v is None:
            return ([] if self.many else None), 0
        one = {"k": k, "v": v + 1}
        failures = {3: 1_000, 4: 1}.get(v % 6, 0)
        if self.many:
            return [[], [one], [one, {"k": k, "v": v}], [one, one]][v % 4], failures
        return (None if v % 6 == 5 else one), failures


def node_outputs(steps: Sequence[Step]) -> NodeOutputs:
    walked = NodeOutputs()
    for step in steps:
        inputs = [walked.rows[name] for name in step.inputs]
        if step.kind in ("map", "flat_map"):
            walked.calls[step.name] = list(_called(step, inputs[0]))
            walked.rows[step.name] = [row for call in walked.calls[step.name] for row in call.given]
        else:
            walked.rows[step.name] = list(_MAKING[step.kind](step, *inputs))
    return walked


def _source(step: Step) -> Iterator[ModelRow]:
    for values in step.data:
        row = dict(zip(step.columns, values, strict=True))
        yield ModelRow(row, frozenset([(step.name, row["id"])]))


def _filter(step: Step, rows: list[ModelRow]) -> Iterable[ModelRow]:
    return (row for row in rows if kept_by(step.how, row.values))


def _project(step: Step, rows: list[ModelRow]) -> Iterable[ModelRow]:
    """Its columns are k and v, or k and v under the name of w."""
    for row in rows:
        yield ModelRow({name: row.values["v" if name == "w" else name] for name in step.columns}, row.items)


def _union(step: Step, *inputs: list[ModelRow]) -> Iterable[ModelRow]:
    return (ModelRow({name: row.values[name] for name in step.columns}, row.items) for rows in inputs for row in rows)


def _passed(step: Step, rows: list[ModelRow]) -> Iterable[ModelRow]:
    return rows


def _grouped(rows: Iterable[ModelRow], key: Callable[[Values], Any]) -> dict[Any, list[ModelRow]]:
    groups: dict[Any, list[ModelRow]] = {}
    for row in rows:
        groups.setdefault(key(row.values), []).append(row)
    return groups


def _together(rows: Iterable[ModelRow]) -> frozenset[Item]:
    return frozenset().union(*(row.items for row in rows))


def _distinct(step: Step, rows: list[ModelRow]) -> Iterable[ModelRow]:
    for group in _grouped(rows, lambda values: tuple(values.items())).values():
        yield ModelRow(group[0].values, _together(group))


def _aggregate(step: Step, rows: list[ModelRow]) -> Iterable[ModelRow]:
    for k, group in _grouped(rows, lambda values: values["k"]).items():
        known = [row.values["v"] for row in group if row.values["v"] is not None]
        yield ModelRow({"k": k, "v": sum(known) if known else None}, _together(group))


def _joined(step: Step, left: list[ModelRow], right: list[ModelRow]) -> Iterable[ModelRow]:
    how = step.how
    matched: set[int] = set()
    for one in left:
        partners = [
            place
            for place, other in enumerate(right)
            if one.values["k"] is not None and one.values["k"] == other.values["k"]
        ]
        matched.update(partners)
        if how == "semi" and partners:
            yield ModelRow(one.values, one.items | _together(right[place] for place in partners))
        elif how == "anti" and not partners:
            yield one
        elif how not in ("semi", "anti"):
            for place in partners:
                other = right[place]
                yield ModelRow({**one.values, "w": other.values["w"]}, one.items | other.items)
            if not partners and how in ("left", "full"):
                yield ModelRow({**one.values, "w": None}, one.items)
    if how in ("right", "full"):
        for place, other in enumerate(right):
            if place not in matched:
                nothing = dict.fromkeys(step.columns)
                yield ModelRow({**nothing, "k": other.values["k"], "w": other.values["w"]}, other.items)


def _called(step: Step, rows: list[ModelRow]) -> Iterator[FunctionResult]:
    fate = Behaviour(step.kind == "flat_map", step.retries)
    for row in rows:
        given, failures = fate.of(row.values["k"], row.values["v"])
        if failures > step.retries:
            flags = {"skip": FILTERED_OUT, "dead_letter": DEAD_LETTERED | ERROR}[step.how]
            yield FunctionResult(row, flags, step.retries, [])
            continue
        several = given if step.kind == "flat_map" else [] if given is None else [given]
        flags = (EMITTED if several else FILTERED_OUT) | (RETRIED if failures else 0)
        yield FunctionResult(row, flags, failures, [ModelRow(values, row.items) for values in several])


_MAKING: dict[str, Callable[..., Iterable[ModelRow]]] = {
    "source": _source,
    "filter": _filter,
    "project": _project,
    "union": _union,
    "distinct": _distinct,
    "aggregate": _aggregate,
    "join": _joined,
    "sink": _passed,
    "passage": _passed,
}


def item_records(steps: Sequence[Step]) -> dict[Item, ModelRecord]:
    walked = node_outputs(steps)
    items = [item for step in steps if step.kind == "source" for row in walked.rows[step.name] for item in row.items]
    return {item: _ended(item, steps, walked) for item in items}


def _ended(item: Item, steps: Sequence[Step], walked: NodeOutputs) -> ModelRecord:
    counts = {step.name: sum(item in row.items for row in walked.rows[step.name]) for step in steps}
    hops = [
        hop
        for step in steps
        if step.name == item[0] or any(counts[name] for name in step.inputs)
        for hop in [_hop(item, step, walked, counts)]
    ]
    kinds = {step.name: step.kind for step in steps}

    def last(meets: Callable[[ModelHop], bool]) -> list[ModelHop]:
        return [hop for hop in hops if meets(hop)][-1:]

    (end,) = (
        last(lambda hop: bool(hop.flags & DEAD_LETTERED))
        or last(lambda hop: bool(hop.flags & ERROR))
        or last(lambda hop: kinds[hop.node] == "sink")
        or last(lambda hop: bool(hop.flags & FILTERED_OUT))
        or hops[-1:]
    )
    beside = [row.items for rows in walked.rows.values() for row in rows if item in row.items]
    return ModelRecord(tuple(hops), end.node, end.flags, frozenset().union(*beside) - {item})


def _hop(item: Item, step: Step, walked: NodeOutputs, counts: Mapping[str, int]) -> ModelHop:
    count = counts[step.name]
    made = [row for row in walked.rows[step.name] if item in row.items]
    contributors = len(made[0].items) if count == 1 else None
    ports = tuple(place for place, name in enumerate(step.inputs) if counts[name])
    if step.name in walked.calls:
        calls = [call for call in walked.calls[step.name] if item in call.row.items]
        flags = 0
        for call in calls:
            flags |= call.flags
        return ModelHop(step.name, flags, count, contributors, max(call.retries for call in calls), ports)
    how = {"join": JOINED, "aggregate": AGGREGATED, "distinct": AGGREGATED}.get(step.kind, 0)
    return ModelHop(step.name, EMITTED | how if count else FILTERED_OUT, count, contributors, 0, ports)
