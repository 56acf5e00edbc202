"""The files of a run about its items, and how Spark reads them.

    items/_journal.json      the stages that each source's items may reach, and the options for records
    items/0, items/1, …      one row for each item, a folder for each source (general_path.py, fast_path.py)
    items/company/0, …       contributor tables: the items that made rows together, where rows do not carry them

stored_records.py reads them without Spark.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import reduce
from itertools import islice
from typing import TYPE_CHECKING

from headwater.model.items import ItemRecord
from headwater.pipeline.declare.options import LineageOptions
from headwater.pipeline.items.expansion import Contributors, RecordBuilder, RowId, load_contributors
from headwater.pipeline.items.general_path import add_missing_columns
from headwater.pipeline.items.item_ids import id_numbers
from headwater.pipeline.items.item_records import terminal_records, with_contributors
from headwater.pipeline.items.stages import Stage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

MANIFEST = "_journal.json"
_BATCH_SIZE = 1_000
_SHAPING_OPTIONS = (
    "redact",
    "snapshots",
    "max_hops",
    "contributor_ids",
    "ancestry",
    "hop_timestamps",
    "decisions",
    "cardinality",
    "intermediate_records",
    "overflow",
)


@dataclass(frozen=True)
class SourceLog:
    """The items of one source: its stages, and the folder of the item rows."""

    source: str
    stages: Sequence[Stage]
    folder: str


@dataclass(frozen=True)
class Manifest:
    sources: Sequence[SourceLog]
    options: LineageOptions

    def to_json(self) -> str:
        sources = [
            {
                "source": source_log.source,
                "folder": source_log.folder,
                "stations": [stage.to_dict() for stage in source_log.stages],
            }
            for source_log in self.sources
        ]
        options = {
            option.name: getattr(self.options, option.name)
            for option in fields(self.options)
            if option.name in _SHAPING_OPTIONS
        }
        return json.dumps({"version": 1, "sources": sources, "options": options}, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        document = json.loads(text)
        sources = [
            SourceLog(source["source"], [Stage.from_dict(stage) for stage in source["stations"]], source["folder"])
            for source in document["sources"]
        ]
        return cls(sources, LineageOptions(**document["options"]))


@dataclass
class ItemLog:
    manifest: Manifest
    rows: Mapping[str, DataFrame] = field(default_factory=dict)
    """Item rows by source."""
    contributor_tables: Mapping[int, DataFrame] = field(default_factory=dict)

    @property
    def records(self) -> DataFrame:
        options = self.manifest.options
        frames = [
            terminal_records(
                self._with_contributors(source_log, self.rows[source_log.source]),
                source_log.source,
                source_log.stages,
                options,
            )
            for source_log in self.manifest.sources
        ]
        return reduce(lambda left, right: left.unionByName(right), frames)

    def record(self, correlation_id: str) -> ItemRecord | None:
        from pyspark.sql import functions as F

        try:
            hi, lo = id_numbers(correlation_id)
        except ValueError:
            return None
        for source_log in self.manifest.sources:
            rows = self.rows[source_log.source].where((F.col("hi") == hi) & (F.col("lo") == lo)).limit(1).collect()
            for record in self._build_records(source_log, rows):
                return record
        return None

    def local_records(self, limit: int | None, *, only_complete: bool = False) -> Iterator[ItemRecord]:
        """Up to ``limit`` records; ``only_complete``: without dropped ones."""
        remaining = limit
        for source_log in self.manifest.sources:
            rows = (
                self.rows[source_log.source].where("dropped is null") if only_complete else self.rows[source_log.source]
            )
            batch = (rows if remaining is None else rows.limit(remaining)).collect()
            remaining = None if remaining is None else remaining - len(batch)
            yield from self._build_records(source_log, batch)

    def iterate_records(self) -> Iterator[ItemRecord]:
        """All records, without loading all of them into memory."""
        for source_log in self.manifest.sources:
            rows = iter(self.rows[source_log.source].toLocalIterator())
            while batch := list(islice(rows, _BATCH_SIZE)):
                yield from self._build_records(source_log, batch)

    def _with_contributors(self, source_log: SourceLog, rows: DataFrame) -> DataFrame:
        return with_contributors(
            add_missing_columns(rows, source_log.stages), source_log.stages, self.contributor_tables
        )

    def _build_records(self, source_log: SourceLog, rows: Sequence[Row]) -> Iterator[ItemRecord]:
        expansion = RecordBuilder(source_log.source, source_log.stages, self.manifest.options)
        documents = [row.asDict() for row in rows]
        contributors = load_contributors(source_log.stages, documents, self._contributors_of)
        for row in documents:
            yield expansion.record(row, contributors.of(row))

    def _contributors_of(self, table_number: int, row_ids: Collection[RowId]) -> Iterator[tuple[RowId, Contributors]]:
        from pyspark.sql.functions import broadcast

        rows = self.contributor_tables[table_number]
        id_rows = rows.sparkSession.createDataFrame(list(row_ids), "hi long, lo long")
        for row in rows.join(broadcast(id_rows), ["hi", "lo"], "left_semi").collect():
            items = [(item["hi"], item["lo"]) for item in row["names"] or ()]
            yield (row["hi"], row["lo"]), Contributors(row["contributors"], items, row["cut"])
