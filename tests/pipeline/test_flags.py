"""Every combination of flags that a hop can have, each from a run on Spark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import headwater as hw
from headwater.errors import PipelineFailed
from headwater.model.items import ItemRecord, Outcome, Reason, SampleOutcome
from headwater.pipeline.run.result import Result
from tests.pipeline.comparison import FULL

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

ROWS = [(1, "fine"), (2, "later"), (3, "never"), (4, "nothing")]
SCHEMA = "id long, word string"


def flaky() -> Any:
    """Fails as the word in the row says. Defined here, so that it is shipped by value."""
    seen: set[int] = set()

    def call(row: Row) -> dict[str, Any] | None:
        if row.word == "never":
            raise ValueError("no such word")
        if row.word == "later" and row.id not in seen:
            seen.add(row.id)
            raise OSError("come again")
        return None if row.word == "nothing" else {"id": row.id, "word": row.word.upper()}

    return call


def pipeline(spark: SparkSession, folder: Path, on_error: str) -> hw.Pipeline:
    from pyspark.sql import functions as F

    p = hw.Pipeline("flags", namespace="tests")
    p.source("words", lambda spark: spark.createDataFrame(ROWS, SCHEMA).coalesce(1), key="id")
    p.source("others", lambda spark: spark.createDataFrame([(1, 10), (2, 20), (9, 90)], "id long, size long"), key="id")
    p.map("called", "words", flaky(), schema=SCHEMA, retries=2, on_error=on_error)
    p.join("joined", "called", "others", on="id")
    p.aggregate("summed", "joined", by="word", sizes=F.sum("size"))
    p.sink("out", "summed", format="parquet", path=str(folder / "out"))
    return p


def by_key(result: Result) -> dict[tuple[str, int], ItemRecord]:
    found = [ItemRecord.from_dict(row.asDict(recursive=True)) for row in result.items.collect()]
    return {(each.source, json.loads(each.key)["id"]): each for each in found}


def hop(record: ItemRecord, node: str) -> Outcome:
    return next(each.outcome for each in record.hops if each.node == node)


def test_emitted_retried_and_dead_lettered(spark: SparkSession, tmp_path: Path) -> None:
    options = FULL.with_(location=str(tmp_path / "items"))
    result = pipeline(spark, tmp_path, "dead_letter").start(spark, options=options).wait()
    items = by_key(result)
    fine, later, never, nothing = (items["words", number] for number in (1, 2, 3, 4))
    assert hop(fine, "called").words == "Emitted"
    assert hop(later, "called").words == "Emitted | Retried"
    assert next(each.retries for each in later.hops if each.node == "called") == 1
    assert hop(fine, "joined").words == "Emitted | Joined"
    assert hop(items["others", 1], "summed").words == "Emitted | Aggregated"
    assert never.outcome == Outcome.DEAD_LETTERED | Outcome.ERROR
    assert (never.node, never.reason, never.retries) == ("called", Reason.DEAD_LETTERED, 2)
    assert never.error == "ValueError: no such word"
    assert never.sample_outcome is SampleOutcome.DEAD_LETTER
    assert (nothing.outcome.words, nothing.sample_outcome) == ("FilteredOut", SampleOutcome.SKIPPED)
    assert (fine.node, fine.reason, fine.sample_outcome) == ("out", Reason.EMITTED, SampleOutcome.SUCCESS)
    assert (items["others", 9].node, items["others", 9].reason) == ("joined", Reason.FILTERED_OUT)
    assert result.counts == {Reason.DEAD_LETTERED: 1, Reason.FILTERED_OUT: 2, Reason.EMITTED: 4}
    called = result.report.node("called").counts
    assert called == {"items": 4, "emitted": 2, "filtered": 1, "retried": 1, "errors": 1, "dead_letters": 1}


def test_skipped(spark: SparkSession, tmp_path: Path) -> None:
    options = FULL.with_(location=str(tmp_path / "items"))
    items = by_key(pipeline(spark, tmp_path, "skip").start(spark, options=options).wait())
    never = items["words", 3]
    assert (never.outcome.words, never.reason, never.error) == (
        "FilteredOut",
        Reason.FILTERED_OUT,
        "ValueError: no such word",
    )


class RecordingSink:
    """A sink that keeps its records."""

    def __init__(self) -> None:
        self.records: list[ItemRecord] = []
        self.closed = 0

    def open(self, run: Any) -> None:
        pass

    def write(self, records: Any) -> None:
        self.records += records

    def close(self) -> None:
        self.closed += 1


def test_an_unhandled_failure(spark: SparkSession, tmp_path: Path) -> None:
    """The run fails, and the records still exist: also of items that were not processed."""
    sink = RecordingSink()
    options = FULL.with_(location=str(tmp_path / "items"))
    with pytest.raises(PipelineFailed, match=r"node 'called'.*ValueError: no such word"):
        pipeline(spark, tmp_path, "fail").start(spark, options=options, sinks=[sink]).wait()
    assert not (tmp_path / "out").exists()
    assert sink.closed == 1
    ended = {(each.source, json.loads(each.key)["id"]): each for each in sink.records}
    assert len(sink.records) == len(ended) == 7
    assert (ended["words", 3].outcome.words, ended["words", 3].node) == ("Error", "called")
    assert ended["words", 3].sample_outcome is SampleOutcome.ERROR
    assert (ended["words", 2].outcome.words, ended["words", 2].node) == ("Emitted | Retried", "called")
    assert [each.node for each in ended["words", 4].hops] == ["words"]  # it came after the failure
