"""From the datasets behind a plan's leaves to the inputs of a write: one per dataset, with its columns under their own
names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from headwater.capture.naming.dataset_ref import DatasetRef
from headwater.capture.naming.plan_sources import LeafColumn, LeafDatasets
from headwater.plan.lineage import Attribute, Derivation, Gap, LineageSource

_DIRECT = {"IDENTITY": 0, "TRANSFORMATION": 1, "AGGREGATION": 2}
"""The stronger one later; every other subtype is indirect."""


@dataclass(frozen=True, slots=True)
class InputColumn:
    dataset: DatasetRef
    field: str
    type: str
    subtype: str | None
    masking: bool
    logic: str | None


@dataclass(frozen=True)
class WriteInput:
    dataset: DatasetRef
    columns: tuple[Attribute, ...]
    """Its columns as the plan has them."""
    ids: frozenset[int]
    """The ids of its columns in this plan: the scans of the physical plan are matched by them."""


class WriteInputs:
    """The inputs of one write. ``sources`` are those of the plan, ``readings`` the datasets behind each of them."""

    def __init__(self, sources: Sequence[LineageSource], readings: Sequence[LeafDatasets], job: str) -> None:
        self._sources = sources
        self._readings = name_memory(readings, job)
        self._by_key: dict[tuple[str, str], WriteInput] = {}
        for source, reading in zip(sources, self._readings, strict=True):
            self._add(source, reading)

    def all(self) -> tuple[WriteInput, ...]:
        return tuple(self._by_key.values())

    def gaps(self) -> Iterator[Gap]:
        for source, reading in zip(self._sources, self._readings, strict=True):
            if reading.gap:
                yield Gap(source.kind, reading.gap, ())

    def columns(self, derivations: Iterable[Derivation]) -> tuple[InputColumn, ...]:
        """The dataset columns that derivations of the plan lead to."""
        columns: dict[InputColumn, None] = {}
        for derivation in derivations:
            for leaf_column in _leaf_columns(self._readings[derivation.source], derivation.field):
                columns[self._column(derivation, leaf_column)] = None
        return tuple(columns)

    def whole(self, derivations: Iterable[Derivation]) -> tuple[InputColumn, ...]:
        """The same for what decides over whole rows, with the columns that the sources themselves select rows by."""
        leaf_columns = (leaf_column for reading in self._readings for leaf_column in reading.whole)
        own = (
            InputColumn(self._known(b.dataset), b.column, "INDIRECT", b.subtype, False, b.logic) for b in leaf_columns
        )
        return tuple(dict.fromkeys((*self.columns(derivations), *own)))

    def _add(self, source: LineageSource, reading: LeafDatasets) -> None:
        """One input per dataset, however often the plan reads it."""
        ids = frozenset(attribute.expr_id for attribute in source.attributes)
        columns = () if reading.columns is not None else source.attributes
        for dataset in reading.datasets:
            previous = self._by_key.get(dataset.key)
            if previous is None:
                self._by_key[dataset.key] = WriteInput(dataset, columns, ids)
            else:
                joined = _merge_refs(previous.dataset, dataset)
                self._by_key[dataset.key] = WriteInput(joined, previous.columns or columns, previous.ids | ids)

    def _known(self, dataset: DatasetRef) -> DatasetRef:
        return self._by_key[dataset.key].dataset

    def _column(self, derivation: Derivation, leaf_column: LeafColumn) -> InputColumn:
        dataset, kind, subtype, logic = (
            self._known(leaf_column.dataset),
            derivation.type,
            derivation.subtype,
            derivation.logic,
        )
        if kind == "DIRECT" and leaf_column.subtype != "IDENTITY":
            if subtype == "IDENTITY":
                logic = leaf_column.logic
            if leaf_column.subtype not in _DIRECT:
                return InputColumn(
                    dataset, leaf_column.column, "INDIRECT", leaf_column.subtype, derivation.masking, logic
                )
            subtype = max(subtype, leaf_column.subtype, key=_DIRECT.__getitem__)
        return InputColumn(dataset, leaf_column.column, kind, subtype, derivation.masking, logic)


def name_memory(readings: Iterable[LeafDatasets], job: str) -> list[LeafDatasets]:
    """Data of the program itself is named after the job and its index among such data: the same name in every run."""
    named, turn = [], 0
    for reading in readings:
        if not reading.in_memory:
            named.append(reading)
            continue
        turn += 1
        named.append(LeafDatasets((DatasetRef("inmemory://", f"{job}.memory-{turn}", "MEMORY"),), facts=reading.facts))
    return named


def _leaf_columns(reading: LeafDatasets, column: str) -> Iterable[LeafColumn]:
    if reading.columns is not None:
        return reading.columns(column)
    return (LeafColumn(dataset, column) for dataset in reading.datasets)


def _merge_refs(first_read: DatasetRef, second_read: DatasetRef) -> DatasetRef:
    """A dataset that is read twice: the partitions of both reads, or the whole if either read the whole. The table's
    own name is kept."""
    first, second = (
        (first_read, second_read) if first_read.symlink or not second_read.symlink else (second_read, first_read)
    )
    partitions: tuple[Mapping[str, str], ...] = ()
    if first_read.partitions and second_read.partitions:
        partitions = tuple({tuple(p.items()): p for p in (*first_read.partitions, *second_read.partitions)}.values())
    return replace(first, partitions=partitions, version=first.version or second.version)
