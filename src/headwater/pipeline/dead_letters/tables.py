"""Rows on which a row function failed: a dataset for each node, from which they can be replayed.

The row is a struct of its columns, because JSON would lose some types. A letter is never rewritten: the outcome of its
replay is a record in a second dataset.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import reduce
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from headwater.errors import PipelineError
from headwater.pipeline.items.item_ids import correlation_uuid, sample_items
from headwater.pipeline.items.leaves import OUT
from headwater.pipeline.run.function_outputs import FunctionOutput
from headwater.pipeline.run.workspace import Workspace, hadoop_path
from headwater.pipeline.worker import DEAD_LETTERED, INPUT_ROW

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

LETTER = "__hw_letter"
"""In stored results of a replay: the letter that a row was read from."""

SUPERSEDED = "superseded"
_COMPLETED_PREFIX = "_completed-"
"""Precedes the id of a run; Spark ignores files with such names."""
_ITEMS = "array<struct<source:string,correlation_id:string>>"


def write_dead_letters(output: FunctionOutput, workspace: Workspace) -> None:
    """Writes the dead letters of a node, if there are any."""
    from pyspark.sql import functions as F

    dead = output.table.where(F.col("__hw_outcome").bitwiseAND(DEAD_LETTERED) != 0)
    with workspace.tag_own_jobs():
        if dead.isEmpty():
            return
    node = output.node
    again = F.col(LETTER) if LETTER in dead.columns else F.lit(None).cast("string")
    letters = _with_items(output, dead).select(
        F.expr("uuid()").alias("letter_id"),
        F.lit(node.pipeline.name).alias("pipeline"),
        F.lit(node.name).alias("node"),
        "items",
        "item_count",
        F.col(INPUT_ROW).alias("row"),
        F.col("__hw_error").alias("error"),
        (F.col("__hw_retries") + 1).alias("attempts"),
        F.lit(datetime.now(UTC)).cast("timestamp").alias("at"),
        again.alias("replays"),
        F.lit(workspace.run_id).alias("run_id"),
    )
    letters.write.mode("append").partitionBy("run_id").parquet(_dead_letter_table(node.name, workspace).folder)


def complete_dead_letters(node: str, workspace: Workspace) -> None:
    """Marks the run's letters, if it wrote any, as ready for a replay, once all sinks are written. Letters of a failed
    run are not, because the run itself is to be repeated."""
    table = _dead_letter_table(node, workspace)
    if _exists(workspace.spark, f"{table.folder}/run_id={workspace.run_id}"):
        path, system = hadoop_path(workspace.spark, f"{table.folder}/{_COMPLETED_PREFIX}{workspace.run_id}")
        system.create(path).close()


def _dead_letter_table(node: str, workspace: Workspace) -> DeadLetterTable:
    return DeadLetterTable(workspace.spark, workspace.location, workspace.pipeline_id, node)


def _with_items(output: FunctionOutput, dead: DataFrame) -> DataFrame:
    """Adds the items of each row: all that it carries, and some of those of a row that many items made."""
    from pyspark.sql import functions as F

    ids = [
        F.when(F.col(hi).isNotNull(), F.struct(F.lit(source), correlation_uuid(F.col(hi), F.col(lo))))
        for source, columns in output.carried_ids.items()
        for hi, lo in columns
    ]
    rows = dead.select("*", F.array_compact(F.array(*ids)).cast(_ITEMS).alias("items"))
    rows = rows.select("*", F.size("items").cast("long").alias("item_count"))
    for source, pairs in output.pairs.items():
        items = sample_items(pairs.join(dead.select(OUT), OUT, "left_semi"), [OUT])
        named = F.transform("__hw_names", _item_of(source)).cast(_ITEMS)
        more = items.select(OUT, named.alias("__hw_more"), "__hw_count")
        others = [F.col(f"`{name}`") for name in rows.columns if name not in ("items", "item_count")]
        rows = rows.join(more, OUT, "left").select(
            *others,
            F.concat("items", F.coalesce("__hw_more", F.array().cast(_ITEMS))).alias("items"),
            (F.col("item_count") + F.coalesce("__hw_count", F.lit(0))).alias("item_count"),
        )
    return rows


def _item_of(source: str) -> Callable[[Column], Column]:
    from pyspark.sql import functions as F

    return lambda item: F.struct(F.lit(source), correlation_uuid(item["hi"], item["lo"]))


@dataclass(frozen=True)
class DeadLetterTable:
    """The dead letters of a node from every run of the pipeline, and the outcomes of their replays."""

    spark: SparkSession
    location: str
    pipeline_id: str
    node: str

    @property
    def folder(self) -> str:
        return self._node_folder("dead_letters")

    @property
    def outcome_folder(self) -> str:
        """The dataset with a record for each replayed letter."""
        return self._node_folder("replayed")

    def _node_folder(self, kind: str) -> str:
        return f"{_folder_of(self.location, kind, self.pipeline_id)}/{quote(self.node, safe='')}"

    def runs(self) -> list[str]:
        """The completed runs that wrote letters, oldest first."""
        return sorted(_list_folder(self.spark, self.folder, _COMPLETED_PREFIX))

    def read(self, run_id: str) -> DataFrame:
        from pyspark.sql import functions as F

        letters = self.spark.read.parquet(f"{self.folder}/run_id={run_id}")
        return letters.select("*", F.lit(run_id).alias("run_id"))

    def waiting_letters(self, run_id: str | None = None) -> DataFrame | None:
        """The letters of a run, or of all runs, that were not replayed yet. Where an item has letters of several runs,
        the older ones are ``superseded``."""
        from pyspark.sql import Window
        from pyspark.sql import functions as F

        runs = [run for run in self.runs() if run_id in (None, run)]
        by_shape: dict[str, list[tuple[str, DataFrame]]] = {}
        for run in runs:
            letters = self.read(run)
            by_shape.setdefault(letters.schema["row"].dataType.simpleString(), []).append((run, letters))
        groups = {
            shape: self._not_replayed([letters for _, letters in runs_and_letters])
            for shape, runs_and_letters in by_shape.items()
        }
        waiting = {shape: letters for shape, letters in groups.items() if not letters.isEmpty()}
        if len(waiting) > 1:
            of_shapes = (by_shape[shape][0][0] for shape in by_shape if shape in waiting)
            raise PipelineError(
                f"The dead letters of node '{self.node}' do not all have the same columns: replay them run by run. "
                f"There are runs {', '.join(of_shapes)}."
            )
        if not waiting:
            return None
        (letters,) = waiting.values()
        newest = F.max(F.struct("at", "run_id")).over(Window.partitionBy("items"))["run_id"]
        return letters.select("*", ((F.size("items") > 0) & (newest != F.col("run_id"))).alias(SUPERSEDED))

    def _not_replayed(self, letters: list[DataFrame]) -> DataFrame:
        all_letters = reduce(lambda left, right: left.unionByName(right), letters)
        if not _exists(self.spark, self.outcome_folder):
            return all_letters
        return all_letters.join(
            self.spark.read.parquet(self.outcome_folder).select("letter_id"), "letter_id", "left_anti"
        )

    def record_outcomes(self, marks: DataFrame) -> Mapping[str, int]:
        """Stores the outcomes of letters, (letter_id, run_id, outcome, replayed_by), and returns the number of each
        outcome."""
        from pyspark.sql import functions as F

        now = F.lit(datetime.now(UTC)).cast("timestamp").alias("at")
        marks.select("*", now).coalesce(1).write.mode("append").parquet(self.outcome_folder)
        return {row["outcome"]: row["count"] for row in marks.groupBy("outcome").count().collect()}


def nodes_with_letters(spark: SparkSession, location: str, pipeline_id: str) -> list[str]:
    return sorted(map(unquote, _list_folder(spark, _folder_of(location, "dead_letters", pipeline_id), "")))


def _folder_of(location: str, kind: str, pipeline_id: str) -> str:
    return f"{location.rstrip('/')}/{kind}/{pipeline_id}"


def _list_folder(spark: SparkSession, folder: str, prefix: str) -> list[str]:
    """The names in a folder that begin with the prefix, without it."""
    path, system = hadoop_path(spark, folder)
    if not system.exists(path):
        return []
    names = [str(status.getPath().getName()) for status in system.listStatus(path)]
    return [name.removeprefix(prefix) for name in names if name.startswith(prefix)]


def _exists(spark: SparkSession, folder: str) -> bool:
    path, system = hadoop_path(spark, folder)
    return bool(system.exists(path))
