"""From where the items of a source have been to one row an item: numbers, for the most part.

A row says how often its item was emitted at each station (`e0`, `e1`, …), how many items made what it became there
(`c…`), what a row function had to say of it (`f…` flags, `r…` retries, `x…` the error), which row of many items it went
into (`g…`, `h…`; `m…` if there was more than one), how it looked (`s…`), who was beside it, and where it ended. Records
are made of that when they are read (records.py, expansion.py): most of their words are the same for all items.

All of it by Spark, and the larger part without a text in it: where Spark has to find the least of texts, it sorts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from headwater.model.items import Outcome
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
    """Rows beside the items that came to a station, and what is told of each in columns of them."""

    stage: int
    rows: DataFrame
    values: Mapping[str, Column]
    neighbours: Sequence[tuple[Column, Column]] = ()
    """The items that stand beside it in the row, each with whether there is one."""

    def select_values(self, types: Mapping[str, str]) -> DataFrame:
        from pyspark.sql import functions as F

        columns = [self.values.get(name, F.lit(None)).cast(type).alias(name) for name, type in types.items()]
        return self.rows.select(*ID, F.lit(self.stage).alias(_STAGE), *columns)


def row_id_columns(row_id: Column) -> dict[str, Column]:
    from pyspark.sql import functions as F

    return {name: F.xxhash64(F.lit(seed), row_id) for seed, name in enumerate(ROW_ID)}


def item_rows(entered: StageVisit, later: Sequence[StageVisit], line: Sequence[Stage], *, repeats: bool) -> DataFrame:
    """``repeats``: rows of the source may share a key, and are one item then."""
    found = _entry_rows(entered, repeats)
    stations = [station for station in line if station.number and station.same_as is None]
    for part in (
        _numeric_columns(later, stations),
        _text_columns(later, stations),
        _neighbour_columns([entered, *later]),
    ):
        if part is not None:
            found = found.join(part, list(ID), "left")
    return complete_rows(found, line)


_STAGE_TYPES = {"e": "int", "c": "bigint", "s": "string", "g": "bigint", "h": "bigint", "m": "boolean"}
_FUNCTION_TYPES = {"f": "int", "r": "int", "x": "string"}


def _column_types(line: Sequence[Stage]) -> dict[str, str]:
    """All that may be told of an item, with their types."""
    own = [station for station in line if station.same_as is None]
    every = {f"{word}{each.number}": type for each in own for word, type in _STAGE_TYPES.items()}
    every |= {
        f"{word}{each.number}": type for each in own if each.is_row_function for word, type in _FUNCTION_TYPES.items()
    }
    return every | {"others": "array<struct<hi:bigint,lo:bigint>>", "unnamed": "boolean", "dropped": "boolean"}


def complete_rows(found: DataFrame, line: Sequence[Stage]) -> DataFrame:
    """With where each item ended. What nothing is told of has no column, unless the end is found by it."""
    from pyspark.sql import functions as F

    known = {HI: "hi", LO: "lo", KEY: "key"}
    columns = [F.col(name).alias(as_) for name, as_ in known.items()]
    for name, type in _column_types(line).items():
        if name[0] == "e":
            emitted = F.coalesce(name, F.lit(0)) if name in found.columns else F.lit(0)
            columns.append(emitted.cast(type).alias(name))
        elif name in found.columns or name[0] == "f":
            told = F.col(name) if name in found.columns else F.lit(None)
            columns.append(told.cast(type).alias(name))
    columns.append(F.lit(None).cast("boolean").alias("dropped"))
    return add_end(found.select(*columns), line)


def add_missing_columns(rows: DataFrame, line: Sequence[Stage]) -> DataFrame:
    """With a column for whatever could have been told."""
    from pyspark.sql import functions as F

    missing = {name: type for name, type in _column_types(line).items() if name not in rows.columns}
    return rows.select("*", *(F.lit(None).cast(type).alias(name) for name, type in missing.items()))


def _entry_rows(entered: StageVisit, repeats: bool) -> DataFrame:
    from pyspark.sql import functions as F

    types = {KEY: "string", SHOWN: "string", EMITTED: "int", CONTRIBUTORS: "bigint", ROW_HI: "bigint", ROW_LO: "bigint"}
    names = {KEY: KEY, SHOWN: "s0", EMITTED: "e0", CONTRIBUTORS: "c0", ROW_HI: "g0", ROW_LO: "h0"}
    rows = entered.select_values(types)
    if not repeats:
        return rows.select(*ID, *(F.col(name).alias(as_) for name, as_ in names.items()))
    making = {KEY: F.max(KEY), SHOWN: F.min(SHOWN), EMITTED: F.sum(EMITTED), CONTRIBUTORS: F.max(CONTRIBUTORS)}
    making |= {ROW_HI: F.min(ROW_HI), ROW_LO: F.min_by(ROW_LO, ROW_HI)}
    more = (F.min(ROW_HI) != F.max(ROW_HI)).alias("m0")
    return rows.groupBy(*ID).agg(*(make.alias(names[name]) for name, make in making.items()), more)


def _numeric_columns(later: Sequence[StageVisit], stations: Sequence[Stage]) -> DataFrame | None:
    from pyspark.sql import functions as F

    if not later:
        return None
    making: list[Column] = []

    def tell(name: str, make: Callable[[Column], Column], station: int, column: str) -> None:
        making.append(make(F.when(F.col(_STAGE) == station, F.col(column))).alias(name))

    for station in stations:
        number = station.number
        told = {name for stop in later if stop.stage == number for name in stop.values}
        tell(f"e{number}", F.sum, number, EMITTED)
        if CONTRIBUTORS in told:
            tell(f"c{number}", F.max, number, CONTRIBUTORS)
        if FLAGS in told:
            tell(f"f{number}", F.bit_or, number, FLAGS)
            tell(f"r{number}", F.max, number, RETRIES)
        if ROW_HI in told:
            here = F.col(_STAGE) == number
            tell(f"g{number}", F.min, number, ROW_HI)
            making.append(F.min_by(F.when(here, F.col(ROW_LO)), F.when(here, F.col(ROW_HI))).alias(f"h{number}"))
            making.append(
                (F.min(F.when(here, F.col(ROW_HI))) != F.max(F.when(here, F.col(ROW_HI)))).alias(f"m{number}")
            )
    return _union(stop.select_values(_NUMERIC_TYPES) for stop in later).groupBy(*ID).agg(*making)


def _text_columns(later: Sequence[StageVisit], stations: Sequence[Stage]) -> DataFrame | None:
    """Errors, which are few, and what was asked to be shown."""
    from pyspark.sql import functions as F

    words = {"x": (ERROR, F.max), "s": (SHOWN, F.min)}
    telling = [stop for stop in later if ERROR in stop.values or SHOWN in stop.values]
    making = [
        make(F.when(F.col(_STAGE) == station.number, F.col(name))).alias(f"{word}{station.number}")
        for station in stations
        for word, (name, make) in words.items()
        if any(stop.stage == station.number and name in stop.values for stop in telling)
    ]
    if not making:
        return None
    rows = _union(stop.select_values({ERROR: "string", SHOWN: "string"}) for stop in telling)
    return rows.where(F.col(ERROR).isNotNull() | F.col(SHOWN).isNotNull()).groupBy(*ID).agg(*making)


def _neighbour_columns(later: Sequence[StageVisit]) -> DataFrame | None:
    """Who was beside an item: some of them, where they are many."""
    from pyspark.sql import functions as F

    every = [
        stop.rows.where(there).select(*ID, other["hi"].alias("hi"), other["lo"].alias("lo"))
        for stop in later
        for there, other in stop.neighbours
    ]
    if not every:
        return None
    found = sample_items(_union(every), ID, ("hi", "lo"))
    return found.select(*ID, F.col("__hw_names").alias("others"), F.col("__hw_cut").alias("unnamed"))


def _union(frames: Iterable[DataFrame]) -> DataFrame:
    return reduce(lambda one, other: one.union(other), frames)


class StageColumns:
    """One station, as the row of an item tells of it."""

    def __init__(self, station: Stage, line: Sequence[Stage]) -> None:
        from pyspark.sql import functions as F

        self.stage = station
        self.emitted = emitted_count(station)
        came = [emitted_count(other) > 0 for other in line if other.number in station.ports]
        self.reached = F.lit(True) if station.kind == "source" else reduce(lambda a, b: a | b, came, F.lit(False))
        self.outcome = F.when(self.emitted > 0, F.lit(int(station.outcome))).otherwise(int(Outcome.FILTERED_OUT))
        if station.is_row_function:
            self.outcome = F.coalesce(F.col(f"f{station.number}"), F.lit(0))
            self.reached = self.reached & (self.outcome != 0)

    def has(self, flag: Outcome) -> Column:
        return self.reached & (self.outcome.bitwiseAND(int(flag)) != 0)


def emitted_count(station: Stage) -> Column:
    """Where nothing of its own can be told of a station, as often as at those before it."""
    from pyspark.sql import functions as F

    return reduce(lambda one, other: one + other, (F.col(f"e{number}") for number in station.counted_stages))


def add_end(found: DataFrame, line: Sequence[Stage]) -> DataFrame:
    """Where the item ended: where it failed, else at the last sink it came to, else where it was dropped last."""
    from pyspark.sql import functions as F

    views = [StageColumns(station, line) for station in reversed(line)]

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
    return found.withColumn("ended", ended).withColumn("outcome", outcome)
