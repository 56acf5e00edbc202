"""Names of partitions."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.formats.openlineage.partitions import partition_names
from headwater.formats.openlineage.text import is_storable
from tests.support.events import Json, facet


def named(*partitions: Any, side: str = "inputCondition") -> tuple[str, ...]:
    return partition_names({"subset": facet(**{side: {"type": "partition", "partitions": list(partitions)}})})


def dimensions(**values: Any) -> Json:
    return {"dimensions": values}


@pytest.mark.parametrize("side", ["inputCondition", "outputCondition"])
def test_the_identifier_takes_precedence(side: str) -> None:
    assert named({"identifier": "2024-10-15-PL", "dimensions": {"country": "PL"}}, side=side) == ("2024-10-15-PL",)


def test_dimensions_as_in_hive() -> None:
    assert named(dimensions(day="2026-11-15", country="PL")) == ("day=2026-11-15/country=PL",)


def test_dimensions_are_sorted_and_unique() -> None:
    assert named({"identifier": "b"}, {"identifier": "a"}, {"identifier": "b"}) == ("a", "b")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (dimensions(a="1/b=2"), dimensions(a="1", b="2")),
        (dimensions(a="1=2"), {"dimensions": {"a=1": "2"}}),
        (dimensions(a="%2F"), dimensions(a="/")),
        (dimensions(a="\ud800"), dimensions(a="\udfff")),
        (dimensions(a="\ud800"), dimensions(a="\\ud800")),
        (dimensions(a=[1, 2]), dimensions(a=[12])),
        (dimensions(a=None), dimensions(a="")),
        (dimensions(a="\x00"), dimensions(a="")),
    ],
)
def test_different_partitions_have_different_names(one: Json, other: Json) -> None:
    assert named(one) != named(other)
    assert all(is_storable(name) for name in named(one) + named(other))


def test_values_that_are_not_text() -> None:
    assert named(dimensions(n=7, b=True, d={"y": 1, "x": 2})) == ("n=7/b=true/d=%7B%22x%22: 2, %22y%22: 1%7D",)


@pytest.mark.parametrize(
    "io_facets",
    [
        {},
        {"subset": None},
        {"subset": "p"},
        {"subset": facet()},
        {"subset": facet(inputCondition="p")},
        {"subset": facet(inputCondition={"type": "location", "locations": ["s3://b/day=1"]})},
        {"subset": facet(inputCondition={"type": "partition"})},
        {"subset": facet(inputCondition={"type": "partition", "partitions": "p"})},
        {"subset": facet(inputCondition={"type": "partition", "partitions": ["p", None, {}, {"dimensions": {}}]})},
    ],
)
def test_anything_else_is_the_whole_dataset(io_facets: Json) -> None:
    assert partition_names(io_facets) == ()
