"""The answer of a trace: rows of a result, and for each source the rows that they come from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import TYPE_CHECKING

from headwater.errors import RowsError
from headwater.model.names import Dataset
from headwater.model.runs import OutputFacet
from headwater.rows.backward import BackwardTrace
from headwater.rows.column_names import FILE, ROW, free_names
from headwater.rows.grain import Grain, coarsest
from headwater.rows.names import NamedSource
from headwater.rows.provenance import PlanSource
from headwater.rows.verification import DEFAULT_LIMIT, Verification, combine, verify

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MAX_IDS_IN_CONDITION = 2_000


@dataclass(frozen=True)
class Occurrence:
    """One source of the plan; a table that is joined with itself occurs twice."""

    number: int
    named: NamedSource
    notes: tuple[str, ...]
    _part: TracePart

    @property
    def grain(self) -> Grain:
        """What the plan promises, unless the traced rows, or running the query on them, show that they are fewer."""
        return coarsest((self._part.plan_grains[self.number], self._part.grain))

    @property
    def _trace(self) -> BackwardTrace:
        return self._part.trace

    @property
    def dataset(self) -> Dataset:
        return self.named.dataset

    @property
    def paths(self) -> tuple[str, ...]:
        return self.named.paths

    @cached_property
    def pairs(self) -> DataFrame:
        """(out_id, file, row): the source rows of each row of the result. Where rows have no position in a file, `file`
        is the hash of the row's content."""
        return self._trace.pairs(self.number)

    @cached_property
    def rows(self) -> DataFrame:
        """The source's rows, all their columns, and their `_file` and `_row`; if a column has one of these names,
        `_file_2` and `_row_2`."""
        return self.rows_at(position_names(self.column_names))

    @property
    def column_names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self._source.columns)

    @property
    def _source(self) -> PlanSource:
        return self._trace.provenance.sources[self.number]

    def rows_at(self, position: Position) -> DataFrame:
        """The rows with their positions under these names."""
        frame = self._trace.provenance.source_frame(self.number)
        return _rows_at(frame.toDF(*self.column_names, *position), position, self._ids)

    @property
    def _ids(self) -> DataFrame:
        return self.pairs.select("file", "row").distinct()

    @property
    def reader_options(self) -> Mapping[str, str]:
        return self._source.options

    @property
    def is_in_files(self) -> bool:
        """Whether the path of each row's file is known."""
        return self._source.in_files or self._source.id == "table position"

    def rows_in_files(self, position: Position, path: str) -> DataFrame:
        """The rows with their positions, and as last column the path of each row's file."""
        provenance = self._trace.provenance
        if self._source.id == "content":
            frame = provenance.source_frame_with_path(self.number).toDF(*self.column_names, *position, path)
            return _rows_at(frame, position, self._ids)
        rows = self.rows_at(position)
        return rows.select("*", rows[position[0]].alias(path))


Position = tuple[str, str]
"""The names of the columns with a row's file and its number there."""


def position_names(columns: Iterable[str]) -> Position:
    file, row = free_names([FILE, ROW], columns)
    return file, row


def _rows_at(frame: DataFrame, position: Position, ids: DataFrame) -> DataFrame:
    """The rows with these ids. A small number of ids becomes a condition, by which Spark skips whole files."""
    from pyspark.sql import functions as F

    file_column, row_column = (frame[name] for name in position)
    some_ids = ids.limit(_MAX_IDS_IN_CONDITION + 1).collect()
    if len(some_ids) > _MAX_IDS_IN_CONDITION:
        is_same_row = (file_column == ids["file"]) & (row_column == ids["row"])
        return frame.join(ids, is_same_row, "left_semi")
    by_file: dict[str, list[int]] = {}
    for file, row in some_ids:
        by_file.setdefault(file, []).append(row)
    conditions = [(file_column == F.lit(file)) & row_column.isin(rows) for file, rows in by_file.items()]
    return frame.where(reduce(lambda left, right: left | right, conditions, F.lit(False)))


def _union(frames: Sequence[DataFrame], key: Sequence[str]) -> DataFrame:
    rows = reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), frames)
    return rows.dropDuplicates(list(key))


class Sources(Mapping[str, "DataFrame"]):
    """The contributing rows by dataset. The end of a dataset's name is enough, as `raw/orders`."""

    def __init__(self, occurrences: Sequence[Occurrence]) -> None:
        self._occurrences = occurrences

    def __getitem__(self, name: str) -> DataFrame:
        matches = self._occurrences_of(name)
        if len(matches) == 1:
            return matches[0].rows
        position = position_names(column for occurrence in matches for column in occurrence.column_names)
        return _union([occurrence.rows_at(position) for occurrence in matches], position)

    def rows_in_files(self, name: str) -> tuple[DataFrame, str] | None:
        """The rows of a dataset, and the name of the column with the path of each row's file; None if that is not
        known."""
        matches = self._occurrences_of(name)
        if not all(occurrence.is_in_files for occurrence in matches):
            return None
        columns = [column for occurrence in matches for column in occurrence.column_names]
        position, (path,) = position_names(columns), free_names(["_path"], columns)
        frames = [occurrence.rows_in_files(position, path) for occurrence in matches]
        return (frames[0] if len(frames) == 1 else _union(frames, (*position, path))), path

    def reader_options(self, name: str) -> Mapping[str, str]:
        """The options by which the dataset's files were read."""
        return self._occurrences_of(name)[0].reader_options

    def _occurrences_of(self, name: str) -> list[Occurrence]:
        matches = [occurrence for occurrence in self._occurrences if occurrence.named.matches(name)]
        if not matches:
            raise KeyError(f"{name} is not a source here. Sources: {', '.join(self)}")
        if len({occurrence.dataset for occurrence in matches}) > 1:
            raise KeyError(f"{name} matches more than one source. Sources: {', '.join(self)}")
        return matches

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(str(occurrence.dataset) for occurrence in self._occurrences))

    def __len__(self) -> int:
        return len(list(iter(self)))


