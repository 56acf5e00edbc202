"""The table in the original design of the ledger, by its own query, from the example's records."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater.client import Lineage
from headwater.records.compaction.compaction import compact
from headwater.records.query.sql import QueryRows
from tests.conftest import ROOT
from tests.records.conftest import load_all
from tests.records.spark.test_query import at, engines
from tests.records.test_documentation import blocks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEED = """
SELECT
  record_id,
  root_id,
  unnested_lineage.action_taken,
  from_unixtime(unnested_lineage.recordedAt) as recordedAt,
  unnested_lineage.storage_location
FROM
  "<glue_catalogue>"."<data_lineage_table>",
  UNNEST(lineage) as t(unnested_lineage)
""".strip()
"""As the seed has it, to the letter."""
TABLE = '"<glue_catalogue>"."<data_lineage_table>"'
COLUMNS = ("record_id", "root_id", "action_taken", "recordedAt", "storage_location")
FILE = "activity-2026-11-15.csv"
LAKE = "s3://carbon-lake"
COMPACTED = datetime(2026, 11, 20, 1, tzinfo=UTC)
BEGIN = [
    ("RAW_DATA_INPUT", 1794700800, f"{LAKE}/raw/{FILE}"),
    ("PROFILE_COMPLETE", 1794700812, f"{LAKE}/profiled/activity-2026-11-15.json"),
]
CHECKED = ("DQ_CHECK_PASS", 1794700840, f"{LAKE}/checked/activity-2026-11-15.parquet")


@pytest.fixture
def archived(sqlite_url: str, spark: SparkSession, tmp_path: Path) -> Any:
    """Sent, loaded and compacted, as a pipeline, a worker and the nightly compaction would."""
    lines = (ROOT / "examples" / "carbon_records.jsonl").read_text().splitlines()
    with Lineage(sqlite_url) as lineage:
        assert not lineage.records.send([json.loads(line) for line in lines]).refused
        assert load_all(lineage.records) == 8
        done = compact(lineage, spark, archive=str(tmp_path / "archive"), now=COMPACTED)
        assert (done.archived, done.traces) == (8, 3)
        yield lineage


def expected(location: str) -> dict[str, list[tuple[str, int, str]]]:
    """Step by step, for each leaf: two calculations, and the file that a check rejected."""
    end = ("DATA_COMPACTION", int(COMPACTED.timestamp()), location)
    calculated = {
        f"emissions-{number}": [
            *BEGIN,
            CHECKED,
            ("GLUE_BATCH_SPLIT", 1794700861, f"{LAKE}/batches/{number}.jsonl"),
            ("CALCULATION_COMPLETE", 1794700875 + number, f"{LAKE}/calculated/{number}.parquet"),
            end,
        ]
        for number in (1, 2)
    }
    rejected = [*BEGIN, ("DQ_CHECK_FAIL", 1794700841, f"{LAKE}/rejected/{FILE}"), end]
    return {**calculated, "activity-rejected": rejected}


def test_the_query_gives_the_table(archived: Lineage, spark: SparkSession, tmp_path: Path) -> None:
    for ask in engines(spark).values():
        check_table(archived, ask, str(tmp_path / "archive"))


def check_table(archived: Lineage, ask: Callable[..., QueryRows], location: str) -> None:
    (documented,) = blocks("sql")
    asked = SEED.replace(TABLE, '"lake"."archive"')
    assert documented.strip() == SEED.replace(TABLE, "archive")
    for text, dialect in ((asked, None), (asked, "athena"), (documented, None)):
        answer = ask(archived, text, dialect=dialect)
        assert answer.columns == COLUMNS
        found: dict[str, list[tuple[str, int, str]]] = {}
        for record_id, root_id, action, moment, where in answer.rows:  # in the order in which they come
            assert root_id == FILE
            found.setdefault(record_id, []).append((action, int(at(moment).timestamp()), where))
        assert found == expected(location)
