"""`redact=True`: no value of a row in anything that a run records, except in dead letters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import headwater as hw
from headwater.errors import PipelineFailed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VALUES = ("ada@example.org", "grace@example.org")


def price(row: Any) -> Any:
    if row.mail == "grace@example.org":
        raise ValueError(f"no price for {row.mail}")
    return row


def pipeline(folder: Path, name: str, on_error: str) -> hw.Pipeline:
    p = hw.Pipeline(name, namespace="test")
    rows = p.source("people", lambda spark: spark.read.parquet(f"{folder}/people"), key="mail")
    priced = p.map("priced", rows, price, schema="mail string", on_error=on_error)
    p.sink("out", priced, format="parquet", path=f"{folder}/{name}", mode="overwrite")
    return p


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_no_value_of_a_row(spark: SparkSession, tmp_path: Path) -> None:
    spark.createDataFrame([(each,) for each in VALUES], "mail string").write.parquet(f"{tmp_path}/people")
    options = hw.LineageOptions(mode="full", location=str(tmp_path / "work"))
    file = tmp_path / "events.jsonl"
    hw.enable(spark, sink=file.as_uri(), spool=tmp_path / "spool")
    try:
        result = pipeline(tmp_path, "skips", "skip").run(spark, options=options)
        with pytest.raises(PipelineFailed, match=r"grace@example\.org"):
            pipeline(tmp_path, "fails", "fail").run(spark, options=options)
    finally:
        hw.disable(spark)
    records = [row.asDict(recursive=True) for row in result.items.collect()]
    assert {record["key"] for record in records} == {'{"mail":"[redacted]"}'}
    assert {record["error"] for record in records} == {None, "ValueError"}
    items = b"".join(content for name, content in contents(tmp_path / "work").items() if "/items/" in name)
    events = file.read_bytes()
    for value in VALUES:
        assert value.encode() not in items
        assert value.encode() not in events
        assert value not in str(records)
    assert b"failed at node 'priced': ValueError" in events
    assert b"PipelineFailed: Pipeline 'fails' failed at node 'priced': ValueError" in events
