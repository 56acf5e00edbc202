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
from headwater.pipeline.items.expansion import Company, Expansion, RowId, met
from headwater.pipeline.items.general_path import padded
from headwater.pipeline.items.item_ids import halves
from headwater.pipeline.items.item_records import records, with_company
from headwater.pipeline.items.stages import Station

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

MANIFEST = "_journal.json"
_AT_ONCE = 1_000
_SHAPING = (
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
class Line:
    """The items of one source: its stations, and the folder of their rows."""

    source: str
    stations: Sequence[Station]
    folder: str


@dataclass(frozen=True)
class Manifest:
    lines: Sequence[Line]
    options: LineageOptions

    def to_json(self) -> str:
        lines = [
            {
                "source": line.source,
                "folder": line.folder,
                "stations": [station.to_dict() for station in line.stations],
            }
            for line in self.lines
        ]
        options = {
            each.name: getattr(self.options, each.name) for each in fields(self.options) if each.name in _SHAPING
        }
        return json.dumps({"version": 1, "sources": lines, "options": options}, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        told = json.loads(text)
        lines = [
            Line(each["source"], [Station.from_dict(station) for station in each["stations"]], each["folder"])
            for each in told["sources"]
        ]
        return cls(lines, LineageOptions(**told["options"]))


@dataclass
class Journal:
    manifest: Manifest
    rows: Mapping[str, DataFrame] = field(default_factory=dict)
    """By source."""
    companies: Mapping[int, DataFrame] = field(default_factory=dict)

    @property
    def records(self) -> DataFrame:
        options = self.manifest.options
        told = [
            records(self._beside(line, self.rows[line.source]), line.source, line.stations, options)
            for line in self.manifest.lines
        ]
        return reduce(lambda one, other: one.unionByName(other), told)

    def record(self, correlation_id: str) -> ItemRecord | None:
        from pyspark.sql import functions as F

        try:
            hi, lo = halves(correlation_id)
        except ValueError:
            return None
        for line in self.manifest.lines:
            rows = self.rows[line.source].where((F.col("hi") == hi) & (F.col("lo") == lo)).limit(1).collect()
            for record in self._expanded(line, rows):
                return record
        return None

    def at_hand(self, most: int | None, *, whole: bool = False) -> Iterator[ItemRecord]:
        """So many records at most; ``whole``: none of those that were dropped."""
        left = most
        for line in self.manifest.lines:
            rows = self.rows[line.source].where("dropped is null") if whole else self.rows[line.source]
            some = (rows if left is None else rows.limit(left)).collect()
            left = None if left is None else left - len(some)
            yield from self._expanded(line, some)

    def one_by_one(self) -> Iterator[ItemRecord]:
        """All of them, and never many in memory."""
        for line in self.manifest.lines:
            rows = iter(self.rows[line.source].toLocalIterator())
            while some := list(islice(rows, _AT_ONCE)):
                yield from self._expanded(line, some)

    def _beside(self, line: Line, rows: DataFrame) -> DataFrame:
        return with_company(padded(rows, line.stations), line.stations, self.companies)

    def _expanded(self, line: Line, rows: Sequence[Row]) -> Iterator[ItemRecord]:
        expansion = Expansion(line.source, line.stations, self.manifest.options)
        told = [row.asDict() for row in rows]
        companies = met(line.stations, told, self._company)
        for row in told:
            yield expansion.record(row, companies.of(row))

    def _company(self, place: int, wanted: Collection[RowId]) -> Iterator[tuple[RowId, Company]]:
        from pyspark.sql.functions import broadcast

        rows = self.companies[place]
        asked = rows.sparkSession.createDataFrame(list(wanted), "hi long, lo long")
        for row in rows.join(broadcast(asked), ["hi", "lo"], "left_semi").collect():
            items = [(each["hi"], each["lo"]) for each in row["names"] or ()]
            yield (row["hi"], row["lo"]), Company(row["contributors"], items, row["cut"])
