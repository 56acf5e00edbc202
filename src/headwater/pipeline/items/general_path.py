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
from headwater.pipeline.items.item_ids import HI, ID, KEY, LO, some_of_each
from headwater.pipeline.items.item_locations import ROW
from headwater.pipeline.items.stages import Station

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

EMITTED, FLAGS, RETRIES, ERROR = "__hw_emitted", "__hw_flags", "__hw_tries", "__hw_error"
CONTRIBUTORS, SHOWN = "__hw_contributors", "__hw_shown"
ROW_HI, ROW_LO = ROW
_STOP = "__hw_stop"
_NUMBERS = {EMITTED: "int", FLAGS: "int", RETRIES: "int", CONTRIBUTORS: "bigint", ROW_HI: "bigint", ROW_LO: "bigint"}


@dataclass(frozen=True)
class Stop:
    """Rows beside the items that came to a station, and what is told of each in columns of them."""

    station: int
    rows: DataFrame
    told: Mapping[str, Column]
    beside: Sequence[tuple[Column, Column]] = ()
    """The items that stand beside it in the row, each with whether there is one."""

    def told_as(self, types: Mapping[str, str]) -> DataFrame:
        from pyspark.sql import functions as F

        columns = [self.told.get(name, F.lit(None)).cast(type).alias(name) for name, type in types.items()]
        return self.rows.select(*ID, F.lit(self.station).alias(_STOP), *columns)


def row_number(row_id: Column) -> dict[str, Column]:
    from pyspark.sql import functions as F

    return {name: F.xxhash64(F.lit(seed), row_id) for seed, name in enumerate(ROW)}


def journeys(entered: Stop, later: Sequence[Stop], line: Sequence[Station], *, repeats: bool) -> DataFrame:
    """``repeats``: rows of the source may share a key, and are one item then."""
    found = _entered(entered, repeats)
    stations = [station for station in line if station.number and station.like is None]
    for part in (_numbers(later, stations), _texts(later, stations), _others([entered, *later])):
        if part is not None:
            found = found.join(part, list(ID), "left")
    return completed(found, line)


_KINDS = {"e": "int", "c": "bigint", "s": "string", "g": "bigint", "h": "bigint", "m": "boolean"}
_CALLED = {"f": "int", "r": "int", "x": "string"}


def _columns(line: Sequence[Station]) -> dict[str, str]:
    """All that may be told of an item, with their types."""
    own = [station for station in line if station.like is None]
    every = {f"{word}{each.number}": type for each in own for word, type in _KINDS.items()}
    every |= {f"{word}{each.number}": type for each in own if each.calls for word, type in _CALLED.items()}
    return every | {"others": "array<struct<hi:bigint,lo:bigint>>", "unnamed": "boolean", "dropped": "boolean"}


def completed(found: DataFrame, line: Sequence[Station]) -> DataFrame:
    """With where each item ended. What nothing is told of has no column, unless the end is found by it."""
    from pyspark.sql import functions as F

    known = {HI: "hi", LO: "lo", KEY: "key"}
    columns = [F.col(name).alias(as_) for name, as_ in known.items()]
    for name, type in _columns(line).items():
        if name[0] == "e":
            emitted = F.coalesce(name, F.lit(0)) if name in found.columns else F.lit(0)
            columns.append(emitted.cast(type).alias(name))
        elif name in found.columns or name[0] == "f":
            told = F.col(name) if name in found.columns else F.lit(None)
            columns.append(told.cast(type).alias(name))
    columns.append(F.lit(None).cast("boolean").alias("dropped"))
    return with_end(found.select(*columns), line)


def padded(rows: DataFrame, line: Sequence[Station]) -> DataFrame:
    """With a column for whatever could have been told."""
    from pyspark.sql import functions as F

    missing = {name: type for name, type in _columns(line).items() if name not in rows.columns}
    return rows.select("*", *(F.lit(None).cast(type).alias(name) for name, type in missing.items()))


def _entered(entered: Stop, repeats: bool) -> DataFrame:
    from pyspark.sql import functions as F

    types = {KEY: "string", SHOWN: "string", EMITTED: "int", CONTRIBUTORS: "bigint", ROW_HI: "bigint", ROW_LO: "bigint"}
    names = {KEY: KEY, SHOWN: "s0", EMITTED: "e0", CONTRIBUTORS: "c0", ROW_HI: "g0", ROW_LO: "h0"}
    rows = entered.told_as(types)
    if not repeats:
        return rows.select(*ID, *(F.col(name).alias(as_) for name, as_ in names.items()))
    making = {KEY: F.max(KEY), SHOWN: F.min(SHOWN), EMITTED: F.sum(EMITTED), CONTRIBUTORS: F.max(CONTRIBUTORS)}
    making |= {ROW_HI: F.min(ROW_HI), ROW_LO: F.min_by(ROW_LO, ROW_HI)}
    more = (F.min(ROW_HI) != F.max(ROW_HI)).alias("m0")
    return rows.groupBy(*ID).agg(*(make.alias(names[name]) for name, make in making.items()), more)


