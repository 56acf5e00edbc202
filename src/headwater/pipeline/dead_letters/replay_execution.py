"""Executes the nodes of a replay, with the letters as the input of the first node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from headwater.pipeline.dead_letters.tables import LETTER, SUPERSEDED
from headwater.pipeline.dead_letters.waiting import (
    READ_AGAIN,
    UNKNOWN,
    ReplaySource,
    WaitingLetters,
    node_and_successors,
)
from headwater.pipeline.declare.nodes import PipelineNode, RowMapNode
from headwater.pipeline.items.accounts import ItemAccount
from headwater.pipeline.items.item_ids import HI, KEY, LO
from headwater.pipeline.items.leaves import OUT, ItemLeaf
from headwater.pipeline.run import steps
from headwater.pipeline.run.execution import PipelineExecution
from headwater.pipeline.run.function_outputs import FunctionOutput
from headwater.pipeline.worker import DEAD_LETTERED

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

REPLAYED, FAILED_AGAIN, SKIPPED = "Replayed", "DeadLettered", "Superseded"
"""Outcomes of a letter."""
_MAX_CARRIED_ITEMS = 2
"""Up to this many items of one source are columns of a letter's row; more items go into a table of their own."""


@dataclass
class ReplayExecution(PipelineExecution):
    """``outcome_counts``: the number of letters by outcome, once the sinks are written."""

    letters: WaitingLetters = field(kw_only=True)
    outcome_counts: Mapping[str, int] = field(default_factory=dict)

    def run(self) -> None:
        super().run()
        with self.workspace.tag_own_jobs():
            self.outcome_counts = self.letters.table.record_outcomes(self._letter_outcomes())

    def account(self) -> ItemAccount | None:
        """The account of the letters' items alone. One item may have several letters."""
        if self.tracker is None:
            return None
        node_names = {node.name for node in node_and_successors(self.nodes, self.letters.target.name)}
        nodes = [node for node in self.nodes if isinstance(node, ReplaySource) or node.name in node_names]
        return ItemAccount(self.tracker, self.function_outputs, self.finish_times, nodes, self.options, keyed=False)

    def _make(self, node: PipelineNode, inputs: Sequence[DataFrame], read: dict[str, DataFrame]) -> DataFrame | None:
        if isinstance(node, ReplaySource):
            return self._letter_rows.select(*self._columns)
        return super()._make(node, inputs, read)

    def _run_function(self, node: RowMapNode, rows: DataFrame) -> DataFrame:
        if node.name != self.letters.target.name:
            return super()._run_function(node, rows)
        tracking_columns = [
            LETTER,
            *(name for columns in self._carried_ids.values() for pair in columns for name in pair),
        ]
        tracking_columns += [OUT] if self._pairs else []
        rows_to_call = self._letter_rows.select(*tracking_columns, *self._columns)
        output = FunctionOutput(
            node,
            self.workspace.keep(node.name, steps.row_map_with_outcomes(node, rows_to_call, len(tracking_columns))),
            self._carried_ids if self.tracker else {},
            self._pairs,
        )
        self._add_leaf(node.name, node.name)
        self.function_outputs[node.name] = output
        if self.tracker is not None and node.mapper is not None:
            return self.tracker.follow_output(node, output.results)
        return output.results

    @property
    def _letters_table(self) -> str:
        return f"{self.letters.target.name}<"

    @property
    def _columns(self) -> list[str]:
        names = self.letters.waiting.schema["row"].dataType.names  # type: ignore[attr-defined]
        return [steps.quote_name(name) for name in names]

    @cached_property
    def _letter_rows(self) -> DataFrame:
        """The stored letters: the ids of their items, and the columns of their rows."""
        from pyspark.sql import functions as F

        key = F.to_json(F.struct(F.col("letter_id").alias("letter"), F.col("run_id").alias("run")))
        tracking_columns = {LETTER: F.col("letter_id"), OUT: F.col("letter_id"), KEY: key} | self._id_columns()
        columns = [column.alias(name) for name, column in tracking_columns.items()]
        table = self.workspace.keep(
            self._letters_table, self.letters.waiting.select("run_id", SUPERSEDED, *columns, "items", "row")
        )
        self._add_leaf(next(iter(self.letters.sources)), self._letters_table, f"`{KEY}`")
        fields = [F.col(f"row.{name}") for name in self._columns]
        return table.where(f"not {SUPERSEDED}").select(*map(steps.quote_name, tracking_columns), *fields)

    @cached_property
    def _carried_ids(self) -> dict[str, list[tuple[str, str]]]:
        """By source, the columns with the items of a letter's row."""
        names = iter(range(2**30))
        return {
            source: [(f"__hw_i{next(names)}", f"__hw_i{next(names)}") for _ in range(max_items)]
            for source, max_items in self.letters.sources.items()
            if max_items <= _MAX_CARRIED_ITEMS
        }

    def _id_columns(self) -> dict[str, Column]:
        from pyspark.sql import functions as F

        id_columns: dict[str, Column] = {}
        for source, columns in self._carried_ids.items():
            for position, (hi, lo) in enumerate(columns):
                if source == UNKNOWN:
                    none = F.size("items") == 0
                    id_columns[hi] = F.when(none, F.xxhash64(F.lit(0), "letter_id"))
                    id_columns[lo] = F.when(none, F.xxhash64(F.lit(1), "letter_id"))
                else:
                    text = F.get(F.filter("items", _is_of_source(source)), F.lit(position))["correlation_id"]
                    id_columns[hi], id_columns[lo] = _id_columns_of(text)
        return id_columns

    @cached_property
    def _pairs(self) -> dict[str, DataFrame]:
        """By source, the items of letters that have more items than there are columns."""
        from pyspark.sql import functions as F

        pairs_by_source = {}
        for source, max_items in self.letters.sources.items():
            if max_items <= _MAX_CARRIED_ITEMS or self.tracker is None:
                continue
            item_rows = self.letters.waiting.select(
                "letter_id", F.explode(F.filter("items", _is_of_source(source))).alias("item")
            )
            hi, lo = _id_columns_of(F.col("item.correlation_id"))
            pairs = item_rows.select(F.col("letter_id").alias(OUT), hi.alias(HI), lo.alias(LO))
            chosen = self.tracker.sampling.condition(F.col(LO))
            sampled = pairs if chosen is None else pairs.where(chosen)
            pairs_by_source[source] = self.workspace.keep(f"{self._letters_table}{source}", sampled)
        return pairs_by_source

    def _add_leaf(self, node: str, table: str, key: str | None = None) -> None:
        if self.tracker is None:
            return
        paths = frozenset([self.workspace.absolute(self.workspace.table(table))])
        sql = {source: [(f"`{hi}`", f"`{lo}`") for hi, lo in columns] for source, columns in self._carried_ids.items()}
        self.tracker.add_leaf(ItemLeaf(node, paths, sql, self._pairs, key=key))

    def _letter_outcomes(self) -> DataFrame:
        from pyspark.sql import functions as F

        table = self.function_outputs[self.letters.target.name].table
        dead = table.where(F.col("__hw_outcome").bitwiseAND(DEAD_LETTERED) != 0).select(LETTER).distinct()
        letters = self.spark.read.parquet(self.workspace.table(self._letters_table))
        outcome = (
            F.when(F.col(SUPERSEDED), F.lit(SKIPPED))
            .when(F.col("dead"), F.lit(FAILED_AGAIN))
            .otherwise(F.lit(REPLAYED))
        )
        return letters.join(dead.withColumn("dead", F.lit(True)), LETTER, "left").select(
            F.col(LETTER).alias("letter_id"),
            "run_id",
            outcome.alias("outcome"),
            F.lit(self.workspace.run_id).alias("replayed_by"),
        )


def _is_of_source(source: str) -> Callable[[Column], Column]:
    return lambda item: item["source"].isin(source, f"{READ_AGAIN}{source}")


def _id_columns_of(text: Column) -> tuple[Column, Column]:
    """The two numbers of a correlation id."""
    from pyspark.sql import functions as F

    digits = F.translate(text, "-", "")
    first, last = F.substring(digits, 1, 16), F.substring(digits, 17, 16)
    return F.conv(first, 16, -10).cast("bigint"), F.conv(last, 16, -10).cast("bigint")
