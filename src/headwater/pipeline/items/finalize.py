"""Writes the items of a run, counts them and passes them to the sinks."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import reduce
from itertools import islice
from typing import TYPE_CHECKING

from headwater.model.items import Outcome, Reason, reason_of
from headwater.pipeline.declare.options import LineageOptions, Mismatch
from headwater.pipeline.items import stage_columns
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
"""Records that a sink receives at a time."""
_MAX_NAMED = 100
"""Maximum number of missing items in a message."""


class ItemFinalizer:
    """``item_log`` is None if no items are followed, or if it could not be written: then ``fault`` says why."""

    def __init__(
        self, account: ItemAccount | None, workspace: Workspace, options: LineageOptions, sink_group: SinkGroup
    ) -> None:
        self._account = account
        self._workspace = workspace
        self._options = options
        self._sink_group = sink_group
        self.collector = Collector(options)
        self.item_log: ItemLog | None = None
        self.entered_ids: DataFrame | None = None
        self.fault: str | None = None
        self.counts: dict[Reason, int] = {}
        self.end_counts: dict[str, dict[Outcome, int]] = {}
        """By source, the number of rows by outcome."""
        self._counts_by_node: dict[tuple[str, str], int] = {}

    def finalize(self) -> None:
        """An error here does not fail the run: its sinks are written already."""
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
        source_logs: list[SourceLog] = []
        rows: dict[str, DataFrame] = {}
        fast_path_rows: dict[str, DataFrame] = {}
        routes = list(account.source_stages())
        for route in routes:
            source = route.source.name
            source_log = SourceLog(source, route.stages, str(len(source_logs)))
            source_logs.append(source_log)
            fast_rows = self._write_fast_path(account, route, f"{first}/{source_log.folder}")
            if fast_rows is not None:
                fast_path_rows[source] = fast_rows
            rows[source] = (
                self._write(account.item_rows(route), f"{first}/{source_log.folder}")
                if fast_rows is None
                else fast_rows
            )
        if not source_logs:
            return
        contributor_tables = {
            position: self._write(table, f"{items}/company/{position}")
            for position, table in account.contributor_tables(routes, fast_path_rows).items()
        }
        if drops:
            rows = self._mark_dropped(rows)
        for source_log in source_logs:
            self._count(source_log, rows[source_log.source], keyed=account.keyed)
        if drops:
            rows = {
                source_log.source: self._write(
                    self._shorten_dropped(rows[source_log.source]), f"{items}/{source_log.folder}"
                )
                for source_log in source_logs
            }
            self._workspace.remove(first)
        item_log = ItemLog(Manifest(source_logs, self._options), rows, contributor_tables)
        self._workspace.write_text(f"{items}/{MANIFEST}", item_log.manifest.to_json())
        self.item_log = item_log
        self._deliver(item_log)

    def _write_fast_path(self, account: ItemAccount, route: SourceStages, path: str) -> DataFrame | None:
        """The fast path gives every item at least one row. As many rows as items prove that none has more."""
        rows = account.fast_path_rows(route)
        if rows is None:
            return None
        written = self._write(rows, path)
        if written.count() == account.expected_rows[route.source.name]:
            return written
        self._workspace.remove(path)
        return None

    def _write(self, rows: DataFrame, path: str) -> DataFrame:
        if self._options.redact:
            rows = without_error_texts(rows)
        return self._workspace.write_and_read(
            rows, path, [name for name in rows.columns if name in ("hi", "lo", "key", stage_columns.data(0))]
        )

    def _mark_dropped(self, rows: dict[str, DataFrame]) -> dict[str, DataFrame]:
        """Marks the rows beyond the cap, in the order of their ids."""
        from pyspark.sql import functions as F

        id = correlation_uuid(F.col("hi"), F.col("lo"))
        all_ids = reduce(
            lambda left, right: left.union(right), (source_rows.select(id.alias("id")) for source_rows in rows.values())
        )
        cap = self._options.materialization_cap
        first = all_ids.orderBy("id").limit(cap + 1).agg(F.count("*"), F.max("id")).first()
        assert first is not None
        has_no_room = id >= first[1] if first[0] > cap else F.lit(False)
        return {
            source: source_rows.withColumn("dropped", F.when(has_no_room, True)) for source, source_rows in rows.items()
        }

    def _shorten_dropped(self, rows: DataFrame) -> DataFrame:
        """Removes dropped rows, or their large columns."""
        from pyspark.sql import functions as F

        is_kept = F.col("dropped").isNull()
        if not self._options.drop_records:
            return rows.where(is_kept)
        large_columns = [name for name in rows.columns if name == "others" or stage_columns.is_large(name)]
        return rows.withColumns({name: F.when(is_kept, F.col(name)) for name in large_columns})

    def _count(self, source_log: SourceLog, rows: DataFrame, *, keyed: bool) -> None:
        from pyspark.sql import functions as F

        aggregates = outcome_counts(source_log.stages)
        if not keyed:
            for word in INTERNAL_COUNTS:
                del aggregates[source_log.source, word]
        named = [column.alias(f"n{position}") for position, column in enumerate(aggregates.values())]
        named += [F.count("*").alias("all"), F.coalesce(F.sum(stage_columns.emitted(0)), F.lit(0)).alias("rows")]
        counts_by_outcome = self.end_counts.setdefault(source_log.source, {})
        for row in rows.groupBy("outcome", "dropped").agg(*named).collect():
            for position, key in enumerate(aggregates):
                self._counts_by_node[key] = self._counts_by_node.get(key, 0) + row[f"n{position}"]
            outcome = Outcome(row["outcome"])
            counts_by_outcome[outcome] = counts_by_outcome.get(outcome, 0) + int(row["rows"])
            reason = reason_of(outcome, dropped=bool(row["dropped"]))
            self.counts[reason] = self.counts.get(reason, 0) + row["all"]
        self.counts = {reason: self.counts[reason] for reason in Reason if reason in self.counts}
        for key in aggregates:
            self._counts_by_node.setdefault(key, 0)

    def _deliver(self, item_log: ItemLog) -> None:
        if self._sink_group.wants_frames:
            self._sink_group.write_frame(item_log.records)
        record_count = sum(self.counts.values())
        cap = self._options.materialization_cap
        has_room = self._options.overflow == "materialize" or record_count <= cap
        local = list(
            islice(
                item_log.local_records(None if has_room else cap, only_complete=not has_room), None if has_room else cap
            )
        )
        self.collector.record(local, as_they_are=True)
        if self._sink_group.wants_records:
            records = iter(local) if has_room else item_log.iterate_records()
            while batch := list(islice(records, _BATCH_SIZE)):
                self._sink_group.write(batch)

    def check(self) -> None:
        """Reports keys that several rows share, and rows that were read and are in no record."""
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
        """(missing, surplus): ids of some items that are in the sources and in no record, and the reverse."""
        if self.entered_ids is None or self.item_log is None:
            return (), ()
        recorded = self.item_log.records.select("correlation_id")
        try:
            with self._workspace.tag_own_jobs():
                stray_rows = [
                    left.join(right, "correlation_id", "left_anti").limit(_MAX_NAMED).collect()
                    for left, right in ((self.entered_ids, recorded), (recorded, self.entered_ids))
                ]
        except Exception as error:  # for example a source that has changed; the counts are reported all the same
            _log.warning("The missing items are not known: %s", f"{error}".splitlines()[0][:500])
            return (), ()
        missing, extra = (tuple(sorted(row["correlation_id"] for row in rows)) for rows in stray_rows)
        return missing, extra

    def node_counts(self, node: str) -> Mapping[str, int]:
        return {
            word: count
            for (name, word), count in self._counts_by_node.items()
            if name == node and word not in INTERNAL_COUNTS
        }
