"""From source rows up to the result rows that they reached, block by block: the reverse of backward.py."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cached_property, reduce
from typing import TYPE_CHECKING

from headwater.rows.answer import position_names
from headwater.rows.backward import MAX_PUSHED_ROWS, result_rows, with_out_ids
from headwater.rows.column_names import OUT_ID
from headwater.rows.grain import Grain, coarsest
from headwater.rows.provenance import Block, BlockLink, PlanSource, RowProvenance

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ORIGIN_COLUMNS = ("__hw_from_file", "__hw_from_row")
"""The source row that led to a row: carried up when pairs are needed."""


class ForwardTrace:
    """The answer of `hw.trace_forward`. ``marked`` are the numbers of the sources whose rows are followed, and which
    ``provenance`` marks."""

    def __init__(self, provenance: RowProvenance, marked: Sequence[int]) -> None:
        self._provenance = provenance
        self._marked_sources = [provenance.sources[number] for number in marked]
        self._cached: list[DataFrame] = []
        grains = provenance.grains()
        self.grain: Grain = coarsest(grains[number] for number in marked)
        self.notes = provenance.notes

    @cached_property
    def rows(self) -> DataFrame:
        """The result rows that the source rows reached, and their `out_id`."""
        return result_rows(self._provenance, with_out_ids(self._provenance, self._propagate(())))

    @cached_property
    def pairs(self) -> DataFrame:
        """(out_id, file, row): each result row with the source rows that reached it."""
        from pyspark.sql import functions as F

        top = with_out_ids(self._provenance, self._propagate(_ORIGIN_COLUMNS))
        file, row = (F.col(name).alias(name.removeprefix("__hw_from_")) for name in _ORIGIN_COLUMNS)
        return top.select(OUT_ID, file, row).distinct()

    @cached_property
    def source_rows(self) -> DataFrame:
        """The followed source rows, and their `_file` and `_row`; if a column has one of these names, `_file_2` and
        `_row_2`."""
        position = position_names(column.name for source in self._marked_sources for column in source.columns)
        frames = []
        for source in self._marked_sources:
            frame = self._provenance.source_frame(source.number)
            marked_rows = frame.where(frame[source.mark]).drop(source.mark)
            frames.append(marked_rows.toDF(*(column.name for column in source.columns), *position))
        if len(frames) == 1:
            return frames[0]
        rows = reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), frames)
        return rows.dropDuplicates(list(position))

    @property
    def reached(self) -> bool:
        return not self.rows.isEmpty()

    def count(self) -> int:
        """The number of result rows that were reached; equal ones count once."""
        return self.rows.count()

    def release(self) -> None:
        """Releases what Spark caches of this trace."""
        for frame in self._cached:
            with suppress(Exception):  # the session may have ended
                frame.unpersist()

    def _propagate(self, along: tuple[str, ...]) -> DataFrame:
        reached = propagate(self._provenance, lambda block: self._marked_rows(block, along), along, cached=self._cached)
        return self._no_rows(self._provenance.frame(0), along) if reached is None else reached

    def _marked_rows(self, block: Block, along: tuple[str, ...]) -> Iterable[DataFrame]:
        for source in self._marked_sources:
            if source.number in block.sources:
                frame = self._provenance.frame(block.number)
                yield self._with_origin(frame.where(frame[source.mark]), source, along)

    @staticmethod
    def _with_origin(frame: DataFrame, source: PlanSource, along: tuple[str, ...]) -> DataFrame:
        if not along:
            return frame
        file, row = (frame[name].alias(alias) for name, alias in zip((source.file, source.row), along, strict=True))
        return frame.select("*", file, row)

    @staticmethod
    def _no_rows(frame: DataFrame, along: tuple[str, ...]) -> DataFrame:
        """No rows, for a source that leads nowhere, as on the right of an anti-join."""
        from pyspark.sql import functions as F

        types = ("string", "long")
        empty = (F.lit(None).cast(type).alias(name) for name, type in zip(along, types, strict=False))
        return frame.select("*", *empty).where("false")


def propagate(
    provenance: RowProvenance,
    own_rows: Callable[[Block], Iterable[DataFrame]],
    along: tuple[str, ...],
    is_followed: Callable[[BlockLink], bool] = lambda link: True,
    cached: list[DataFrame] | None = None,
) -> DataFrame | None:
    """The rows of the top block that the ``own_rows`` of blocks reach, with the columns ``along``; None if nothing
    leads up. Only links with ``is_followed`` are used. Frames that Spark caches on the way are added to ``cached``.

    A block has a higher number than the blocks that lead to it, so it is complete before it is followed up.
    """
    reached: dict[int, DataFrame] = {}
    for block in reversed(provenance.blocks):
        frames = list(own_rows(block))
        for link in block.links:
            if link.to in reached and is_followed(link):
                arrivals = provenance.arrival_keys(link, reached[link.to], along)
                if cached is not None:
                    cached.append(arrivals.persist())
                frames.append(
                    provenance.rows_leading_to(
                        link, block, arrivals, along, MAX_PUSHED_ROWS if cached is not None else 0
                    )
                )
        if frames:
            reached[block.number] = reduce(lambda left, right: left.union(right), frames)
    return reached.get(0)
