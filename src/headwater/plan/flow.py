"""How a value comes about: a graph that operators and expressions build and that is walked once, at the end.

A value is shared by all that use it, so a plan of any depth costs what it says, and derivations never multiply on
the way. Walking carries a path: taking field ``b`` out of ``struct(x AS a, y AS b)`` reaches ``y`` alone, and taking
``city`` out of a source's column ``address`` reaches ``address.city``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import IntEnum
from typing import Any, NamedTuple, Protocol

from headwater.plan.types import field_named, field_names

Path = tuple[str, ...]


class Kind(IntEnum):
    """How a value depends on another. Along a way the greater of two direct ones holds, and the first indirect one."""

    IDENTITY = 0
    TRANSFORMATION = 1
    AGGREGATION = 2
    FILTER = 3
    JOIN = 4
    GROUP_BY = 5
    SORT = 6
    WINDOW = 7
    CONDITIONAL = 8

    @property
    def direct(self) -> bool:
        return self <= Kind.AGGREGATION

    def then(self, inner: Kind) -> Kind:
        """The dependency along a way that begins with this one."""
        if self > Kind.AGGREGATION:
            return self
        return inner if inner > self else self


class Step(NamedTuple):
    """One step on the way from an output to its sources."""

    value: Value
    path: Path
    kind: Kind = Kind.IDENTITY
    masking: bool = False
    text: str | None = None


class Value(Protocol):
    def steps(self, path: Path) -> Iterable[Step]:
        """Where the field at ``path`` of this value comes from; no path is the whole of it."""
        ...

    def names(self) -> list[str] | None:
        """The fields of this value, if it is known to be a struct or an array of them."""
        ...


class Leaf:
    """A column of a source."""

    __slots__ = ("name", "source", "type")

    def __init__(self, source: int, name: str, type: Any) -> None:
        self.source = source
        self.name = name
        self.type = type

    def steps(self, path: Path) -> Iterable[Step]:
        return ()

    def names(self) -> list[str] | None:
        return field_names(self.type)

    def field(self, path: Path) -> str:
        """Dotted, in the spelling of the schema."""
        steps, inner = [self.name], self.type
        for step in path:
            name, inner = field_named(inner, step)
            steps.append(name)
        return ".".join(steps)


class Lost:
    """Nobody knows where this came from; the gap says why."""

    __slots__ = ("gap",)

    def __init__(self, gap: int) -> None:
        self.gap = gap

    def steps(self, path: Path) -> Iterable[Step]:
        return ()

    def names(self) -> list[str] | None:
        return None


class Part(NamedTuple):
    """One of the things a value is made of."""

    value: Value
    kind: Kind = Kind.TRANSFORMATION
    masking: bool = False
    through: bool = False
    """Its fields are the fields of the result, as with the branches of an IF."""


class Mix:
    """A value made of others. ``parts`` may grow later: that is how a recursive query refers to itself."""

    __slots__ = ("parts",)

    def __init__(self, parts: Iterable[Part] = ()) -> None:
        self.parts = list(parts)

    def steps(self, path: Path) -> Iterable[Step]:
        for part in self.parts:
            yield Step(part.value, path if part.through else (), part.kind, part.masking)

    def names(self) -> list[str] | None:
        for part in self.parts:
            if part.through and part.kind.direct:
                return part.value.names()
        return None


class Struct:
    """A struct whose fields are known."""

    __slots__ = ("fields",)

    def __init__(self, fields: dict[str, Value]) -> None:
        self.fields = fields

    def steps(self, path: Path) -> Iterable[Step]:
        if path:
            name = _spelled(path[0], self.fields)
            return (Step(self.fields[name], path[1:]),) if name is not None else ()
        return [Step(value, (), Kind.TRANSFORMATION) for value in self.fields.values()]

    def names(self) -> list[str] | None:
        return list(self.fields)


class Amended:
    """A struct with fields added, replaced or (None) dropped."""

    __slots__ = ("base", "changes")

    def __init__(self, base: Value, changes: dict[str, Value | None]) -> None:
        self.base = base
        self.changes = changes

    def steps(self, path: Path) -> Iterator[Step]:
        if path:
            name = _spelled(path[0], self.changes)
            change = self.changes[name] if name is not None else None
            if change is not None:
                yield Step(change, path[1:])
            elif name is None:
                yield Step(self.base, path)
            return
        for change in self.changes.values():
            if change is not None:
                yield Step(change, (), Kind.TRANSFORMATION)
        kept = self.base.names()
        if kept is None:
            yield Step(self.base, (), Kind.TRANSFORMATION)
        for name in kept or ():
            if _spelled(name, self.changes) is None:
                yield Step(self.base, (name,), Kind.TRANSFORMATION)

    def names(self) -> list[str] | None:
        kept = self.base.names()
        if kept is None:
            return None
        names = [name for name in kept if _spelled(name, self.changes) is None]
        return names + [name for name, change in self.changes.items() if change is not None]


class Field:
    """One field of a value."""

    __slots__ = ("base", "name")

    def __init__(self, base: Value, name: str) -> None:
        self.base = base
        self.name = name

    def steps(self, path: Path) -> Iterable[Step]:
        return (Step(self.base, (self.name, *path)),)

    def names(self) -> list[str] | None:
        if isinstance(self.base, Leaf):
            return field_names(field_named(self.base.type, self.name)[1])
        if isinstance(self.base, Struct):
            name = _spelled(self.name, self.base.fields)
            return self.base.fields[name].names() if name is not None else None
        return None


class Said:
    """A value with the SQL it was written as: a branch of a UNION, a condition."""

    __slots__ = ("text", "value")

    def __init__(self, text: str | None, value: Value) -> None:
        self.text = text
        self.value = value

    def steps(self, path: Path) -> Iterable[Step]:
        return (Step(self.value, path, text=self.text),)

    def names(self) -> list[str] | None:
        return self.value.names()


NOTHING: Value = Mix()
"""A literal: it comes from no source."""


class Reached(NamedTuple):
    """A field of a source at the end of a way."""

    source: int
    field: str
    kind: Kind
    masking: bool


def follow(value: Value, text: str | None, lost: set[int]) -> dict[Reached, str | None]:
    """All that a value reaches, each with the outermost SQL on the way. Gaps met are added to ``lost``."""
    found: dict[Reached, str | None] = {}
    todo = [Step(value, (), text=text)]
    seen = set()
    while todo:
        at, path, kind, masking, said = todo.pop()
        key = (id(at), path, kind, masking, said)
        if key in seen:
            continue
        seen.add(key)
        if isinstance(at, Leaf):
            reached = Reached(at.source, at.field(path), kind, masking)
            if reached not in found or (said or "") < (found[reached] or ""):
                found[reached] = said
        elif isinstance(at, Lost):
            lost.add(at.gap)
        else:
            todo.extend(
                Step(step.value, step.path, kind.then(step.kind), masking or step.masking, said or step.text)
                for step in at.steps(path)
            )
    return found


def _spelled(name: str, among: Iterable[str]) -> str | None:
    """The name as it is written among others: as it is, or else without regard to case, as Spark finds it."""
    names = list(among)
    if name in names:
        return name
    folded = name.casefold()
    return next((other for other in names if other.casefold() == folded), None)
