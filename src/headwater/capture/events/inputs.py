"""From what a plan's leaves are to the inputs of a write: one a dataset, and its columns under their own names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from headwater.capture.naming.dataset_ref import Place
from headwater.capture.naming.plan_sources import Behind, Reading
from headwater.plan.lineage import Attribute, Derivation, Gap, Source

_DIRECT = {"IDENTITY": 0, "TRANSFORMATION": 1, "AGGREGATION": 2}
"""The stronger later; every other subtype is indirect."""


@dataclass(frozen=True, slots=True)
class InputColumn:
    place: Place
    field: str
    type: str
    subtype: str | None
    masking: bool
    logic: str | None


@dataclass(frozen=True)
class Input:
    place: Place
    columns: tuple[Attribute, ...]
    """Its columns as the plan has them."""
    ids: frozenset[int]
    """The ids of its columns in this plan: what the scans of the physical plan are recognised by."""


class Inputs:
    """The inputs of one write. ``sources`` are the plan's, ``readings`` what each of them is."""

    def __init__(self, sources: Sequence[Source], readings: Sequence[Reading], job: str) -> None:
        self._sources = sources
        self._readings = name_memory(readings, job)
        self._by_key: dict[tuple[str, str], Input] = {}
        for source, reading in zip(sources, self._readings, strict=True):
            self._add(source, reading)

    def all(self) -> tuple[Input, ...]:
        return tuple(self._by_key.values())

    def gaps(self) -> Iterator[Gap]:
        for source, reading in zip(self._sources, self._readings, strict=True):
            if reading.gap:
                yield Gap(source.kind, reading.gap, ())

    def columns(self, derivations: Iterable[Derivation]) -> tuple[InputColumn, ...]:
        """The columns of datasets that the plan's derivations lead to."""
        found: dict[InputColumn, None] = {}
        for derivation in derivations:
            for behind in _behind(self._readings[derivation.source], derivation.field):
                found[self._column(derivation, behind)] = None
        return tuple(found)

    def whole(self, derivations: Iterable[Derivation]) -> tuple[InputColumn, ...]:
        """The same for what decides over whole rows, with what the sources themselves have chosen by."""
        chosen = (behind for reading in self._readings for behind in reading.whole)
        own = (InputColumn(self._known(b.place), b.column, "INDIRECT", b.subtype, False, b.logic) for b in chosen)
        return tuple(dict.fromkeys((*self.columns(derivations), *own)))

    def _add(self, source: Source, reading: Reading) -> None:
        """One input a dataset, however often the plan reads it."""
        ids = frozenset(attribute.expr_id for attribute in source.attributes)
        columns = () if reading.columns is not None else source.attributes
        for place in reading.places:
            known = self._by_key.get(place.key)
            if known is None:
                self._by_key[place.key] = Input(place, columns, ids)
            else:
                joined = _joined(known.place, place)
                self._by_key[place.key] = Input(joined, known.columns or columns, known.ids | ids)

    def _known(self, place: Place) -> Place:
        return self._by_key[place.key].place

    def _column(self, derivation: Derivation, behind: Behind) -> InputColumn:
        place, kind, subtype, logic = self._known(behind.place), derivation.type, derivation.subtype, derivation.logic
        if kind == "DIRECT" and behind.subtype != "IDENTITY":
            if subtype == "IDENTITY":
                logic = behind.logic
            if behind.subtype not in _DIRECT:
                return InputColumn(place, behind.column, "INDIRECT", behind.subtype, derivation.masking, logic)
            subtype = max(subtype, behind.subtype, key=_DIRECT.__getitem__)
        return InputColumn(place, behind.column, kind, subtype, derivation.masking, logic)


def name_memory(readings: Iterable[Reading], job: str) -> list[Reading]:
    """Data of the program itself goes by the job and its turn among the like: the same name in every run."""
    named, turn = [], 0
    for reading in readings:
        if not reading.in_memory:
            named.append(reading)
            continue
        turn += 1
        named.append(Reading((Place("inmemory://", f"{job}.memory-{turn}", "MEMORY"),), facts=reading.facts))
    return named


def _behind(reading: Reading, column: str) -> Iterable[Behind]:
    if reading.columns is not None:
        return reading.columns(column)
    return (Behind(place, column) for place in reading.places)


def _joined(one: Place, other: Place) -> Place:
    """Read twice: all the partitions of both, and the whole if either was the whole. A table's own name is kept."""
    first, second = (one, other) if one.also or not other.also else (other, one)
    partitions: tuple[Mapping[str, Any], ...] = ()
    if one.partitions and other.partitions:
        partitions = tuple({tuple(p.items()): p for p in (*one.partitions, *other.partitions)}.values())
    return replace(first, partitions=partitions, version=first.version or second.version)
