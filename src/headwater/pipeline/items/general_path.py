"""Item rows for any pipeline: the visits of a source's items at all stages, aggregated to one row for each item.

A row has columns for each stage (stage_columns.py), the items beside it, and where it ended. Records are made from it
when they are read (item_records.py, expansion.py), because most of their content is the same for all items.

Numbers and texts are aggregated apart: for the minimum of a text Spark falls back to a sort-based aggregate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from headwater.model.items import Outcome
from headwater.pipeline.items import stage_columns
from headwater.pipeline.items.item_ids import HI, ID, KEY, LO, sample_items
from headwater.pipeline.items.item_locations import ROW_ID
from headwater.pipeline.items.stages import Stage

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

EMITTED, FLAGS, RETRIES, ERROR = "__hw_emitted", "__hw_flags", "__hw_tries", "__hw_error"
CONTRIBUTORS, SHOWN = "__hw_contributors", "__hw_shown"
ROW_HI, ROW_LO = ROW_ID
_STAGE = "__hw_stop"
_NUMERIC_TYPES = {
    EMITTED: "int",
    FLAGS: "int",
    RETRIES: "int",
    CONTRIBUTORS: "bigint",
    ROW_HI: "bigint",
    ROW_LO: "bigint",
}


@dataclass(frozen=True)
class StageVisit:
    """Rows with the items that reached a stage, and the values that are recorded of each."""

    stage: int
    rows: DataFrame
    values: Mapping[str, Column]
    neighbours: Sequence[tuple[Column, Column]] = ()
    """The other items in the row, each with the condition that there is one."""

    def select_values(self, types: Mapping[str, str]) -> DataFrame:
        from pyspark.sql import functions as F

        columns = [self.values.get(name, F.lit(None)).cast(type).alias(name) for name, type in types.items()]
        return self.rows.select(*ID, F.lit(self.stage).alias(_STAGE), *columns)


def row_id_columns(row_id: Column) -> dict[str, Column]:
    from pyspark.sql import functions as F

    return {name: F.xxhash64(F.lit(seed), row_id) for seed, name in enumerate(ROW_ID)}


def item_rows(entered: StageVisit, later: Sequence[StageVisit], stages: Sequence[Stage], *, repeats: bool) -> DataFrame:
    """``repeats``: rows of the source may share a key, which makes them one item."""
    rows = _entry_rows(entered, repeats)
    counted = [stage for stage in stages if stage.number and stage.same_as is None]
    for part in (
        _numeric_columns(later, counted),
        _text_columns(later, counted),
        _neighbour_columns([entered, *later]),
    ):
        if part is not None:
            rows = rows.join(part, list(ID), "left")
    return complete_rows(rows, stages)


def _column_types(stages: Sequence[Stage]) -> dict[str, str]:
    """All columns that item rows may have, with their types."""
    types = stage_columns.types(stages)
    return types | {"others": "array<struct<hi:bigint,lo:bigint>>", "unnamed": "boolean", "dropped": "boolean"}


def complete_rows(rows: DataFrame, stages: Sequence[Stage]) -> DataFrame:
    """Adds where each item ended. A column without values is left out, unless the end depends on it."""
    from pyspark.sql import functions as F

    ids = {HI: "hi", LO: "lo", KEY: "key"}
    columns = [F.col(name).alias(alias) for name, alias in ids.items()]
    for name, type in _column_types(stages).items():
        if stage_columns.is_emitted(name):
            emitted = F.coalesce(name, F.lit(0)) if name in rows.columns else F.lit(0)
            columns.append(emitted.cast(type).alias(name))
        elif name in rows.columns or stage_columns.is_flags(name):
            value = F.col(name) if name in rows.columns else F.lit(None)
            columns.append(value.cast(type).alias(name))
    columns.append(F.lit(None).cast("boolean").alias("dropped"))
    return add_end(rows.select(*columns), stages)


def add_missing_columns(rows: DataFrame, stages: Sequence[Stage]) -> DataFrame:
    """Adds the columns that were left out, with nulls."""
    from pyspark.sql import functions as F

    missing = {name: type for name, type in _column_types(stages).items() if name not in rows.columns}
    return rows.select("*", *(F.lit(None).cast(type).alias(name) for name, type in missing.items()))


def _entry_rows(entered: StageVisit, repeats: bool) -> DataFrame:
    from pyspark.sql import functions as F

    types = {KEY: "string", SHOWN: "string", EMITTED: "int", CONTRIBUTORS: "bigint", ROW_HI: "bigint", ROW_LO: "bigint"}
    names = {
        KEY: KEY,
        SHOWN: stage_columns.data(0),
        EMITTED: stage_columns.emitted(0),
        CONTRIBUTORS: stage_columns.contributors(0),
        ROW_HI: stage_columns.row_hi(0),
        ROW_LO: stage_columns.row_lo(0),
    }
    rows = entered.select_values(types)
    if not repeats:
        return rows.select(*ID, *(F.col(name).alias(alias) for name, alias in names.items()))
    aggregates = {KEY: F.max(KEY), SHOWN: F.min(SHOWN), EMITTED: F.sum(EMITTED), CONTRIBUTORS: F.max(CONTRIBUTORS)}
    aggregates |= {ROW_HI: F.min(ROW_HI), ROW_LO: F.min_by(ROW_LO, ROW_HI)}
    has_several_rows = (F.min(ROW_HI) != F.max(ROW_HI)).alias(stage_columns.several_rows(0))
    return rows.groupBy(*ID).agg(
        *(aggregate.alias(names[name]) for name, aggregate in aggregates.items()), has_several_rows
    )


def _numeric_columns(later: Sequence[StageVisit], stages: Sequence[Stage]) -> DataFrame | None:
    from pyspark.sql import functions as F

    if not later:
        return None
    aggregates: list[Column] = []

    def add_aggregate(name: str, make: Callable[[Column], Column], stage: int, column: str) -> None:
        aggregates.append(make(F.when(F.col(_STAGE) == stage, F.col(column))).alias(name))

    for stage in stages:
        number = stage.number
        value_names = {name for visit in later if visit.stage == number for name in visit.values}
        add_aggregate(stage_columns.emitted(number), F.sum, number, EMITTED)
        if CONTRIBUTORS in value_names:
            add_aggregate(stage_columns.contributors(number), F.max, number, CONTRIBUTORS)
        if FLAGS in value_names:
            add_aggregate(stage_columns.flags(number), F.bit_or, number, FLAGS)
            add_aggregate(stage_columns.retries(number), F.max, number, RETRIES)
        if ROW_HI in value_names:
            is_stage = F.col(_STAGE) == number
            add_aggregate(stage_columns.row_hi(number), F.min, number, ROW_HI)
            aggregates.append(
                F.min_by(F.when(is_stage, F.col(ROW_LO)), F.when(is_stage, F.col(ROW_HI))).alias(
                    stage_columns.row_lo(number)
                )
            )
            aggregates.append(
                (F.min(F.when(is_stage, F.col(ROW_HI))) != F.max(F.when(is_stage, F.col(ROW_HI)))).alias(
                    stage_columns.several_rows(number)
                )
            )
    return _union(visit.select_values(_NUMERIC_TYPES) for visit in later).groupBy(*ID).agg(*aggregates)


def _text_columns(later: Sequence[StageVisit], stages: Sequence[Stage]) -> DataFrame | None:
    """Errors, which are rare, and data, if it is recorded."""
    from pyspark.sql import functions as F

    texts = {stage_columns.error: (ERROR, F.max), stage_columns.data: (SHOWN, F.min)}
    text_visits = [visit for visit in later if ERROR in visit.values or SHOWN in visit.values]
    aggregates = [
        make(F.when(F.col(_STAGE) == stage.number, F.col(name))).alias(column_of(stage.number))
        for stage in stages
        for column_of, (name, make) in texts.items()
        if any(visit.stage == stage.number and name in visit.values for visit in text_visits)
    ]
    if not aggregates:
        return None
    rows = _union(visit.select_values({ERROR: "string", SHOWN: "string"}) for visit in text_visits)
    return rows.where(F.col(ERROR).isNotNull() | F.col(SHOWN).isNotNull()).groupBy(*ID).agg(*aggregates)


def _neighbour_columns(later: Sequence[StageVisit]) -> DataFrame | None:
    """The other items in rows of an item; a sample of them if there are many."""
    from pyspark.sql import functions as F

    neighbour_rows = [
        visit.rows.where(is_present).select(*ID, item["hi"].alias("hi"), item["lo"].alias("lo"))
        for visit in later
        for is_present, item in visit.neighbours
    ]
    if not neighbour_rows:
        return None
    sampled = sample_items(_union(neighbour_rows), ID, ("hi", "lo"))
    return sampled.select(*ID, F.col("__hw_names").alias("others"), F.col("__hw_cut").alias("unnamed"))


def _union(frames: Iterable[DataFrame]) -> DataFrame:
    return reduce(lambda left, right: left.union(right), frames)


class StageColumns:
    """Columns that describe an item at one stage."""

    def __init__(self, stage: Stage, stages: Sequence[Stage]) -> None:
        from pyspark.sql import functions as F

        self.stage = stage
        self.emitted = emitted_count(stage)
        has_input = [emitted_count(earlier) > 0 for earlier in stages if earlier.number in stage.ports]
        self.reached = (
            F.lit(True) if stage.kind == "source" else reduce(lambda left, right: left | right, has_input, F.lit(False))
        )
        self.outcome = F.when(self.emitted > 0, F.lit(int(stage.outcome))).otherwise(int(Outcome.FILTERED_OUT))
        if stage.is_row_function:
            self.outcome = F.coalesce(F.col(stage_columns.flags(stage.number)), F.lit(0))
            self.reached = self.reached & (self.outcome != 0)

    def has(self, flag: Outcome) -> Column:
        return self.reached & (self.outcome.bitwiseAND(int(flag)) != 0)


def emitted_count(stage: Stage) -> Column:
    """How often an item was emitted at a stage; a stage without counts of its own uses those of the stages before
    it."""
    from pyspark.sql import functions as F

    return reduce(
        lambda left, right: left + right, (F.col(stage_columns.emitted(number)) for number in stage.counted_stages)
    )


def add_end(rows: DataFrame, stages: Sequence[Stage]) -> DataFrame:
    """Adds where the item ended: where it failed, else at the last sink it reached, else where it was dropped last."""
    from pyspark.sql import functions as F

    views = [StageColumns(stage, stages) for stage in reversed(stages)]

    def at(view: StageColumns, when: Column) -> Column:
        return F.when(when, view.stage.number)

    ended = F.coalesce(
        *(at(view, view.has(Outcome.DEAD_LETTERED)) for view in views if view.stage.is_row_function),
        *(at(view, view.has(Outcome.ERROR)) for view in views if view.stage.is_row_function),
        *(at(view, view.reached & (view.emitted > 0)) for view in views if view.stage.kind == "sink"),
        *(at(view, view.has(Outcome.FILTERED_OUT)) for view in views),
        *(at(view, view.reached) for view in views),
    )
    outcome = F.coalesce(*(F.when(F.col("ended") == view.stage.number, view.outcome) for view in views))
    return rows.withColumn("ended", ended).withColumn("outcome", outcome)
