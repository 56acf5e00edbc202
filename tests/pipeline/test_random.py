"""Random pipelines on Spark, compared with the model record by record."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from tests.oracles.profiles import LONG, QUICK
from tests.pipeline.comparison import check
from tests.pipeline.model import Step
from tests.pipeline.random_pipelines import declared, pipelines
from tests.support.selection import short_and_long

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

D = tuple[tuple[int, int | None, int | None], ...]


def source(name: str, data: D, how: str = "keyed") -> Step:
    return Step(name, "source", (), ("id", "k", "v"), data, how)


DATA: D = ((0, 1, 0), (1, 1, 0), (2, 2, 4), (3, 2, 3), (4, None, 5), (5, 3, None), (6, 3, 10), (7, 1, 6))

KNOWN = {
    "all of it": [
        source("a", DATA),
        source("b", ((0, 1, 1), (1, 2, 2), (2, 2, 2), (3, 4, 4), (4, None, 0)), "memory"),
        Step("valid", "filter", ("a",), ("id", "k", "v"), how="k"),
        Step("priced", "map", ("valid",), ("k", "v"), how="dead_letter", retries=1),
        Step("right", "project", ("b",), ("k", "w")),
        Step("named", "join", ("priced", "right"), ("k", "v", "w"), how="left"),
        Step("daily", "aggregate", ("named",), ("k", "v")),
        Step("again", "map", ("daily",), ("k", "v"), how="skip", retries=0),
        Step("back", "project", ("again",), ("k", "w")),
        Step("self", "join", ("named2", "back"), ("k", "v", "w"), how="inner"),
        Step("named2", "project", ("named",), ("k", "v")),
        Step("report", "sink", ("self",), ("k", "v", "w")),
        Step("other", "sink", ("named",), ("k", "v", "w")),
    ],
    "two groups that look alike": [
        source("a", ((0, 1, 2), (1, 2, 2), (2, 2, None))),
        Step("daily", "aggregate", ("a",), ("k", "v")),
        Step("less", "project", ("daily",), ("v",)),
        Step("all", "union", ("less", "less"), ("v",)),
        Step("out", "sink", ("all",), ("v",)),
    ],
    "joined with itself and called": [
        source("a", ((0, 1, 2), (1, 1, 2), (2, 2, 7)), "lying"),
        Step("r", "project", ("a",), ("k", "w")),
        Step("twice", "join", ("a", "r"), ("k", "id", "v", "w"), how="inner"),
        Step("called", "flat_map", ("twice",), ("k", "v"), how="skip"),
        Step("out", "sink", ("called",), ("k", "v")),
    ],
    "beside its own sum, called": [
        source("a", ((0, 1, 2), (1, 1, 3), (2, 2, 7))),
        Step("sum", "aggregate", ("a",), ("k", "v")),
        Step("r", "project", ("sum",), ("k", "w")),
        Step("beside", "join", ("a", "r"), ("k", "id", "v", "w"), how="inner"),
        Step("called", "flat_map", ("beside",), ("k", "v"), how="skip"),
        Step("f", "filter", ("called",), ("k", "v"), how="even"),
        Step("out", "sink", ("f",), ("k", "v")),
    ],
    "semi, anti, full and distinct": [
        source("a", ((0, 1, 2), (1, 1, 3), (2, 2, 7)), "lying"),
        source("b", ((0, 1, 2), (1, 1, 2), (2, 3, 7)), "memory"),
        Step("r", "project", ("b",), ("k", "w")),
        Step("semi", "join", ("a", "r"), ("k", "id", "v"), how="semi"),
        Step("anti", "join", ("a", "r"), ("k", "id", "v"), how="anti"),
        Step("called", "map", ("semi",), ("k", "v"), how="skip"),
        Step("one", "sink", ("called",), ("k", "v")),
        Step("two", "sink", ("anti",), ("k", "id", "v")),
        Step("full", "join", ("a", "r"), ("k", "id", "v", "w"), how="full"),
        Step("less", "project", ("full",), ("k", "w")),
        Step("once", "distinct", ("less",), ("k", "w")),
        Step("three", "sink", ("once",), ("k", "w")),
    ],
}


# Each of their steps is in another one as well, or in a drawn pipeline.
LONG_ONES = {"two groups that look alike", "joined with itself and called", "beside its own sum, called"}


@pytest.mark.parametrize("steps", short_and_long(KNOWN, LONG_ONES))
def test_fixed_pipelines(spark: SparkSession, tmp_path: Path, steps: list[Step]) -> None:
    check(spark, steps, declared(spark, steps, tmp_path), tmp_path)


@QUICK(2)
@given(steps=pipelines())
def test_random_pipelines(spark: SparkSession, steps: list[Step]) -> None:
    once(spark, steps)


@pytest.mark.long
@LONG(150)
@given(steps=pipelines())
def test_many_random_pipelines(spark: SparkSession, steps: list[Step]) -> None:
    once(spark, steps)


def once(spark: SparkSession, steps: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        check(spark, steps, declared(spark, steps, Path(folder)), Path(folder))
