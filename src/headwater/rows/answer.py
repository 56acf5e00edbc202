"""The answer of a trace: rows of a result, and for each source the rows that they come from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

from headwater.errors import RowsError
from headwater.model.names import Dataset
from headwater.model.runs import OutputFacet
from headwater.rows.backward import BackwardTrace
from headwater.rows.grain import Grain, coarsest
from headwater.rows.identity import OUT_ID
from headwater.rows.names import NamedSource
from headwater.rows.verification import DEFAULT_LIMIT, Verification, combine, verify

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FILE, ROW = "_file", "_row"
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
        """The source's rows, all their columns, and their `_file` and `_row`."""
        source = self._trace.provenance.sources[self.number]
        frame = self._trace.provenance.source_frame(self.number)
        frame = frame.toDF(*(column.name for column in source.columns), FILE, ROW)
        return _rows_at(frame, self.pairs.select("file", "row").distinct())


def _rows_at(frame: DataFrame, ids: DataFrame) -> DataFrame:
    """The rows with these ids. A small number of ids becomes a condition, by which Spark skips whole files."""
    from pyspark.sql import functions as F

    some_ids = ids.limit(_MAX_IDS_IN_CONDITION + 1).collect()
    if len(some_ids) > _MAX_IDS_IN_CONDITION:
        is_same_row = (frame[FILE] == ids["file"]) & (frame[ROW] == ids["row"])
        return frame.join(ids, is_same_row, "left_semi")
    by_file: dict[str, list[int]] = {}
    for file, row in some_ids:
        by_file.setdefault(file, []).append(row)
    conditions = [(F.col(FILE) == F.lit(file)) & F.col(ROW).isin(rows) for file, rows in by_file.items()]
    return frame.where(reduce(lambda left, right: left | right, conditions, F.lit(False)))


class Sources(Mapping[str, "DataFrame"]):
    """The contributing rows by dataset. The end of a dataset's name is enough, as `raw/orders`."""

    def __init__(self, occurrences: Sequence[Occurrence]) -> None:
        self._occurrences = occurrences

    def __getitem__(self, name: str) -> DataFrame:
        matches = [occurrence for occurrence in self._occurrences if occurrence.named.matches(name)]
        if not matches:
            raise KeyError(f"{name} is not a source here. Sources: {', '.join(self)}")
        if len({occurrence.dataset for occurrence in matches}) > 1:
            raise KeyError(f"{name} matches more than one source. Sources: {', '.join(self)}")
        frames = [occurrence.rows for occurrence in matches]
        if len(frames) == 1:
            return frames[0]
        rows = reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), frames)
        return rows.dropDuplicates([FILE, ROW])

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

    def to_dict(self, rows: int = 20) -> dict[str, Any]:
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


ANSWER_COLUMNS = (OUT_ID, FILE, ROW)
"""Columns that an answer's frames have in addition to those of the data."""
