"""The query on an output row's traced rows alone gives that row again: what a trace misses, shows.

Sets of rows per occurrence do not say which row of one goes with which of another. Two things follow for the judge:

- Rows that keep others away (the right of EXCEPT, a subquery under NOT) are not traced, yet without them the traced
  rows may combine to what the whole query never had. Such occurrences stay whole.
- Traced rows may also combine to parts of other output rows. These do no harm, except that they may push the wanted
  one beyond an outermost LIMIT: then it has to be there without the LIMIT.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import sqlglot

from tests.rows.judges.comparing import copies_of, same_row, same_rows
from tests.rows.judges.occurrences import Named
from tests.rows.judges.traced import Traced
from tests.support.duck import Duck, Values


@dataclass(frozen=True)
class Lost:
    row: Values
    out_id: str
    instead: tuple[Values, ...]  # what the traced rows give, or the unequal rows that share the id
    shared: bool = False

    def __str__(self) -> str:
        if self.shared:
            return f"{self.row} has an id that unequal rows have too: {list(self.instead[:5])}"
        return f"{self.row} does not come back from its traced rows; they give {list(self.instead[:5])}"


def faults(duck: Duck, named: Named, traced: Traced, sample: int | None = None) -> list[str]:
    """All that is wrong with a trace of every row, in words; of its rows at most ``sample`` are re-executed."""
    found = []
    duck.open(named.tables)
    expected = duck.run(named.duck)
    if not same_rows(once([row for row, _ in traced.rows]), once(expected)):
        found.append(f"the traced rows are not the query's: {len(traced.rows)} against {len(expected)}")
    known = {out_id for _, out_id in traced.rows}
    for name, pairs in traced.pairs.items():
        if strangers := pairs.keys() - known:
            found.append(f"{name} has pairs of {len(strangers)} ids that no output row has")
    found += map(str, lost_rows(duck, named, traced, sample))
    return found


def lost_rows(duck: Duck, named: Named, traced: Traced, sample: int | None = None) -> list[Lost]:
    """Equal rows under one id have to come back in their number."""
    duck.open(named.tables)
    expected = duck.run(named.duck)
    for name in named.tables.keys() - named.negated:
        pairs = traced.pairs[name].items()
        kept = [(out_id, file, row) for out_id, places in pairs for file, row in places]
        duck.restrict(name, named.tables[name], kept)
    rows: dict[str, list[Values]] = defaultdict(list)
    for row, out_id in traced.rows:
        rows[out_id].append(row)
    unlimited = without_limit(named.duck)
    lost = []
    for out_id, copies in list(rows.items())[:sample]:
        row = copies[0]
        alone = not any(same_row(row, others[0]) for other, others in rows.items() if other != out_id)
        wanted = max(len(copies), copies_of(row, expected)) if alone else len(copies)
        again = duck.run(named.duck, out_id)
        if copies_of(row, again) < wanted and unlimited is not None:
            again = duck.run(unlimited, out_id)
        if not all(same_row(row, copy) for copy in copies):
            lost.append(Lost(row, out_id, tuple(copies), shared=True))
        elif copies_of(row, again) < wanted:
            lost.append(Lost(row, out_id, tuple(again)))
    return lost


def once(rows: Sequence[Values]) -> list[Values]:
    """Without further copies: a trace may tell of equal rows once."""
    return [row for place, row in enumerate(rows) if copies_of(row, rows[:place]) == 0]


def without_limit(sql: str) -> str | None:
    """The query without its outermost LIMIT; None if it has none."""
    tree = sqlglot.parse_one(sql, read="duckdb")
    if tree.args.get("limit") is None:
        return None
    tree.set("limit", None)
    return tree.sql("duckdb")