def _numbers(later: Sequence[Stop], stations: Sequence[Station]) -> DataFrame | None:
    from pyspark.sql import functions as F

    if not later:
        return None
    making: list[Column] = []

    def tell(name: str, make: Callable[[Column], Column], station: int, column: str) -> None:
        making.append(make(F.when(F.col(_STOP) == station, F.col(column))).alias(name))

    for station in stations:
        number = station.number
        told = {name for stop in later if stop.station == number for name in stop.told}
        tell(f"e{number}", F.sum, number, EMITTED)
        if CONTRIBUTORS in told:
            tell(f"c{number}", F.max, number, CONTRIBUTORS)
        if FLAGS in told:
            tell(f"f{number}", F.bit_or, number, FLAGS)
            tell(f"r{number}", F.max, number, RETRIES)
        if ROW_HI in told:
            here = F.col(_STOP) == number
            tell(f"g{number}", F.min, number, ROW_HI)
            making.append(F.min_by(F.when(here, F.col(ROW_LO)), F.when(here, F.col(ROW_HI))).alias(f"h{number}"))
            making.append(
                (F.min(F.when(here, F.col(ROW_HI))) != F.max(F.when(here, F.col(ROW_HI)))).alias(f"m{number}")
            )
    return _union(stop.told_as(_NUMBERS) for stop in later).groupBy(*ID).agg(*making)


def _texts(later: Sequence[Stop], stations: Sequence[Station]) -> DataFrame | None:
    """Errors, which are few, and what was asked to be shown."""
    from pyspark.sql import functions as F

    words = {"x": (ERROR, F.max), "s": (SHOWN, F.min)}
    telling = [stop for stop in later if ERROR in stop.told or SHOWN in stop.told]
    making = [
        make(F.when(F.col(_STOP) == station.number, F.col(name))).alias(f"{word}{station.number}")
        for station in stations
        for word, (name, make) in words.items()
        if any(stop.station == station.number and name in stop.told for stop in telling)
    ]
    if not making:
        return None
    rows = _union(stop.told_as({ERROR: "string", SHOWN: "string"}) for stop in telling)
    return rows.where(F.col(ERROR).isNotNull() | F.col(SHOWN).isNotNull()).groupBy(*ID).agg(*making)


def _others(later: Sequence[Stop]) -> DataFrame | None:
    """Who was beside an item: some of them, where they are many."""
    from pyspark.sql import functions as F

    every = [
        stop.rows.where(there).select(*ID, other["hi"].alias("hi"), other["lo"].alias("lo"))
        for stop in later
        for there, other in stop.beside
    ]
    if not every:
        return None
    found = some_of_each(_union(every), ID, ("hi", "lo"))
    return found.select(*ID, F.col("__hw_names").alias("others"), F.col("__hw_cut").alias("unnamed"))


def _union(frames: Iterable[DataFrame]) -> DataFrame:
    return reduce(lambda one, other: one.union(other), frames)


class View:
    """One station, as the row of an item tells of it."""

    def __init__(self, station: Station, line: Sequence[Station]) -> None:
        from pyspark.sql import functions as F

        self.station = station
        self.emitted = emitted(station)
        came = [emitted(other) > 0 for other in line if other.number in station.ports]
        self.arrived = F.lit(True) if station.kind == "source" else reduce(lambda a, b: a | b, came, F.lit(False))
        self.outcome = F.when(self.emitted > 0, F.lit(int(station.outcome))).otherwise(int(Outcome.FILTERED_OUT))
        if station.calls:
            self.outcome = F.coalesce(F.col(f"f{station.number}"), F.lit(0))
            self.arrived = self.arrived & (self.outcome != 0)

    def has(self, flag: Outcome) -> Column:
        return self.arrived & (self.outcome.bitwiseAND(int(flag)) != 0)


def emitted(station: Station) -> Column:
    """Where nothing of its own can be told of a station, as often as at those before it."""
    from pyspark.sql import functions as F

    return reduce(lambda one, other: one + other, (F.col(f"e{number}") for number in station.own))


def with_end(found: DataFrame, line: Sequence[Station]) -> DataFrame:
    """Where the item ended: where it failed, else at the last sink it came to, else where it was dropped last."""
    from pyspark.sql import functions as F

    views = [View(station, line) for station in reversed(line)]

    def at(view: View, when: Column) -> Column:
        return F.when(when, view.station.number)

    ended = F.coalesce(
        *(at(view, view.has(Outcome.DEAD_LETTERED)) for view in views if view.station.calls),
        *(at(view, view.has(Outcome.ERROR)) for view in views if view.station.calls),
        *(at(view, view.arrived & (view.emitted > 0)) for view in views if view.station.kind == "sink"),
        *(at(view, view.has(Outcome.FILTERED_OUT)) for view in views),
        *(at(view, view.arrived) for view in views),
    )
    outcome = F.coalesce(*(F.when(F.col("ended") == view.station.number, view.outcome) for view in views))
    return found.withColumn("ended", ended).withColumn("outcome", outcome)
