"""No dependency goes missing: change a source's column, and whatever changes in the output must have an edge from it.

The judge is SQLite: it runs the same query on the data before and after. It knows nothing of plans or of lineage.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.plan.lineage import PlanLineage
from tests.oracles.profiles import LONG, QUICK
from tests.plan.random_queries import TABLES, queries
from tests.plan.reading import table_of, trace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Rows = Sequence[Sequence[int | None]]
Data = Mapping[str, Rows]
ROWS = 4


@pytest.fixture(scope="module")
def integers(plain_spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    plain_spark.sql(f"CREATE DATABASE integers LOCATION '{tmp_path_factory.mktemp('integers')}'")
    before = plain_spark.catalog.currentDatabase()
    plain_spark.sql("USE integers")
    for name, columns in TABLES.items():
        plain_spark.sql(f"CREATE TABLE {name} ({', '.join(f'{column} INT' for column in columns)}) USING parquet")
    yield plain_spark
    plain_spark.sql(f"USE {before}")
    plain_spark.sql("DROP DATABASE integers CASCADE")


def some_data(chance: random.Random) -> Data:
    return {name: [[_value(chance) for _ in columns] for _ in range(ROWS)] for name, columns in TABLES.items()}


def _value(chance: random.Random) -> int | None:
    return chance.choice([None, 0, 1, 1, 2, 2, 3])


def answer(query: str, data: Data) -> list[list[object]]:
    """The values of each output column, in no order."""
    database = sqlite3.connect(":memory:")
    try:
        for name, columns in TABLES.items():
            database.execute(f"CREATE TABLE {name} ({', '.join(f'{column} INT' for column in columns)})")
            database.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})", data[name])
        cursor = database.execute(query)
        width = len(cursor.description)
        rows = cursor.fetchall()
        return [sorted((row[at] for row in rows), key=lambda value: (value is not None, value)) for at in range(width)]
    finally:
        database.close()


def missing(query: str, lineage: PlanLineage, chance: random.Random, tries: int = 4) -> list[str]:
    """Output columns that changed with a source's column and have no edge from it."""
    named = [(table_of(source), source) for source in lineage.sources]

    def known(derivations: Sequence[object]) -> set[tuple[str, str]]:
        return {(named[d.source][0], d.field) for d in derivations}  # type: ignore[attr-defined]

    whole = known(lineage.whole)
    edges = [known(column.derivations) | whole for column in lineage.columns]
    found = []
    for _ in range(tries):
        data = some_data(chance)
        before = answer(query, data)
        for table, columns in TABLES.items():
            for place, column in enumerate(columns):
                changed = [[*row[:place], _value(chance), *row[place + 1 :]] for row in data[table]]
                after = answer(query, {**data, table: changed})
                for at, (old, new) in enumerate(zip(before, after, strict=True)):
                    if old != new and (table, column) not in edges[at]:
                        found.append(f"column {at} changes with {table}.{column}")
    return found


def check(integers: SparkSession, query: str, seed: int) -> None:
    lineage = trace(integers.sql(query))
    assert not lineage.gaps
    assert missing(query, lineage, random.Random(seed)) == []


@QUICK(120)
@given(query=queries(), seed=st.integers(0, 2**32))
def test_nothing_is_missing(integers: SparkSession, query: str, seed: int) -> None:
    check(integers, query, seed)


@pytest.mark.long
@LONG(3000)
@given(query=queries(), seed=st.integers(0, 2**32))
def test_nothing_is_missing_in_many(integers: SparkSession, query: str, seed: int) -> None:
    check(integers, query, seed)


def test_the_judge_notices(integers: SparkSession) -> None:
    """What it would say if the filter's edge, or a column's, were forgotten."""
    query = "SELECT t.a AS x FROM t WHERE t.b < 2"
    lineage = trace(integers.sql(query))
    assert missing(query, lineage, random.Random(1)) == []
    assert "column 0 changes with t.b" in missing(query, replace(lineage, whole=()), random.Random(1))
    bare = replace(lineage, columns=tuple(replace(column, derivations=()) for column in lineage.columns))
    assert "column 0 changes with t.a" in missing(query, bare, random.Random(1))
