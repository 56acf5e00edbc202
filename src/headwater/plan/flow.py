"""How a value is derived: a graph that operators and expressions build and that is walked once, at the end.

A value is shared by everything that uses it, so the cost of a plan does not grow with its depth, and derivations never
multiply on the way. A walk carries a path: taking field ``b`` out of ``struct(x AS a, y AS b)`` reaches ``y`` alone,
and taking ``city`` out of a source's column ``address`` reaches ``address.city``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import IntEnum
from typing import NamedTuple, Protocol

from headwater.plan.types import field_names, find_field

FieldPath = tuple[str, ...]


class DependencyKind(IntEnum):
    """How a value depends on another. Along a path, the greater of two direct kinds holds, and the first indirect
    one."""

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
        return self <= DependencyKind.AGGREGATION

    def then(self, inner: DependencyKind) -> DependencyKind:
        """The dependency along a path that starts with this one."""
        if self > DependencyKind.AGGREGATION:
            return self
        return inner if inner > self else self


class ValueStep(NamedTuple):
    """One step on the path from an output to its sources."""

    value: Value
    path: FieldPath
    kind: DependencyKind = DependencyKind.IDENTITY
    masking: bool = False
    text: str | None = None


class Value(Protocol):
    def steps(self, path: FieldPath) -> Iterable[ValueStep]:
        """Where the field at ``path`` of this value comes from; an empty path is the whole value."""
        ...

    def names(self) -> list[str] | None:
        """The fields of this value, if it is known to be a struct or an array of structs."""
        ...


class SourceColumn:
    """A column of a source."""

    __slots__ = ("name", "source", "type")

    def __init__(self, source: int, name: str, type: object) -> None:
        self.source = source
        self.name = name
        self.type = type

    def steps(self, path: FieldPath) -> Iterable[ValueStep]:
        return ()

    def names(self) -> list[str] | None:
        return field_names(self.type)

    def field(self, path: FieldPath) -> str:
        """Dotted, in the spelling of the schema."""
        steps, inner = [self.name], self.type
        for step in path:
            name, inner = find_field(inner, step)
            steps.append(name)
        return ".".join(steps)


class UnknownValue:
    """A value of unknown origin; the gap states why."""

    __slots__ = ("gap",)

    def __init__(self, gap: int) -> None:
        self.gap = gap

    def steps(self, path: FieldPath) -> Iterable[ValueStep]:
        return ()

    def names(self) -> list[str] | None:
        return None


class ValuePart(NamedTuple):
    """One of the values that a value is computed from."""

    value: Value
    kind: DependencyKind = DependencyKind.TRANSFORMATION
    masking: bool = False
    through: bool = False
    """Its fields are the fields of the result, as with the branches of an IF."""


class CombinedValue:
    """A value computed from others. ``parts`` may grow later: that is how a recursive query refers to itself."""

    __slots__ = ("parts",)

    def __init__(self, parts: Iterable[ValuePart] = ()) -> None:
        self.parts = list(parts)

    def steps(self, path: FieldPath) -> Iterable[ValueStep]:
        for part in self.parts:
            yield ValueStep(part.value, path if part.through else (), part.kind, part.masking)

    def names(self) -> list[str] | None:
        for part in self.parts:
            if part.through and part.kind.direct:
                return part.value.names()
        return None


class StructValue:
    """A struct whose fields are known."""

    __slots__ = ("fields",)

    def __init__(self, fields: dict[str, Value]) -> None:
        self.fields = fields

    def steps(self, path: FieldPath) -> Iterable[ValueStep]:
        if path:
            name = _matching_name(path[0], self.fields)
            return (ValueStep(self.fields[name], path[1:]),) if name is not None else ()
        return [ValueStep(value, (), DependencyKind.TRANSFORMATION) for value in self.fields.values()]

    def names(self) -> list[str] | None:
        return list(self.fields)


class UpdatedStruct:
    """A struct with fields added, replaced or (None) dropped."""

    __slots__ = ("base", "changes")

    def __init__(self, base: Value, changes: dict[str, Value | None]) -> None:
        self.base = base
        self.changes = changes

    def steps(self, path: FieldPath) -> Iterator[ValueStep]:
        if path:
            name = _matching_name(path[0], self.changes)
            change = self.changes[name] if name is not None else None
            if change is not None:
                yield ValueStep(change, path[1:])
            elif name is None:
                yield ValueStep(self.base, path)
            return
        for change in self.changes.values():
            if change is not None:
                yield ValueStep(change, (), DependencyKind.TRANSFORMATION)
        base_names = self.base.names()
        if base_names is None:
            yield ValueStep(self.base, (), DependencyKind.TRANSFORMATION)
        for name in base_names or ():
            if _matching_name(name, self.changes) is None:
                yield ValueStep(self.base, (name,), DependencyKind.TRANSFORMATION)

    def names(self) -> list[str] | None:
        base_names = self.base.names()
        if base_names is None:
            return None
        names = [name for name in base_names if _matching_name(name, self.changes) is None]
        return names + [name for name, change in self.changes.items() if change is not None]


class FieldAccess:
    """One field of a value."""

    __slots__ = ("base", "name")

    def __init__(self, base: Value, name: str) -> None:
        self.base = base
        self.name = name

    def steps(self, path: FieldPath) -> Iterable[ValueStep]:
        return (ValueStep(self.base, (self.name, *path)),)

    def names(self) -> list[str] | None:
        if isinstance(self.base, SourceColumn):
            return field_names(find_field(self.base.type, self.name)[1])
        if isinstance(self.base, StructValue):
            name = _matching_name(self.name, self.base.fields)
            return self.base.fields[name].names() if name is not None else None
        return None


class ValueWithSql:
    """A value with its SQL text: a branch of a UNION, a condition."""

    __slots__ = ("text", "value")

    def __init__(self, text: str | None, value: Value) -> None:
        self.text = text
        self.value = value

    def steps(self, path: FieldPath) -> Iterable[ValueStep]:
        return (ValueStep(self.value, path, text=self.text),)

    def names(self) -> list[str] | None:
        return self.value.names()


NO_SOURCE: Value = CombinedValue()
"""A literal: it comes from no source."""


class ReachedField(NamedTuple):
    """A field of a source at the end of a path."""

    source: int
    field: str
    kind: DependencyKind
    masking: bool


def follow(value: Value, text: str | None, lost: set[int]) -> dict[ReachedField, str | None]:
    """All source fields that a value reaches, each with the outermost SQL on the path. Gaps on the way are added to
    ``lost``."""
    fields: dict[ReachedField, str | None] = {}
    pending = [ValueStep(value, (), text=text)]
    seen = set()
    while pending:
        current, path, kind, masking, sql = pending.pop()
        key = (id(current), path, kind, masking, sql)
        if key in seen:
            continue
        seen.add(key)
        if isinstance(current, SourceColumn):
            reached = ReachedField(current.source, current.field(path), kind, masking)
            if reached not in fields or (sql or "") < (fields[reached] or ""):
                fields[reached] = sql
        elif isinstance(current, UnknownValue):
            lost.add(current.gap)
        else:
            pending.extend(
                ValueStep(step.value, step.path, kind.then(step.kind), masking or step.masking, sql or step.text)
                for step in current.steps(path)
            )
    return fields


def _matching_name(name: str, among: Iterable[str]) -> str | None:
    """The name as it is spelled in ``among``: an exact match, or else one without regard to case, as Spark resolves
    it."""
    names = list(among)
    if name in names:
        return name
    folded = name.casefold()
    return next((other for other in names if other.casefold() == folded), None)