@dataclass
class TracePart:
    """The traced rows of one write, or of a DataFrame."""

    trace: BackwardTrace
    names: Sequence[NamedSource]
    write: OutputFacet | None = None
    notes: tuple[str, ...] = ()
    verify_limit: int = DEFAULT_LIMIT
    finest_grain: Grain = "exact"
    """The finest grain that the query allows, whatever its operators are."""

    @cached_property
    def plan_grains(self) -> dict[int, Grain]:
        """The grain of each source, as the plan's operators allow it."""
        provenance = self.trace.provenance
        return provenance.grains(by_group=bool(provenance.group_columns))

    @cached_property
    def verified(self) -> Verification:
        return verify(self.trace, coarsest(self.plan_grains.values()), self.verify_limit)

    @property
    def grain(self) -> Grain:
        """The finest grain that the traced rows allow."""
        is_lost = self.verified.answer == "no" or (
            self.verified.answer == "not tried" and self.trace.unreached_count > 0
        )
        return "opaque" if is_lost else coarsest((self.finest_grain, self.trace.grain))


@dataclass
class Trace:
    """The answer of `hw.trace`. Rows that several runs have written are traced through each of them: ``parts``."""

    parts: Sequence[TracePart]
    dataset: Dataset | None = None
    """The dataset of the rows; None for a DataFrame."""
    further: dict[str, Trace] = field(default_factory=dict)
    """By dataset: its rows, traced on through the job that wrote them."""
    ends: dict[str, str] = field(default_factory=dict)
    """By dataset: why its rows could not be traced on, though a run wrote them."""

    @cached_property
    def occurrences(self) -> tuple[Occurrence, ...]:
        occurrences = []
        for part in self.parts:
            provenance = part.trace.provenance
            for source, named in zip(provenance.sources, part.names, strict=True):
                occurrences.append(Occurrence(source.number, named, provenance.notes, part))
        return tuple(occurrences)

    @property
    def rows(self) -> DataFrame:
        """The traced rows, equal ones once, and their `out_id`."""
        return reduce(lambda left, right: left.union(right), (part.trace.rows for part in self.parts))

    @property
    def sources(self) -> Sources:
        return Sources(self.occurrences)

    @property
    def notes(self) -> tuple[str, ...]:
        """Why the answer is not exact, or may differ next time."""
        notes = (note for part in self.parts for note in (*part.notes, *part.trace.notes, *part.trace.provenance.notes))
        return tuple(dict.fromkeys(notes))

    @property
    def grain(self) -> dict[str, Grain]:
        """The grain of each source."""
        return {
            name: coarsest(occurrence.grain for occurrence in self.occurrences if str(occurrence.dataset) == name)
            for name in self.sources
        }

    @property
    def verified(self) -> Verification:
        """Whether the query, run on the returned rows alone, gives the traced rows again: `yes`, `no` with what
        differs, or `not tried` with the reason. The rows of several runs are verified run by run."""
        return combine([part.verified for part in self.parts])

    def occurrence(self, name: str) -> Occurrence:
        matches = [occurrence for occurrence in self.occurrences if occurrence.named.matches(name)]
        if len(matches) == 1:
            return matches[0]
        available = ", ".join(f"{occurrence.number}: {occurrence.dataset}" for occurrence in self.occurrences)
        raise RowsError(f"{name!r} matches {len(matches)} of the sources. Sources: {available}")

    def to_dict(self, rows: int = 20) -> dict[str, object]:
        """The whole tree, with up to ``rows`` rows of each dataset."""
        from headwater.rows.render import trace_document

        return trace_document(self, rows)

    def to_json(self, rows: int = 20) -> str:
        return json.dumps(self.to_dict(rows))

    def show(self, rows: int = 5) -> None:
        """Prints the tree, with up to ``rows`` rows of each dataset."""
        from rich.console import Console

        from headwater.rows.render import trace_document, trace_tree

        Console().print(trace_tree(trace_document(self, rows)))

    def _repr_html_(self) -> str:
        from headwater.rows.render import trace_document, trace_html

        return trace_html(trace_document(self, 10))

    def release(self) -> None:
        """Releases what Spark caches of this trace."""
        for part in self.parts:
            part.trace.release()
        for trace in self.further.values():
            trace.release()
