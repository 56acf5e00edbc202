"""The items of a run, written down, counted and handed on."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import reduce
from itertools import islice
from typing import TYPE_CHECKING

from headwater.model.items import Outcome, Reason, reason_of
from headwater.pipeline.declare.options import LineageOptions, Mismatch
from headwater.pipeline.items.accounts import Account, Way
from headwater.pipeline.items.collector import Collector
from headwater.pipeline.items.item_ids import correlation
from headwater.pipeline.items.item_log import MANIFEST, Journal, Line, Manifest
from headwater.pipeline.items.item_records import REPEATED, ROWS, UNTOLD, counts, without_error_texts
from headwater.pipeline.run.workspace import Workspace
from headwater.pipeline.sinks import Outlets
from headwater.redaction.literals import message_without_values

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_log = logging.getLogger("headwater")
_AT_ONCE = 1_000
"""Records handed to a sink at a time."""
_NAMED = 100
"""So many are named where items are missing."""


class Settlement:
    """``journal`` is what was written, None where no items are followed; ``fault`` why it could not be."""

    def __init__(
        self, account: Account | None, workspace: Workspace, options: LineageOptions, outlets: Outlets
    ) -> None:
        self._account = account
        self._workspace = workspace
        self._options = options
        self._outlets = outlets
        self.collector = Collector(options)
        self.journal: Journal | None = None
        self.entered: DataFrame | None = None
        self.fault: str | None = None
        self.counts: dict[Reason, int] = {}
        self.ended: dict[str, dict[Outcome, int]] = {}
        """By source, how its rows ended."""
        self._of_nodes: dict[tuple[str, str], int] = {}

    def settle(self) -> None:
        """What goes wrong here is ours: the sinks are written, and the run has done what it was for."""
        try:
            if self._account is not None:
                with self._workspace.own_work():
                    self._settle(self._account)
                self.entered = self._account.entered()
        except Exception as fault:
            self.journal, self.counts, self.ended, self.entered = None, {}, {}, None
            text = f"{type(fault).__name__}: {fault}"
            self.fault = message_without_values(text) if self._options.redact else text.splitlines()[0][:500]
            _log.warning("The items of the run could not be accounted for; the job is not affected. %s", self.fault)
            _log.debug("While accounting for items", exc_info=True)

    def _settle(self, account: Account) -> None:
        drops = self._options.overflow == "drop"
        items = self._workspace.items
        first = f"{self._workspace.folder}/whole" if drops else items
        lines: list[Line] = []
        rows: dict[str, DataFrame] = {}
        lanes: dict[str, DataFrame] = {}
        ways = list(account.ways())
        for way in ways:
            source = way.source.name
            line = Line(source, way.stations, str(len(lines)))
            lines.append(line)
            lane = self._in_lane(account, way, f"{first}/{line.folder}")
            if lane is not None:
                lanes[source] = lane
            rows[source] = self._written(account.journeys(way), f"{first}/{line.folder}") if lane is None else lane
        if not lines:
            return
        companies = {
            place: self._written(each, f"{items}/company/{place}")
            for place, each in account.companies(ways, lanes).items()
        }
        if drops:
            rows = self._with_room(rows)
        for line in lines:
            self._count(line, rows[line.source], keyed=account.keyed)
        if drops:
            rows = {
                line.source: self._written(self._left(rows[line.source]), f"{items}/{line.folder}") for line in lines
            }
            self._workspace.remove(first)
        journal = Journal(Manifest(lines, self._options), rows, companies)
        self._workspace.write_text(f"{items}/{MANIFEST}", journal.manifest.to_json())
        self.journal = journal
        self._hand_on(journal)

    def _in_lane(self, account: Account, way: Way, path: str) -> DataFrame | None:
        """Every item has at least one row in a lane. As many rows as items prove that it has no more."""
        journeys = account.lane(way)
        if journeys is None:
            return None
        found = self._written(journeys, path)
        if found.count() == account.expected[way.source.name]:
            return found
        self._workspace.remove(path)
        return None

    def _written(self, rows: DataFrame, path: str) -> DataFrame:
        if self._options.redact:
            rows = without_error_texts(rows)
        return self._workspace.written(rows, path, [name for name in rows.columns if name in ("hi", "lo", "key", "s0")])

    def _with_room(self, rows: dict[str, DataFrame]) -> dict[str, DataFrame]:
        """The rows that there is room for, by their ids; the others are marked."""
        from pyspark.sql import functions as F

        id = correlation(F.col("hi"), F.col("lo"))
        every = reduce(lambda one, other: one.union(other), (each.select(id.alias("id")) for each in rows.values()))
        cap = self._options.materialization_cap
        first = every.orderBy("id").limit(cap + 1).agg(F.count("*"), F.max("id")).first()
        assert first is not None
        over = id >= first[1] if first[0] > cap else F.lit(False)
        return {source: each.withColumn("dropped", F.when(over, True)) for source, each in rows.items()}

    def _left(self, rows: DataFrame) -> DataFrame:
        """Of those without room nothing that takes any."""
        from pyspark.sql import functions as F

        kept = F.col("dropped").isNull()
        if not self._options.drop_records:
            return rows.where(kept)
        large = [name for name in rows.columns if name == "others" or (name[0] in "sg" and name[1:].isdigit())]
        return rows.withColumns({name: F.when(kept, F.col(name)) for name in large})

    def _count(self, line: Line, rows: DataFrame, *, keyed: bool) -> None:
        from pyspark.sql import functions as F

        asked = counts(line.stations)
        if not keyed:
            for word in UNTOLD:
                del asked[line.source, word]
        named = [column.alias(f"n{place}") for place, column in enumerate(asked.values())]
        named += [F.count("*").alias("all"), F.coalesce(F.sum("e0"), F.lit(0)).alias("rows")]
        ended = self.ended.setdefault(line.source, {})
        for row in rows.groupBy("outcome", "dropped").agg(*named).collect():
            for place, each in enumerate(asked):
                self._of_nodes[each] = self._of_nodes.get(each, 0) + row[f"n{place}"]
            outcome = Outcome(row["outcome"])
            ended[outcome] = ended.get(outcome, 0) + int(row["rows"])
            reason = reason_of(outcome, dropped=bool(row["dropped"]))
            self.counts[reason] = self.counts.get(reason, 0) + row["all"]
        self.counts = {reason: self.counts[reason] for reason in Reason if reason in self.counts}
        for each in asked:
            self._of_nodes.setdefault(each, 0)

    def _hand_on(self, journal: Journal) -> None:
        if self._outlets.wants_frames:
            self._outlets.write_frame(journal.records)
        many = sum(self.counts.values())
        cap = self._options.materialization_cap
        room = self._options.overflow == "materialize" or many <= cap
        kept = list(islice(journal.at_hand(None if room else cap, whole=not room), None if room else cap))
        self.collector.record(kept, as_they_are=True)
        if self._outlets.wants_records:
            every = iter(kept) if room else journal.one_by_one()
            while some := list(islice(every, _AT_ONCE)):
                self._outlets.write(some)

    def check(self) -> None:
        """A key that two rows have names neither of them; and a row that was read and is in no record is lost."""
        if self._account is None or self.journal is None:
            return
        for (node, word), rows in self._of_nodes.items():
            if word != ROWS:
                continue
            items = self._of_nodes[node, "items"]
            if self._of_nodes.get((node, REPEATED)):
                self._options.mismatched(Mismatch(node, rows, items, aggregated=True))
            expected = self._account.expected.get(node, rows)
            if expected != rows:
                self._options.mismatched(Mismatch(node, expected, rows, *self.strays()))

    def strays(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """(missing, surplus): items that can still be found in the sources and in no record, and the other way about;
        some of them, by their ids."""
        if self.entered is None or self.journal is None:
            return (), ()
        recorded = self.journal.records.select("correlation_id")
        try:
            with self._workspace.own_work():
                found = [
                    one.join(other, "correlation_id", "left_anti").limit(_NAMED).collect()
                    for one, other in ((self.entered, recorded), (recorded, self.entered))
                ]
        except Exception as gone:  # as a source that has changed; the numbers are told all the same
            _log.warning("Which items are missing cannot be told: %s", f"{gone}".splitlines()[0][:500])
            return (), ()
        missing, extra = (tuple(sorted(row["correlation_id"] for row in rows)) for rows in found)
        return missing, extra

    def of_node(self, node: str) -> Mapping[str, int]:
        return {word: count for (name, word), count in self._of_nodes.items() if name == node and word not in UNTOLD}
