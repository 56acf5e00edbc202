"""The items of a run, written down, counted and handed on."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import reduce
from itertools import islice
from typing import TYPE_CHECKING

from headwater.model.items import Outcome, Reason, reason_of
from headwater.pipeline.declare.options import LineageOptions, Mismatch
from headwater.pipeline.items.accounts import ItemAccount, SourceStages
from headwater.pipeline.items.collector import Collector
from headwater.pipeline.items.item_ids import correlation_uuid
from headwater.pipeline.items.item_log import MANIFEST, ItemLog, Manifest, SourceLog
from headwater.pipeline.items.item_records import INTERNAL_COUNTS, REPEATED, ROWS, outcome_counts, without_error_texts
from headwater.pipeline.run.workspace import Workspace
from headwater.pipeline.sinks import SinkGroup
from headwater.redaction.literals import message_without_values

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_log = logging.getLogger("headwater")
_BATCH_SIZE = 1_000
"""Records handed to a sink at a time."""
_MAX_NAMED = 100
"""So many are named where items are missing."""


class ItemFinalizer:
    """``journal`` is what was written, None where no items are followed; ``fault`` why it could not be."""

    def __init__(
        self, account: ItemAccount | None, workspace: Workspace, options: LineageOptions, outlets: SinkGroup
    ) -> None:
        self._account = account
        self._workspace = workspace
        self._options = options
        self._outlets = outlets
        self.collector = Collector(options)
        self.item_log: ItemLog | None = None
        self.entered_ids: DataFrame | None = None
        self.fault: str | None = None
        self.counts: dict[Reason, int] = {}
        self.end_counts: dict[str, dict[Outcome, int]] = {}
        """By source, how its rows ended."""
        self._counts_by_node: dict[tuple[str, str], int] = {}

    def finalize(self) -> None:
        """What goes wrong here is ours: the sinks are written, and the run has done what it was for."""
        try:
            if self._account is not None:
                with self._workspace.tag_own_jobs():
                    self._write_items(self._account)
                self.entered_ids = self._account.entered_ids()
        except Exception as fault:
            self.item_log, self.counts, self.end_counts, self.entered_ids = None, {}, {}, None
            text = f"{type(fault).__name__}: {fault}"
            self.fault = message_without_values(text) if self._options.redact else text.splitlines()[0][:500]
            _log.warning("The items of the run could not be accounted for; the job is not affected. %s", self.fault)
            _log.debug("While accounting for items", exc_info=True)

    def _write_items(self, account: ItemAccount) -> None:
        drops = self._options.overflow == "drop"
        items = self._workspace.items
        first = f"{self._workspace.folder}/whole" if drops else items
        lines: list[SourceLog] = []
        rows: dict[str, DataFrame] = {}
        lanes: dict[str, DataFrame] = {}
        ways = list(account.source_stages())
        for way in ways:
            source = way.source.name
            line = SourceLog(source, way.stages, str(len(lines)))
            lines.append(line)
            lane = self._write_fast_path(account, way, f"{first}/{line.folder}")
            if lane is not None:
                lanes[source] = lane
            rows[source] = self._write(account.item_rows(way), f"{first}/{line.folder}") if lane is None else lane
        if not lines:
            return
        companies = {
            place: self._write(each, f"{items}/company/{place}")
            for place, each in account.contributor_tables(ways, lanes).items()
        }
        if drops:
            rows = self._mark_dropped(rows)
        for line in lines:
            self._count(line, rows[line.source], keyed=account.keyed)
        if drops:
            rows = {
                line.source: self._write(self._shorten_dropped(rows[line.source]), f"{items}/{line.folder}")
                for line in lines
            }
            self._workspace.remove(first)
        journal = ItemLog(Manifest(lines, self._options), rows, companies)
        self._workspace.write_text(f"{items}/{MANIFEST}", journal.manifest.to_json())
        self.item_log = journal
        self._deliver(journal)

    def _write_fast_path(self, account: ItemAccount, way: SourceStages, path: str) -> DataFrame | None:
        """Every item has at least one row in a lane. As many rows as items prove that it has no more."""
        journeys = account.fast_path_rows(way)
        if journeys is None:
            return None
        found = self._write(journeys, path)
        if found.count() == account.expected_rows[way.source.name]:
            return found
        self._workspace.remove(path)
        return None

    def _write(self, rows: DataFrame, path: str) -> DataFrame:
        if self._options.redact:
            rows = without_error_texts(rows)
        return self._workspace.write_and_read(
            rows, path, [name for name in rows.columns if name in ("hi", "lo", "key", "s0")]
        )

    def _mark_dropped(self, rows: dict[str, DataFrame]) -> dict[str, DataFrame]:
        """The rows that there is room for, by their ids; the others are marked."""
        from pyspark.sql import functions as F

        id = correlation_uuid(F.col("hi"), F.col("lo"))
        every = reduce(lambda one, other: one.union(other), (each.select(id.alias("id")) for each in rows.values()))
        cap = self._options.materialization_cap
        first = every.orderBy("id").limit(cap + 1).agg(F.count("*"), F.max("id")).first()
        assert first is not None
        over = id >= first[1] if first[0] > cap else F.lit(False)
        return {source: each.withColumn("dropped", F.when(over, True)) for source, each in rows.items()}

    def _shorten_dropped(self, rows: DataFrame) -> DataFrame:
        """Of those without room nothing that takes any."""
        from pyspark.sql import functions as F

        kept = F.col("dropped").isNull()
        if not self._options.drop_records:
            return rows.where(kept)
        large = [name for name in rows.columns if name == "others" or (name[0] in "sg" and name[1:].isdigit())]
        return rows.withColumns({name: F.when(kept, F.col(name)) for name in large})

    def _count(self, line: SourceLog, rows: DataFrame, *, keyed: bool) -> None:
        from pyspark.sql import functions as F

        asked = outcome_counts(line.stages)
        if not keyed:
            for word in INTERNAL_COUNTS:
                del asked[line.source, word]
        named = [column.alias(f"n{place}") for place, column in enumerate(asked.values())]
        named += [F.count("*").alias("all"), F.coalesce(F.sum("e0"), F.lit(0)).alias("rows")]
        ended = self.end_counts.setdefault(line.source, {})
        for row in rows.groupBy("outcome", "dropped").agg(*named).collect():
            for place, each in enumerate(asked):
                self._counts_by_node[each] = self._counts_by_node.get(each, 0) + row[f"n{place}"]
            outcome = Outcome(row["outcome"])
            ended[outcome] = ended.get(outcome, 0) + int(row["rows"])
            reason = reason_of(outcome, dropped=bool(row["dropped"]))
            self.counts[reason] = self.counts.get(reason, 0) + row["all"]
        self.counts = {reason: self.counts[reason] for reason in Reason if reason in self.counts}
        for each in asked:
            self._counts_by_node.setdefault(each, 0)

    def _deliver(self, journal: ItemLog) -> None:
        if self._outlets.wants_frames:
            self._outlets.write_frame(journal.records)
        many = sum(self.counts.values())
        cap = self._options.materialization_cap
        room = self._options.overflow == "materialize" or many <= cap
        kept = list(islice(journal.local_records(None if room else cap, whole=not room), None if room else cap))
        self.collector.record(kept, as_they_are=True)
        if self._outlets.wants_records:
            every = iter(kept) if room else journal.iterate_records()
            while some := list(islice(every, _BATCH_SIZE)):
                self._outlets.write(some)

    def check(self) -> None:
        """A key that two rows have names neither of them; and a row that was read and is in no record is lost."""
        if self._account is None or self.item_log is None:
            return
        for (node, word), rows in self._counts_by_node.items():
            if word != ROWS:
                continue
            items = self._counts_by_node[node, "items"]
            if self._counts_by_node.get((node, REPEATED)):
                self._options.report_mismatch(Mismatch(node, rows, items, aggregated=True))
            expected = self._account.expected_rows.get(node, rows)
            if expected != rows:
                self._options.report_mismatch(Mismatch(node, expected, rows, *self.find_strays()))

    def find_strays(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """(missing, surplus): items that can still be found in the sources and in no record, and the other way about;
        some of them, by their ids."""
        if self.entered_ids is None or self.item_log is None:
            return (), ()
        recorded = self.item_log.records.select("correlation_id")
        try:
            with self._workspace.tag_own_jobs():
                found = [
                    one.join(other, "correlation_id", "left_anti").limit(_MAX_NAMED).collect()
                    for one, other in ((self.entered_ids, recorded), (recorded, self.entered_ids))
                ]
        except Exception as gone:  # as a source that has changed; the numbers are told all the same
            _log.warning("Which items are missing cannot be told: %s", f"{gone}".splitlines()[0][:500])
            return (), ()
        missing, extra = (tuple(sorted(row["correlation_id"] for row in rows)) for rows in found)
        return missing, extra

    def node_counts(self, node: str) -> Mapping[str, int]:
        return {
            word: count
            for (name, word), count in self._counts_by_node.items()
            if name == node and word not in INTERNAL_COUNTS
        }
