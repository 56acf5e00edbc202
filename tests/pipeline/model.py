"""What becomes of every item of a pipeline, found the long way: plain lists of rows, each with the items it is made of.

A pipeline is a list of steps. `walk` says what each node gives; `account` says of every item which nodes did what with
it, and where it ended. Nothing here is shared with what it judges.
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
class Made:
    """A row, and the items that it is made of."""

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
class Called:
    """What a row function did with one row."""

    row: Made
    flags: int
    retries: int
    given: list[Made]


@dataclass
class Walked:
    """What the nodes gave."""

    rows: dict[str, list[Made]] = field(default_factory=dict)
    calls: dict[str, list[Called]] = field(default_factory=dict)


@dataclass(frozen=True)
class Hopped:
    node: str
    flags: int
    emissions: int
    contributors: int | None
    retries: int
    ports: tuple[int, ...]


@dataclass(frozen=True)
class Ended:
    hops: tuple[Hopped, ...]
    node: str
    flags: int
    others: frozenset[Item]


def kept_by(how: str, row: Mapping[str, Any]) -> bool:
    """The filters that there are."""
    if how == "even":
        return row["v"] is not None and row["v"] % 2 == 0
    if how == "k":
        return row["k"] is not None
    return how == "all"


class Fate:
    """What a map does with a row: it goes by the row's v alone."""

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
        """What it gives, after how many failures."""
        if v is None:
            return ([] if self.many else None), 0
        one = {"k": k, "v": v + 1}
        failures = {3: 1_000, 4: 1}.get(v % 6, 0)
        if self.many:
            return [[], [one], [one, {"k": k, "v": v}], [one, one]][v % 4], failures
        return (None if v % 6 == 5 else one), failures


def walk(steps: Sequence[Step]) -> Walked:
    walked = Walked()
    for step in steps:
        inputs = [walked.rows[name] for name in step.inputs]
        if step.kind in ("map", "flat_map"):
            walked.calls[step.name] = list(_called(step, inputs[0]))
            walked.rows[step.name] = [row for call in walked.calls[step.name] for row in call.given]
        else:
            walked.rows[step.name] = list(_MAKING[step.kind](step, *inputs))
    return walked


def _source(step: Step) -> Iterator[Made]:
    for values in step.data:
        row = dict(zip(step.columns, values, strict=True))
        yield Made(row, frozenset([(step.name, row["id"])]))


def _filter(step: Step, rows: list[Made]) -> Iterable[Made]:
    return (row for row in rows if kept_by(step.how, row.values))


def _project(step: Step, rows: list[Made]) -> Iterable[Made]:
    """Its columns are k and v, or k and v under the name of w."""
    for row in rows:
        yield Made({name: row.values["v" if name == "w" else name] for name in step.columns}, row.items)


def _union(step: Step, *inputs: list[Made]) -> Iterable[Made]:
    return (Made({name: row.values[name] for name in step.columns}, row.items) for rows in inputs for row in rows)


def _passed(step: Step, rows: list[Made]) -> Iterable[Made]:
    return rows


def _grouped(rows: Iterable[Made], key: Callable[[Values], Any]) -> dict[Any, list[Made]]:
    groups: dict[Any, list[Made]] = {}
    for row in rows:
        groups.setdefault(key(row.values), []).append(row)
    return groups


def _together(rows: Iterable[Made]) -> frozenset[Item]:
    return frozenset().union(*(row.items for row in rows))


def _distinct(step: Step, rows: list[Made]) -> Iterable[Made]:
    for group in _grouped(rows, lambda values: tuple(values.items())).values():
        yield Made(group[0].values, _together(group))


def _aggregate(step: Step, rows: list[Made]) -> Iterable[Made]:
    for k, group in _grouped(rows, lambda values: values["k"]).items():
        known = [row.values["v"] for row in group if row.values["v"] is not None]
        yield Made({"k": k, "v": sum(known) if known else None}, _together(group))


def _joined(step: Step, left: list[Made], right: list[Made]) -> Iterable[Made]:
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
            yield Made(one.values, one.items | _together(right[place] for place in partners))
        elif how == "anti" and not partners:
            yield one
        elif how not in ("semi", "anti"):
            for place in partners:
                other = right[place]
                yield Made({**one.values, "w": other.values["w"]}, one.items | other.items)
            if not partners and how in ("left", "full"):
                yield Made({**one.values, "w": None}, one.items)
    if how in ("right", "full"):
        for place, other in enumerate(right):
            if place not in matched:
                nothing = dict.fromkeys(step.columns)
                yield Made({**nothing, "k": other.values["k"], "w": other.values["w"]}, other.items)


def _called(step: Step, rows: list[Made]) -> Iterator[Called]:
    fate = Fate(step.kind == "flat_map", step.retries)
    for row in rows:
        given, failures = fate.of(row.values["k"], row.values["v"])
        if failures > step.retries:
            flags = {"skip": FILTERED_OUT, "dead_letter": DEAD_LETTERED | ERROR}[step.how]
            yield Called(row, flags, step.retries, [])
            continue
        several = given if step.kind == "flat_map" else [] if given is None else [given]
        flags = (EMITTED if several else FILTERED_OUT) | (RETRIED if failures else 0)
        yield Called(row, flags, failures, [Made(values, row.items) for values in several])


_MAKING: dict[str, Callable[..., Iterable[Made]]] = {
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


def account(steps: Sequence[Step]) -> dict[Item, Ended]:
    walked = walk(steps)
    items = [item for step in steps if step.kind == "source" for row in walked.rows[step.name] for item in row.items]
    return {item: _ended(item, steps, walked) for item in items}


def _ended(item: Item, steps: Sequence[Step], walked: Walked) -> Ended:
    counts = {step.name: sum(item in row.items for row in walked.rows[step.name]) for step in steps}
    hops = [
        hop
        for step in steps
        if step.name == item[0] or any(counts[name] for name in step.inputs)
        for hop in [_hop(item, step, walked, counts)]
    ]
    kinds = {step.name: step.kind for step in steps}

    def last(meets: Callable[[Hopped], bool]) -> list[Hopped]:
        return [hop for hop in hops if meets(hop)][-1:]

    (end,) = (
        last(lambda hop: bool(hop.flags & DEAD_LETTERED))
        or last(lambda hop: bool(hop.flags & ERROR))
        or last(lambda hop: kinds[hop.node] == "sink")
        or last(lambda hop: bool(hop.flags & FILTERED_OUT))
        or hops[-1:]
    )
    beside = [row.items for rows in walked.rows.values() for row in rows if item in row.items]
    return Ended(tuple(hops), end.node, end.flags, frozenset().union(*beside) - {item})


def _hop(item: Item, step: Step, walked: Walked, counts: Mapping[str, int]) -> Hopped:
    count = counts[step.name]
    made = [row for row in walked.rows[step.name] if item in row.items]
    contributors = len(made[0].items) if count == 1 else None
    ports = tuple(place for place, name in enumerate(step.inputs) if counts[name])
    if step.name in walked.calls:
        calls = [call for call in walked.calls[step.name] if item in call.row.items]
        flags = 0
        for call in calls:
            flags |= call.flags
        return Hopped(step.name, flags, count, contributors, max(call.retries for call in calls), ports)
    how = {"join": JOINED, "aggregate": AGGREGATED, "distinct": AGGREGATED}.get(step.kind, 0)
    return Hopped(step.name, EMITTED | how if count else FILTERED_OUT, count, contributors, 0, ports)
