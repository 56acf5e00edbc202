"""How rows are matched where row lineage does not decide: by a mapper, by position, or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import headwater as hw
from headwater.errors import PipelineInvalid
from headwater.model.items import Hop, ItemRecord
from tests.pipeline.comparison import FULL, run

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


def of_rows(folder: Path, rows: list[tuple[int, int]] | None = None) -> hw.Pipeline:
    p = hw.Pipeline("continuity", namespace="tests")
    given = rows or [(number, number % 2) for number in range(6)]
    p.source("rows", lambda spark: spark.createDataFrame(given, "id long, k long").repartition(2), key="id")
    return p


def records(spark: SparkSession, p: hw.Pipeline, folder: Path) -> dict[int, ItemRecord]:
    found = [ItemRecord.from_dict(row.asDict(recursive=True)) for row in run(spark, p, folder).items.collect()]
    return {json.loads(each.key)["id"]: each for each in found if each.source == "rows"}


def at(record: ItemRecord, node: str) -> Hop:
    return next(hop for hop in record.hops if hop.node == node)


def tens(pandas: Iterator[Any]) -> Iterator[Any]:
    for frame in pandas:
        yield frame.assign(ten=frame["id"] * 10)[["ten"]]


def odd_ones(pandas: Iterator[Any]) -> Iterator[Any]:
    for frame in pandas:
        yield frame[frame["id"] % 2 == 1]


def shipped(function: Callable[[Iterator[Any]], Iterator[Any]]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """By value: the workers cannot import this file."""
    from pyspark import cloudpickle

    import tests.pipeline.test_continuity as here

    by_value: Any = cloudpickle.register_pickle_by_value
    by_value(here)
    return function


def test_by_position(spark: SparkSession, tmp_path: Path) -> None:
    """Code that cannot be analyzed, with as many output rows as input rows; the nodes after it are exact again."""
    p = of_rows(tmp_path)
    p.transform("tens", "rows", lambda df: df.mapInPandas(shipped(tens), "ten long"))
    p.transform("big", "tens", lambda df: df.where("ten >= 30"))
    p.sink("out", "big", format="parquet", path=str(tmp_path / "out"))
    found = records(spark, p, tmp_path)
    assert {at(each, "tens").continuity for each in found.values()} == {"positional"}
    assert {at(each, "big").continuity for each in found.values()} == {"exact"}
    assert {id for id, each in found.items() if each.node == "out"} == {3, 4, 5}
    assert {row[0] for row in spark.read.parquet(str(tmp_path / "out")).collect()} == {30, 40, 50}


def test_different_counts_are_representative(spark: SparkSession, tmp_path: Path) -> None:
    p = of_rows(tmp_path)
    p.transform("odd", "rows", lambda df: df.mapInPandas(shipped(odd_ones), "id long, k long"))
    p.map("same", "odd", lambda row: row, schema="id long, k long")
    p.sink("out", "same", format="parquet", path=str(tmp_path / "out"))
    found = records(spark, p, tmp_path)
    hops = [at(each, node) for each in found.values() for node in ("odd", "same", "out")]
    assert {(hop.continuity, hop.emissions, int(hop.cardinality)) for hop in hops} == {("representative", None, 0)}
    assert len(found) == 6
    assert spark.read.parquet(str(tmp_path / "out")).count() == 3


def test_random_values(spark: SparkSession, tmp_path: Path) -> None:
    """A random value stays with its row. Which rows it selected is unknown; but the result is stored, and all later
    nodes read the same. A sample has its seed in the plan: it takes the same rows again."""
    from pyspark.sql import functions as F

    p = of_rows(tmp_path)
    p.transform("drawn", "rows", lambda df: df.withColumn("chance", F.rand()))
    p.transform("lucky", "drawn", lambda df: df.where("chance < 0.5"))
    p.transform("some", "rows", lambda df: df.sample(0.5))
    for name in ("lucky", "some"):
        p.sink(f"{name} out", name, format="parquet", path=str(tmp_path / name))
        p.sink(f"{name} again", name, format="parquet", path=str(tmp_path / f"{name} again"))
    found = records(spark, p, tmp_path)
    assert len(found) == 6
    assert {at(each, "drawn").continuity for each in found.values()} == {"exact"}
    for name in ("lucky", "some"):
        hops = [(at(each, name).continuity, at(each, name).emissions) for each in found.values()]
        written = spark.read.parquet(str(tmp_path / name)).count()
        if name == "lucky":
            assert set(hops) == {("representative", None)}
        else:
            assert sorted(hops) == sorted([("exact", 1)] * written + [("exact", 0)] * (6 - written))
        one, other = (spark.read.parquet(str(tmp_path / each)) for each in (name, f"{name} again"))
        assert sorted(map(tuple, one.collect())) == sorted(map(tuple, other.collect()))


def test_a_limit_is_taken_once(spark: SparkSession, tmp_path: Path) -> None:
    """Another execution may select other rows: items are recorded in the rows that were written."""
    from pyspark.sql import functions as F

    p = of_rows(tmp_path)
    p.transform("two", "rows", lambda df: df.orderBy("k").limit(2))
    p.sink("out", "two", format="parquet", path=str(tmp_path / "out"))
    p.aggregate("sums", "rows", by="k", total=F.sum("id"))
    p.transform("one", "sums", lambda df: df.limit(1))
    p.sink("out one", "one", format="parquet", path=str(tmp_path / "one"))
    found = records(spark, p, tmp_path)
    written = {row["id"] for row in spark.read.parquet(str(tmp_path / "out")).collect()}
    assert len(written) == 2
    assert {id for id, each in found.items() if at(each, "two").emissions == 1} == written
    assert {at(each, "two").continuity for each in found.values()} == {"exact"}
    assert {at(each, "one").continuity for each in found.values()} == {"representative"}


def test_unanalyzable_code_beside_traceable_nodes(spark: SparkSession, tmp_path: Path) -> None:
    p = of_rows(tmp_path)
    p.source("names", lambda spark: spark.createDataFrame([(0, "even"), (1, "odd")], "k long, name string"))

    def named(rows: DataFrame, names: DataFrame) -> DataFrame:
        return rows.where("id < 3").join(names.mapInPandas(lambda pandas: pandas, "k long, name string"), "k")

    p.transform("named", ["rows", "names"], named)
    p.sink("out", "named", format="parquet", path=str(tmp_path / "out"))
    result = run(spark, p, tmp_path)
    told = {(row["source"], row["hops"][1]["continuity"]) for row in result.items.collect()}
    assert told == {("rows", "exact"), ("names", "representative")}
    ended = {row["key"] for row in result.items.where("source = 'rows' and node = 'out'").collect()}
    assert ended == {'{"id":0}', '{"id":1}', '{"id":2}'}


def same_k(given: DataFrame, made: DataFrame) -> Column:
    return (given["k"] == made["k"]) & (given["id"] > 1)


def test_a_mapper_takes_precedence(spark: SparkSession, tmp_path: Path) -> None:
    """It omits two rows that row lineage would include."""
    from pyspark.sql import functions as F

    p = of_rows(tmp_path)
    p.aggregate("sums", "rows", by="k", mapper=same_k, total=F.sum("id"))
    p.transform("more", "sums", lambda df: df.where("total > 6"))
    p.sink("out", "more", format="parquet", path=str(tmp_path / "out"))
    found = records(spark, p, tmp_path)
    assert {at(each, "sums").continuity for each in found.values()} == {"declared"}
    assert [at(found[id], "sums").outcome.words for id in range(6)] == ["FilteredOut"] * 2 + [
        "Emitted | Aggregated"
    ] * 4
    assert {id for id, each in found.items() if each.node == "out"} == {3, 5}
    assert [at(found[id], "sums").contributors for id in (2, 3)] == [2, 2]
    assert at(found[3], "more").continuity == "exact"


def test_mappers_of_the_other_nodes(spark: SparkSession, tmp_path: Path) -> None:
    p = of_rows(tmp_path)
    p.source("names", lambda spark: spark.createDataFrame([(0, "even"), (1, "odd")], "k long, name string"))
    p.join("named", "rows", "names", on="k", mapper=lambda given, made: given["k"] == made["k"])
    p.map(
        "upper",
        "named",
        lambda row: {"n": row.id},
        schema="n long",
        mapper=lambda given, made: given["id"] == made["n"],
    )
    p.transform("few", "upper", lambda df: df.where("n < 2"), mapper=lambda given, made: given["n"] == made["n"])
    p.sink("out", "few", format="parquet", path=str(tmp_path / "out"))
    found = records(spark, p, tmp_path)
    assert {hop.continuity for each in found.values() for hop in each.hops if hop.node not in ("rows", "out")} == {
        "declared"
    }
    assert [at(found[1], node).emissions for node in ("named", "upper", "few")] == [3, 3, 1]
    assert at(found[1], "named").outcome.words == "Emitted | Joined"


def test_a_mapper_that_returns_no_condition(spark: SparkSession, tmp_path: Path) -> None:
    p = of_rows(tmp_path)
    p.transform("same", "rows", lambda df: df, mapper=lambda given, made: True)
    p.sink("out", "same", format="parquet", path=str(tmp_path / "out"))
    with pytest.raises(PipelineInvalid, match="node 'same': The mapper returned bool, not a Column"):
        p.start(spark, options=FULL.with_(location=str(tmp_path / "items"))).wait()
