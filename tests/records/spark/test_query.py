"""SQL over the ledger, by DuckDB and by Spark: the same answers, each record once, and queries only."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater.errors import QueryError
from headwater.model.records import Record
from headwater.records.compaction.compaction import compact, expire
from headwater.records.query.sql import QueryRows, query, query_by_spark
from headwater.store.store import Store
from tests.records.oracle import NOON
from tests.records.spark.archive_checks import load
from tests.records.spark.test_compaction import IN_48_HOURS, TOMORROW, chain

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ATHENA = """
SELECT
  record_id,
  root_id,
  unnested_lineage.action_taken,
  from_unixtime(unnested_lineage.recordedAt) as recordedAt,
  unnested_lineage.storage_location
FROM
  "lake"."archive",
  UNNEST(lineage) as t(unnested_lineage)
"""
ACTIONS = ("RAW_DATA_INPUT", "PROFILE_COMPLETE", "DQ_CHECK_PASS", "GLUE_BATCH_SPLIT", "CALCULATION_COMPLETE")


def calculation(root: str) -> list[Record]:
    """The records of one item in a pipeline."""
    nodes = [root, *(f"{root}/{action}" for action in ACTIONS)]
    return [
        Record(root, nodes[i + 1], (nodes[i],), action, f"s3://bucket/{i}", NOON + timedelta(minutes=i))
        for i, action in enumerate(ACTIONS)
    ]


@pytest.fixture
def store(sqlite_url: str, spark: SparkSession, tmp_path: Path) -> Any:
    with Store(sqlite_url) as store:
        load(store, [*calculation("one"), *chain("old", 2)])
        compact(store, spark, archive=str(tmp_path / "archive"), now=TOMORROW)
        expire(store, now=IN_48_HOURS)
        load(store, [*chain("old", 2), *chain("new", 3, day=1)])
        yield store


def engines(spark: SparkSession) -> dict[str, Callable[..., QueryRows]]:
    """Both engines. They share one archive, because creating it takes longer than all queries."""
    return {
        "duckdb": query,
        "spark": lambda store, text, **options: query_by_spark(store, spark, text, **options),
    }


def test_both_engines_give_the_same_answers(store: Store, spark: SparkSession) -> None:
    for ask in engines(spark).values():
        check_answers(store, ask)
    # Of a node that is archived, another content is hot.
    load(store, [Record("old", "old-0", ("old",), "OTHER", "s3://b/k", NOON)])
    for ask in engines(spark).values():
        check_conflicts(store, ask)


def check_answers(store: Store, ask: Callable[..., QueryRows]) -> None:
    """The query unchanged, and as the dialect of Athena."""
    steps = [(f"one/{ACTIONS[-1]}", "one", action) for action in (*ACTIONS, "DATA_COMPACTION")]
    for dialect in (None, "athena"):
        answer = ask(store, ATHENA + " WHERE root_id = 'one'", dialect=dialect)
        assert answer.columns == ("record_id", "root_id", "action_taken", "recordedAt", "storage_location")
        assert [row[:3] for row in answer.rows] == steps
        moments = [at(row[3]) for row in answer.rows]
        assert moments[:-1] == [NOON + timedelta(minutes=i) for i in range(5)]
        assert moments[-1] == TOMORROW
        assert [row[4] for row in answer.rows[:-1]] == [f"s3://bucket/{i}" for i in range(5)]

    # What was archived, expired, and came again is one record; what is hot alone is there.
    counted = "SELECT root_id, count(*) AS n, min(recordedAt) AS first FROM {} GROUP BY root_id ORDER BY root_id"
    noon = int(NOON.timestamp())
    assert ask(store, counted.format("records")).rows == (("new", 3, noon + 86_400), ("old", 2, noon), ("one", 5, noon))
    assert [row[:2] for row in ask(store, counted.format("hot")).rows] == [("new", 3), ("old", 2)]


def check_conflicts(store: Store, ask: Callable[..., QueryRows]) -> None:
    """Both tables show it for that node, and for no other."""
    which = "SELECT node_id, action_taken FROM {} WHERE conflict ORDER BY action_taken"
    both = (("old-0", "OTHER"), ("old-0", "STEP"))
    assert ask(store, which.format("records")).rows == both
    assert ask(store, which.format("hot")).rows == both
    assert "conflict" in ask(store, "SELECT * FROM records").columns
    assert ask(store, "SELECT day, complete FROM archive ORDER BY record_id", limit=1).more
    with pytest.raises(QueryError, match=r"'others' is not a table of the ledger\. Tables: archive, hot, records\."):
        ask(store, "SELECT * FROM others")
    with pytest.raises(QueryError, match="The query failed"):
        ask(store, "SELECT nothing FROM archive")


def at(value: Any) -> datetime:
    moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
@pytest.mark.parametrize(
    "text",
    [
        "COPY archive TO 'x'",
        "CREATE TABLE x AS SELECT 1",
        "INSERT INTO archive SELECT 1",
        "DELETE FROM archive",
        "SELECT 1; SELECT 2",
        "SET enable_external_access = true",
        "SELECT * INTO x FROM archive",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM query('SELECT 1')",
        "SELECT * FROM (SELECT * FROM read_blob('/etc/passwd'))",
        "SELECT reflect('java.lang.System', 'getenv', 'HOME')",
        "SELECT getenv('HOME')",
        "ATTACH 'x'",
        "",
        "nonsense",
    ],
)
def test_only_queries(engine: str, text: str) -> None:
    from headwater.records.query.statements import parse_statement

    with pytest.raises(QueryError):
        parse_statement(text, engine, None)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM parquet.`/etc`",
        "SELECT TRANSFORM(root_id) USING 'cat' FROM hot",
        "SELECT * FROM json.`/etc/passwd`",
        "CACHE TABLE x AS SELECT 1",
    ],
)
def test_only_queries_on_spark(text: str) -> None:
    from headwater.records.query.statements import parse_statement

    with pytest.raises(QueryError):
        parse_statement(text, "spark", None)
