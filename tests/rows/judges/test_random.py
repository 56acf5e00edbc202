"""Random queries: every output row comes back from its traced rows alone, or the query is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from headwater.errors import RowsRefused
from tests.oracles.profiles import LONG, QUICK
from tests.rows.judges.comparing import same_rows
from tests.rows.judges.lab import Lab
from tests.rows.judges.occurrences import Named, occurrence_names
from tests.rows.judges.random_queries import Query, queries
from tests.rows.judges.reexecution import faults
from tests.rows.judges.small_tables import SCHEMAS, small_tables, twist
from tests.rows.judges.traced import Traced, trace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TRIES = 5  # of other data, for a query that finds no rows


@dataclass
class Judge:
    spark: SparkSession
    folders: pytest.TempPathFactory
    tally: Counter[str] = field(default_factory=Counter)

    def judge(self, query: Query, seed: int, as_it_was: bool) -> None:
        """``as_it_was``: traced once more with all mentions of a table on the same folder, as queries usually are."""
        named = occurrence_names(query.spark, SCHEMAS, query.duck)
        lab = self._lab(named, seed)
        with lab.duck as duck:
            duck.open(named.tables)
            frame = lab.frame(named)
            try:
                traced = trace(frame, named.tables)
            except RowsRefused as refusal:
                self.tally["refused"] += 1
                note(f"refused: {refusal}")
                return
            found = faults(duck, named, traced)
            if found and not same_rows([tuple(row) for row in frame.collect()], duck.run(named.duck)):
                self.tally["the engines differ"] += 1
                return
            self.tally["traced"] += 1
            if found and met_by_others(query, traced):
                self.tally["met by others"] += 1
                return
            assert found == []
            if as_it_was and named.repeats:
                self.tally["traced as it was"] += 1
                assert by_table(traced, named) == by_table(trace(lab.shared_frame(named), set(SCHEMAS)))

    def _lab(self, named: Named, seed: int) -> Lab:
        """With data for which the query gives rows, if that is soon found."""
        for attempt in range(TRIES):
            lab = Lab.of(self.spark, self.folders.mktemp("random"), small_tables(seed + attempt))
            lab.duck.function("twist", twist, ["INTEGER"], "INTEGER")
            lab.duck.open(named.tables)
            if lab.duck.run(named.duck):
                break
        return lab


def met_by_others(query: Query, traced: Traced) -> bool:
    """A window's value was computed from rows beside the row's own; these are labelled `group`. With them in place of
    the source they take part in an outer join too, and find no partner there: rows that were never together."""
    coarse = set(traced.grains.values()) != {"exact"}
    return coarse and any(f"{side} JOIN" in query.spark for side in ("LEFT", "RIGHT", "FULL"))


def by_table(traced: Traced, named: Named | None = None) -> Counter[Any]:
    """For each output row the rows of each table, whichever mention they came by."""
    found: Counter[Any] = Counter()
    ids = {out_id: row for row, out_id in traced.rows}
    for out_id, row in ids.items():
        places = {
            (named.tables[name] if named else name, place)
            for name, pairs in traced.pairs.items()
            for place in pairs.get(out_id, ())
        }
        found[row, frozenset(places)] += 1
    return found


def run(judge: Judge, profile: Callable[[Any], Any]) -> None:
    @profile
    @given(query=queries(), seed=st.integers(0, 9999), as_it_was=st.booleans())
    def every(query: Query, seed: int, as_it_was: bool) -> None:
        judge.judge(query, seed, as_it_was)

    every()
    tally = judge.tally
    print(dict(tally))
    assert tally["the engines differ"] <= 0.05 * tally.total(), "queries that the engines answer alike are too rare"
    assert tally["refused"] <= 0.2 * tally.total(), "what is refused is too common"
    assert tally["met by others"] <= 0.02 * tally.total(), "an oracle that looks away says nothing"
    assert tally["traced as it was"] > 0


def test_every_row_comes_back(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> None:
    run(Judge(spark, tmp_path_factory), QUICK(6))


@pytest.mark.long
def test_every_row_of_many_comes_back(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> None:
    run(Judge(spark, tmp_path_factory), LONG(1500))
