"""Compactions by Spark interleaved with roots that a worker archives: one archive, and it is correct."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater.client import Lineage
from headwater.model.records import Record
from headwater.records.archive.single_root import archive_root
from headwater.records.compaction.archive_attempt import CompactionOptions
from headwater.records.compaction.compaction import compact
from headwater.records.ledger import Records
from tests.records.spark.archive_checks import check_archive, load
from tests.records.spark.test_compaction import TOMORROW, one_content_each

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def archive_one(records: Records, root: str) -> None:
    archive_root(records.database, records.archive, root, now=records._now, within=lambda _: None)


def late(record: Record, node: str) -> Record:
    return Record(record.root_id, node, (record.node_id,), "LATE", "s3://late", record.recorded_at)


@pytest.mark.parametrize("durable_url", ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)], indirect=True)
def test_interleaved(durable_url: str, spark: SparkSession, tmp_path: Path) -> None:
    sent = one_content_each(3, 12)
    first, second = sent[0], next(record for record in sent if record.root_id != sent[0].root_id)
    with Lineage(durable_url) as lineage:
        records = lineage.records.at(str(tmp_path / "archive"))
        load(lineage, sent)
        archive_one(records, first.root_id)
        check_archive(lineage, [record for record in sent if record.root_id == first.root_id])
        answer = compact(
            lineage,
            spark,
            archive=str(tmp_path / "archive"),
            everything=True,
            now=TOMORROW,
            options=CompactionOptions(jsonl=True),
        )
        assert answer.archived == len([record for record in sent if record.root_id != first.root_id])
        check_archive(lineage, sent)
        sent += [late(first, "late-1"), late(second, "late-2")]
        load(lineage, sent[-2:])
        archive_one(records, second.root_id)
        check_archive(lineage, [*sent[:-2], sent[-1]])
        assert compact(lineage, spark, everything=True, now=TOMORROW).archived == 1
        check_archive(lineage, sent)
        assert {one.record.digest for one in records.find(limit=10_000)} == {record.digest for record in sent}
        traced = records.trace(second.root_id)
        assert "late-2" in {one.record_id for one in traced.traces}
        files = records.archive.storage()
        told = [
            json.loads(line) for file in records.archive.live_files("jsonl") for line in files.read_lines(file.path)
        ]
        # Spark and we write them alike: the same words, in the same order.
        assert len({(*one, *one["lineage"][0]) for one in told}) == 1
        assert "parent_ids" in told[0]["lineage"][0]
        assert {one["complete"] for one in told} == {True, False}
        of_second = {one["record_id"] for one in told if one["root_id"] == second.root_id}
        assert of_second == {one.record_id for one in traced.traces}
