"""From item rows to terminal records, as columns that Spark computes when they are read. expansion.py does the same in
Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from headwater.model.items import Cardinality, Continuity, Outcome, Reason, reason_of
from headwater.pipeline.declare.options import LineageOptions
from headwater.pipeline.items import stage_columns
from headwater.pipeline.items.general_path import StageColumns, emitted_count
from headwater.pipeline.items.item_ids import MAX_NAMED, correlation_uuid
from headwater.pipeline.items.stages import Stage

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

COUNTED_OUTCOMES = {
    "emitted": Outcome.EMITTED,
    "filtered": Outcome.FILTERED_OUT,
    "retried": Outcome.RETRIED,
    "errors": Outcome.ERROR,
    "dead_letters": Outcome.DEAD_LETTERED,
}
REPEATED = "repeated"
"""The number of items whose key several rows share."""
ROWS = "rows"
"""The number of rows of a source."""
INTERNAL_COUNTS = (REPEATED, ROWS)
"""Counts that are not reported."""


def outcome_counts(stages: Sequence[Stage]) -> dict[tuple[str, str], Column]:
    """Aggregates that count items, by node and name of the count."""
    from pyspark.sql import functions as F

    counts: dict[tuple[str, str], Column] = {}
    for stage in stages:
        view = StageColumns(stage, stages)
        counts[stage.node, "items"] = F.count_if(view.reached)
        for word, flag in COUNTED_OUTCOMES.items():
            if stage.is_row_function or word in ("emitted", "filtered"):
                counts[stage.node, word] = F.count_if(view.has(flag))
    counts[stages[0].node, ROWS] = F.coalesce(F.sum(stage_columns.emitted(0)), F.lit(0))
    counts[stages[0].node, REPEATED] = F.count_if(F.col(stage_columns.emitted(0)) > 1)
    return counts


def without_error_texts(rows: DataFrame) -> DataFrame:
    """Reduces each error to its type, because its text may quote the row."""
    from pyspark.sql import functions as F

    errors = [name for name in rows.columns if stage_columns.is_error(name)]
    return rows.withColumns({name: F.substring_index(name, ":", 1) for name in errors}) if errors else rows


def with_contributors(
    rows: DataFrame, stages: Sequence[Stage], contributor_tables: Mapping[int, DataFrame]
) -> DataFrame:
    """Adds to each row, stage by stage, the items that made the same row: how many, some of them, and whether there are
    more."""
    from pyspark.sql import functions as F

    for stage in stages:
        if stage.contributor_table is None or stage.same_as is not None:
            continue
        number = stage.number
        key = [stage_columns.row_hi(number), stage_columns.row_lo(number)]
        table = contributor_tables[stage.contributor_table].select(
            F.col("hi").alias(key[0]),
            F.col("lo").alias(key[1]),
            F.col("contributors").alias(stage_columns.contributor_count(number)),
            F.col("names").alias(stage_columns.contributor_names(number)),
            F.col("cut").alias(stage_columns.more_contributors(number)),
        )
        rows = rows.join(table, key, "left")
    return rows


def terminal_records(rows: DataFrame, source: str, stages: Sequence[Stage], options: LineageOptions) -> DataFrame:
    """The terminal records of item rows that have their contributors."""
    from pyspark.sql import functions as F

    views = [_HopColumns(stage, stages, options) for stage in stages]
    hops = F.array_compact(F.array(*(F.when(view.reached, view.hop) for view in views)))
    path = F.array_compact(F.array(*(F.when(view.reached, F.lit(view.stage.segment)) for view in views)))
    nothing = F.lit(None).cast("string")

    def of_last(pick: str) -> Column:
        return F.coalesce(*(F.when(F.col("ended") == view.stage.number, getattr(view, pick)) for view in views))

    kept_hops = hops if options.intermediate_records else F.slice(hops, -1, 1)
    over = F.size(kept_hops) > options.max_hops
    last_hop = F.transform(F.slice(kept_hops, -1, 1), lambda hop: hop.withField("truncated", F.lit(True)))
    cut = F.concat(F.slice(kept_hops, 1, options.max_hops - 1), last_hop)
    error = F.substring_index(of_last("error"), ":", 1) if options.redact else of_last("error")
    data = nothing if options.redact else of_last("data") if options.snapshots else F.col(stage_columns.data(0))
    named, unnamed = _contributor_names(rows, stages)
    records = rows.select(
        correlation_uuid(F.col("hi"), F.col("lo")).alias("correlation_id"),
        F.lit(source).alias("source"),
        "key",
        path.alias("path"),
        (F.when(over, cut).otherwise(kept_hops) if len(stages) > options.max_hops else kept_hops).alias("hops"),
        "outcome",
        _reason_column(F.col("outcome")).alias("reason"),
        of_last("named").alias("node"),
        F.coalesce(of_last("retries"), F.lit(0)).alias("retries"),
        (named if options.contributor_ids else F.lit(None).cast("array<string>")).alias("contributors"),
        error.alias("error"),
        data.alias("data"),
        (over | unnamed if options.contributor_ids else over).alias("truncated"),
        "dropped",
    )
    return (_shorten_dropped(records) if options.overflow == "drop" else records).drop("dropped")


def _shorten_dropped(records: DataFrame) -> DataFrame:
    """Reduces dropped records to their id and the fact that they were dropped."""
    from pyspark.sql import functions as F

    stronger = [str(reason) for reason in Reason if reason.rank < Reason.DROPPED_BY_BACKPRESSURE.rank]
    reason = F.when(F.col("reason").isin(stronger), F.col("reason")).otherwise(str(Reason.DROPPED_BY_BACKPRESSURE))
    changed = {"reason": reason, "truncated": F.lit(True), "data": F.lit(None)}
    changed |= {name: F.array() for name in ("path", "hops", "contributors")}
    types = {field.name: field.dataType for field in records.schema.fields}
    short = {name: F.when(F.col("dropped"), column.cast(types[name])) for name, column in changed.items()}
    return records.withColumns({name: column.otherwise(F.col(name)) for name, column in short.items()})


def _contributor_names(rows: DataFrame, stages: Sequence[Stage]) -> tuple[Column, Column]:
    """The other items that made the same rows, and whether there are more."""
    from pyspark.sql import functions as F

    own_id = F.struct("hi", "lo")
    parts, cut = [F.col("others")], [F.col("unnamed")]
    for stage in stages:
        if stage_columns.contributor_names(stage.number) in rows.columns:
            names, more = (
                F.col(stage_columns.contributor_names(stage.number)),
                F.col(stage_columns.several_rows(stage.number)),
            )
            parts.append(names)
            cut += [F.col(stage_columns.more_contributors(stage.number)), more & (F.size(names) > 0)]
    no_items = F.array().cast("array<struct<hi:bigint,lo:bigint>>")
    all_items = F.concat(*(F.coalesce(part, no_items) for part in parts))
    names = F.transform(
        F.array_except(all_items, F.array(own_id.cast("struct<hi:bigint,lo:bigint>"))),
        lambda item: correlation_uuid(item["hi"], item["lo"]),
    )
    unnamed = F.coalesce(*(F.when(condition, True) for condition in cut), F.size(names) > MAX_NAMED)
    return F.slice(F.sort_array(names), 1, MAX_NAMED), unnamed


class _HopColumns(StageColumns):
    def __init__(self, stage: Stage, stages: Sequence[Stage], options: LineageOptions) -> None:
        from pyspark.sql import functions as F

        super().__init__(stage, stages)
        self._options = options
        self._stages = stages
        self.named = F.lit(stage.node)
        self.data = F.coalesce(*(F.col(stage_columns.data(number)) for number in stage.counted_stages))
        self.retries, self.error = F.lit(0), F.lit(None).cast("string")
        if stage.is_row_function:
            self.retries, self.error = (
                F.col(stage_columns.retries(stage.number)),
                F.col(stage_columns.error(stage.number)),
            )

    @property
    def hop(self) -> Column:
        from pyspark.sql import functions as F

        options, stage = self._options, self.stage
        is_counted = stage.continuity is not Continuity.REPRESENTATIVE
        count = self.emitted if is_counted else F.lit(None).cast("bigint")
        cardinality = F.when(count.isNull(), int(Cardinality.UNKNOWN)).otherwise(F.least(count, F.lit(2)) + 1)
        earlier = {input_stage.number: input_stage for input_stage in self._stages if input_stage.number in stage.ports}
        ports = [
            F.when(emitted_count(earlier[input_stage]) > 0, F.lit(port)) for port, input_stage in stage.ports_in_order
        ]
        ancestry = F.array_compact(F.array(*ports)).cast("array<int>")
        nothing = F.lit(None).cast("string")
        inputs = [
            F.when(
                emitted_count(input_stage) > 0,
                F.coalesce(*(F.col(stage_columns.data(number)) for number in input_stage.counted_stages)),
            )
            for input_stage in earlier.values()
        ]
        shown = options.snapshots and not options.redact
        return F.struct(
            F.lit(stage.node).alias("node"),
            F.lit(stage.pipeline_id).alias("pipeline_id"),
            F.lit(stage.pipeline).alias("pipeline"),
            (self.outcome if options.decisions else F.lit(0)).cast("int").alias("outcome"),
            (cardinality if options.cardinality else F.lit(int(Cardinality.UNKNOWN))).cast("int").alias("cardinality"),
            F.when(self.emitted == 1, self._contributors()).cast("bigint").alias("contributors"),
            count.cast("bigint").alias("emissions"),
            (ancestry if options.ancestry else F.lit(None).cast("array<int>")).alias("ancestry"),
            F.lit(False).alias("truncated"),
            F.coalesce(self.retries, F.lit(0)).cast("int").alias("retries"),
            F.lit(str(stage.continuity)).alias("continuity"),
            F.lit(stage.at if options.hop_timestamps else None).cast("timestamp").alias("at"),
            (F.coalesce(*inputs) if shown and inputs else nothing).alias("input"),
            (self.data if shown else nothing).alias("output"),
        )

    def _contributors(self) -> Column:
        from pyspark.sql import functions as F

        counts = [F.col(stage_columns.contributors(number)) for number in self.stage.counted_stages]
        counts += [
            F.col(stage_columns.contributor_count(number))
            for number in self.stage.counted_stages
            if self._stages[number].contributor_table is not None
        ]
        return F.coalesce(*counts)


def _reason_column(outcome: Column) -> Column:
    """The strongest reason of an outcome."""
    from pyspark.sql import functions as F

    flags = {reason_of(flag): flag for flag in Outcome if flag is not Outcome.RETRIED}
    cases = [
        F.when(outcome.bitwiseAND(int(flags[reason])) != 0, F.lit(str(reason))) for reason in Reason if reason in flags
    ]
    return F.coalesce(*cases, F.lit(str(Reason.CONSUMED_WITHOUT_EMISSION)))
