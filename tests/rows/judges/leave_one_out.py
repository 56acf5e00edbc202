"""Exactly the rows that matter: drop one row of one occurrence, and see which output rows have fewer derivations.

The values of an output row are a poor judge: a sum does not change with a zero, nor DISTINCT or EXISTS with one of
several witnesses. The number of its derivations always does. A monotone query therefore comes with another one that
counts them: its EXISTS is a join there, its DISTINCT and GROUP BY a `count(*)` for each key.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from tests.rows.judges.occurrences import Named
from tests.rows.judges.traced import Traced
from tests.support.duck import Duck, Place, Values

Contributors = Mapping[Values, Mapping[str, frozenset[Place]]]  # by output key, by occurrence


@dataclass(frozen=True)
class Monotone:
    """A query, and what counts the derivations of its rows: the first columns of both are the key of a row."""

    named: Named
    counting: str
    key_width: int


def contributors(duck: Duck, query: Monotone) -> Contributors:
    tables = query.named.tables
    duck.open(tables)
    whole = _counts(duck, query)
    found: dict[Values, dict[str, set[Place]]] = {key: defaultdict(set) for key in whole}
    for name, table in tables.items():
        places = duck.places(table)
        spared = ((str(at), *place) for at in range(len(places)) for place in places[:at] + places[at + 1 :])
        duck.restrict(name, table, spared)
        for at, place in enumerate(places):
            fewer = _counts(duck, query, str(at))
            for key in (key for key, count in whole.items() if fewer.get(key, 0) < count):
                found[key][name].add(place)
        duck.open({name: table})
    return {key: {name: frozenset(by[name]) for name in tables} for key, by in found.items()}


def _counts(duck: Duck, query: Monotone, about: str | None = None) -> dict[Values, int]:
    return {row[: query.key_width]: row[-1] for row in duck.run(query.counting, about)}


def faults(duck: Duck, query: Monotone, traced: Traced) -> list[str]:
    """Rows traced in vain, where the trace calls itself exact, and rows that it misses."""
    expected = contributors(duck, query)
    said: dict[Values, dict[str, set[Place]]] = defaultdict(lambda: defaultdict(set))
    for row, out_id in traced.rows:  # equal rows are judged together: which derivation is whose, nobody can tell
        for name, pairs in traced.pairs.items():
            said[row[: query.key_width]][name] |= pairs.get(out_id, frozenset())
    found = []
    if said.keys() != expected.keys():
        found.append(f"rows {list(said)} are traced, the query has {list(expected)}")
    for key, by_name in expected.items():
        for name, places in by_name.items():
            if missed := places - said[key][name]:
                found.append(f"{key} misses {sorted(missed)} of {name}")
            if traced.grains[name] == "exact" and (vain := said[key][name] - places):
                found.append(f"{key} has {sorted(vain)} of {name} in vain")
    return found
