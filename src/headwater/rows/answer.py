"""What a trace answers: rows of a result, and for each source the rows behind them."""

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

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FILE, ROW = "_file", "_row"
_MAX_IDS_IN_CONDITION = 2_000


@dataclass(frozen=True)
class Occurrence:
    """One source of the plan; a table that is joined with itself has two."""

    number: int
    named: NamedSource
    grain: Grain
    notes: tuple[str, ...]
    _trace: BackwardTrace

    @property
    def dataset(self) -> Dataset:
        return self.named.dataset

    @property
    def paths(self) -> tuple[str, ...]:
        return self.named.paths

    @cached_property
    def pairs(self) -> DataFrame:
        """(out_id, file, row): which row of the source each row of the result has been made of. Where rows have no
        place of their own, `file` is the hash of the row's content."""
        return self._trace.pairs(self.number)

    @cached_property
    def rows(self) -> DataFrame:
        """The source's rows, all their columns, and their `_file` and `_row`."""
        source = self._trace.provenance.sources[self.number]
        every = self._trace.provenance.source_frame(self.number)
        every = every.toDF(*(column.name for column in source.columns), FILE, ROW)
        return _rows_at(every, self.pairs.select("file", "row").distinct())


def _rows_at(every: DataFrame, ids: DataFrame) -> DataFrame:
    """Few rows are looked for by their ids: whole files are then passed over."""
    from pyspark.sql import functions as F

    few = ids.limit(_MAX_IDS_IN_CONDITION + 1).collect()
    if len(few) > _MAX_IDS_IN_CONDITION:
        same = (every[FILE] == ids["file"]) & (every[ROW] == ids["row"])
        return every.join(ids, same, "left_semi")
    by_file: dict[str, list[int]] = {}
    for file, row in few:
        by_file.setdefault(file, []).append(row)
    wanted = [(F.col(FILE) == F.lit(file)) & F.col(ROW).isin(rows) for file, rows in by_file.items()]
    return every.where(reduce(lambda one, other: one | other, wanted, F.lit(False)))


class Sources(Mapping[str, "DataFrame"]):
    """The contributing rows by dataset, which may be named by the end of its name, as `raw/orders`."""

    def __init__(self, occurrences: Sequence[Occurrence]) -> None:
        self._occurrences = occurrences

    def __getitem__(self, name: str) -> DataFrame:
        found = [each for each in self._occurrences if each.named.matches(name)]
        if not found:
            raise KeyError(f"{name} is not a source here. There are: {', '.join(self)}")
        if len({each.dataset for each in found}) > 1:
            raise KeyError(f"{name} fits more than one source. There are: {', '.join(self)}")
        frames = [each.rows for each in found]
        if len(frames) == 1:
            return frames[0]
        whole = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), frames)
        return whole.dropDuplicates([FILE, ROW])

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(str(each.dataset) for each in self._occurrences))

    def __len__(self) -> int:
        return len(list(iter(self)))


@dataclass
class TracePart:
    """The rows of one write, or of a DataFrame."""

    trace: BackwardTrace
    names: Sequence[NamedSource]
    write: OutputFacet | None = None
    notes: tuple[str, ...] = ()


@dataclass
class Trace:
    """The answer of `hw.trace`. Rows that several runs have written are traced through each of them: ``parts``."""

    parts: Sequence[TracePart]
    dataset: Dataset | None = None
    """What the rows are of; None for a DataFrame."""
    further: dict[str, Trace] = field(default_factory=dict)
    """By dataset: the same rows of it, traced on through the job that wrote them."""
    ends: dict[str, str] = field(default_factory=dict)
    """By dataset: why its rows could not be traced on, though a run wrote them."""

    @cached_property
    def occurrences(self) -> tuple[Occurrence, ...]:
        found = []
        for part in self.parts:
            provenance = part.trace.provenance
            grains = provenance.grains(told_apart=bool(provenance.group_columns))
            for source, named in zip(provenance.sources, part.names, strict=True):
                grain = grains[source.number]
                found.append(Occurrence(source.number, named, grain, provenance.notes, part.trace))
        return tuple(found)

    @property
    def rows(self) -> DataFrame:
        """The rows asked about, equal ones once, and their `out_id`."""
        return reduce(lambda one, other: one.union(other), (part.trace.rows for part in self.parts))

    @property
    def sources(self) -> Sources:
        return Sources(self.occurrences)

    @property
    def notes(self) -> tuple[str, ...]:
        """What keeps the answer from being exact, or from being the same next time."""
        told = (note for part in self.parts for note in (*part.notes, *part.trace.notes, *part.trace.provenance.notes))
        return tuple(dict.fromkeys(told))

    @property
    def grain(self) -> dict[str, Grain]:
        """Of each source."""
        return {
            name: coarsest(each.grain for each in self.occurrences if str(each.dataset) == name)
            for name in self.sources
        }

    def occurrence(self, asked: str) -> Occurrence:
        found = [each for each in self.occurrences if each.named.matches(asked)]
        if len(found) == 1:
            return found[0]
        there = ", ".join(f"{each.number}: {each.dataset}" for each in self.occurrences)
        raise RowsError(f"{asked!r} fits {len(found)} of the sources. There are: {there}")

    def to_dict(self, rows: int = 20) -> dict[str, Any]:
        """The whole tree, with up to so many rows of each dataset."""
        from headwater.rows.render import trace_document

        return trace_document(self, rows)

    def to_json(self, rows: int = 20) -> str:
        return json.dumps(self.to_dict(rows))

    def show(self, rows: int = 5) -> None:
        """The tree for a person, with up to so many rows of each dataset."""
        from rich.console import Console

        from headwater.rows.render import trace_document, trace_tree

        Console().print(trace_tree(trace_document(self, rows)))

    def _repr_html_(self) -> str:
        from headwater.rows.render import trace_document, trace_html

        return trace_html(trace_document(self, 10))

    def release(self) -> None:
        """Let go of what Spark keeps of this trace."""
        for part in self.parts:
            part.trace.release()
        for trace in self.further.values():
            trace.release()


ANSWER_COLUMNS = (OUT_ID, FILE, ROW)
"""Columns that an answer's frames have beside those of the data."""
