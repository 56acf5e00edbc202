"""From source rows up to the rows of the result that they reached, block by block: backward tracing, mirrored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cached_property, reduce
from typing import TYPE_CHECKING

from headwater.rows.answer import FILE, ROW
from headwater.rows.backward import MAX_PUSHED_ROWS, result_rows, with_out_ids
from headwater.rows.grain import Grain, coarsest
from headwater.rows.identity import OUT_ID
from headwater.rows.provenance import Block, BlockLink, PlanSource, RowProvenance

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ORIGIN_COLUMNS = ("__hw_from_file", "__hw_from_row")
"""The source row that led to a row, carried up where pairs are asked for."""


class ForwardTrace:
    """The answer of `hw.trace_forward`. ``marked`` are the numbers of the sources whose rows are followed; the
    provenance carries their marks."""

    def __init__(self, provenance: RowProvenance, marked: Sequence[int]) -> None:
        self._provenance = provenance
        self._marked_sources = [provenance.sources[number] for number in marked]
        self._cached: list[DataFrame] = []
        grains = provenance.grains()
        self.grain: Grain = coarsest(grains[number] for number in marked)
        self.notes = provenance.notes

    @cached_property
    def rows(self) -> DataFrame:
        """The rows of the result that the source rows reached, and their `out_id`."""
        return result_rows(self._provenance, with_out_ids(self._provenance, self._propagate(())))

    @cached_property
    def pairs(self) -> DataFrame:
        """(out_id, file, row): which of the source rows reached which row of the result."""
        from pyspark.sql import functions as F

        top = with_out_ids(self._provenance, self._propagate(_ORIGIN_COLUMNS))
        file, row = (F.col(name).alias(name.removeprefix("__hw_from_")) for name in _ORIGIN_COLUMNS)
        return top.select(OUT_ID, file, row).distinct()

    @cached_property
    def source_rows(self) -> DataFrame:
        """The source rows that are followed, and their `_file` and `_row`."""
        frames = []
        for source in self._marked_sources:
            every = self._provenance.source_frame(source.number)
            kept = every.where(every[source.mark]).drop(source.mark)
            frames.append(kept.toDF(*(column.name for column in source.columns), FILE, ROW))
        if len(frames) == 1:
            return frames[0]
        whole = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), frames)
        return whole.dropDuplicates([FILE, ROW])

    @property
    def reached(self) -> bool:
        return not self.rows.isEmpty()

    def count(self) -> int:
        """How many rows of the result were reached; equal ones count once."""
        return self.rows.count()

    def release(self) -> None:
        """Let go of what Spark keeps of this trace."""
        for frame in self._cached:
            with suppress(Exception):  # the session may have ended
                frame.unpersist()

    def _propagate(self, along: tuple[str, ...]) -> DataFrame:
        found = propagate(self._provenance, lambda block: self._marked_rows(block, along), along, kept=self._cached)
        return self._no_rows(self._provenance.frame(0), along) if found is None else found

    def _marked_rows(self, block: Block, along: tuple[str, ...]) -> Iterable[DataFrame]:
        for source in self._marked_sources:
            if source.number in block.sources:
                frame = self._provenance.frame(block.number)
                yield self._with_origin(frame.where(frame[source.mark]), source, along)

    @staticmethod
    def _with_origin(frame: DataFrame, source: PlanSource, along: tuple[str, ...]) -> DataFrame:
        if not along:
            return frame
        file, row = (frame[name].alias(as_) for name, as_ in zip((source.file, source.row), along, strict=True))
        return frame.select("*", file, row)

    @staticmethod
    def _no_rows(frame: DataFrame, along: tuple[str, ...]) -> DataFrame:
        """Of a source that leads nowhere, as on the right of an anti-join: no rows."""
        from pyspark.sql import functions as F

        types = ("string", "long")
        empty = (F.lit(None).cast(type).alias(name) for name, type in zip(along, types, strict=False))
        return frame.select("*", *empty).where("false")


def propagate(
    provenance: RowProvenance,
    own: Callable[[Block], Iterable[DataFrame]],
    along: tuple[str, ...],
    taken: Callable[[BlockLink], bool] = lambda link: True,
    kept: list[DataFrame] | None = None,
) -> DataFrame | None:
    """The rows of the uppermost block that are reached from those which blocks have of their ``own``, with what comes
    ``along``; None if nothing leads up. Only links that are ``taken`` lead up. What Spark caches on the way is added
    to ``kept``.

    Blocks have higher numbers than those that lead to them, so each is complete before it is left.
    """
    reached: dict[int, DataFrame] = {}
    for block in reversed(provenance.blocks):
        found = list(own(block))
        for link in block.links:
            if link.to in reached and taken(link):
                arrivals = provenance.arrival_keys(link, reached[link.to], along)
                if kept is not None:
                    kept.append(arrivals.persist())
                found.append(
                    provenance.rows_leading_to(link, block, arrivals, along, MAX_PUSHED_ROWS if kept is not None else 0)
                )
        if found:
            reached[block.number] = reduce(lambda one, other: one.union(other), found)
    return reached.get(0)
