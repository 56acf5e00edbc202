"""What a run has written of its items: where it lies and how it is read by Spark.

    items/_journal.json      the stations that each source's items may come to, and how records are to be shaped
    items/0, items/1, …      one row an item, a folder for each source (journeys.py)
    items/company/0, …       who has made rows together, where the rows themselves do not say

Without Spark it is read by stored.py.
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
    """The items of one source: its stations, and the folder of their rows."""

    source: str
    stages: Sequence[Stage]
    folder: str


@dataclass(frozen=True)
class Manifest:
    sources: Sequence[SourceLog]
    options: LineageOptions

    def to_json(self) -> str:
        lines = [
            {
                "source": line.source,
                "folder": line.folder,
                "stations": [station.to_dict() for station in line.stages],
            }
            for line in self.sources
        ]
        options = {
            each.name: getattr(self.options, each.name)
            for each in fields(self.options)
            if each.name in _SHAPING_OPTIONS
        }
        return json.dumps({"version": 1, "sources": lines, "options": options}, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        told = json.loads(text)
        lines = [
            SourceLog(each["source"], [Stage.from_dict(station) for station in each["stations"]], each["folder"])
            for each in told["sources"]
        ]
        return cls(lines, LineageOptions(**told["options"]))


@dataclass
class ItemLog:
    manifest: Manifest
    rows: Mapping[str, DataFrame] = field(default_factory=dict)
    """By source."""
    contributor_tables: Mapping[int, DataFrame] = field(default_factory=dict)

    @property
    def records(self) -> DataFrame:
        options = self.manifest.options
        told = [
            terminal_records(self._with_contributors(line, self.rows[line.source]), line.source, line.stages, options)
            for line in self.manifest.sources
        ]
        return reduce(lambda one, other: one.unionByName(other), told)

    def record(self, correlation_id: str) -> ItemRecord | None:
        from pyspark.sql import functions as F

        try:
            hi, lo = id_numbers(correlation_id)
        except ValueError:
            return None
        for line in self.manifest.sources:
            rows = self.rows[line.source].where((F.col("hi") == hi) & (F.col("lo") == lo)).limit(1).collect()
            for record in self._build_records(line, rows):
                return record
        return None

    def local_records(self, most: int | None, *, whole: bool = False) -> Iterator[ItemRecord]:
        """So many records at most; ``whole``: none of those that were dropped."""
        left = most
        for line in self.manifest.sources:
            rows = self.rows[line.source].where("dropped is null") if whole else self.rows[line.source]
            some = (rows if left is None else rows.limit(left)).collect()
            left = None if left is None else left - len(some)
            yield from self._build_records(line, some)

    def iterate_records(self) -> Iterator[ItemRecord]:
        """All of them, and never many in memory."""
        for line in self.manifest.sources:
            rows = iter(self.rows[line.source].toLocalIterator())
            while some := list(islice(rows, _BATCH_SIZE)):
                yield from self._build_records(line, some)

    def _with_contributors(self, line: SourceLog, rows: DataFrame) -> DataFrame:
        return with_contributors(add_missing_columns(rows, line.stages), line.stages, self.contributor_tables)

    def _build_records(self, line: SourceLog, rows: Sequence[Row]) -> Iterator[ItemRecord]:
        expansion = RecordBuilder(line.source, line.stages, self.manifest.options)
        told = [row.asDict() for row in rows]
        companies = load_contributors(line.stages, told, self._contributors_of)
        for row in told:
            yield expansion.record(row, companies.of(row))

    def _contributors_of(self, place: int, wanted: Collection[RowId]) -> Iterator[tuple[RowId, Contributors]]:
        from pyspark.sql.functions import broadcast

        rows = self.contributor_tables[place]
        asked = rows.sparkSession.createDataFrame(list(wanted), "hi long, lo long")
        for row in rows.join(broadcast(asked), ["hi", "lo"], "left_semi").collect():
            items = [(each["hi"], each["lo"]) for each in row["names"] or ()]
            yield (row["hi"], row["lo"]), Contributors(row["contributors"], items, row["cut"])
