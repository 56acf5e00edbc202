"""A violation in a facet is reported with its JSON path; facets that Headwater does not know are not checked."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.formats.openlineage.facets import facet_problems
from tests.support.events import Json, column_lineage, deleted, facet, lineage_facet, schema


def problems(room: str, **facets: Any) -> list[tuple[str, str]]:
    return [(problem.path, problem.reason) for problem in facet_problems(room, facets, "$")]


def test_valid_facets_have_no_problems() -> None:
    assert problems("dataset", schema=schema("a:int"), columnLineage=column_lineage({"a": [("t", "a")]})) == []


@pytest.mark.parametrize("value", [None, "text", 7, [], True])
def test_a_facet_is_an_object(value: object) -> None:
    assert problems("run", custom=value) == [("$.custom", "a facet is an object")]


def test_producer_and_schema_url_are_required_of_every_facet() -> None:
    assert problems("job", custom={"a": 1}) == [("$.custom._producer", "missing"), ("$.custom._schemaURL", "missing")]


def test_an_unknown_facet_may_contain_anything() -> None:
    assert problems("run", custom=facet(fields=7, nested={"a": [None, {"b": float("1e300")}]})) == []


def test_a_standard_facet_in_the_wrong_place_is_unknown() -> None:
    assert problems("run", schema=facet(fields=7)) == []


def test_a_deleted_facet_needs_no_other_keys() -> None:
    assert problems("dataset", columnLineage=deleted(), version=deleted()) == []
    assert problems("job", sql=deleted()) == []
    assert problems("job", sql=deleted() | {"_deleted": False}) == [("$.sql.query", "missing")]


def test_unknown_keys_of_a_known_facet_are_accepted() -> None:
    assert problems("job", sql=facet(query="select 1", dialect="spark", cost=3)) == []


@pytest.mark.parametrize(
    ("room", "facets", "expected"),
    [
        ("job", {"sql": facet()}, [("$.sql.query", "missing")]),
        ("job", {"sql": facet(query=7)}, [("$.sql.query", "must be a string")]),
        ("dataset", {"schema": facet(fields=7)}, [("$.schema.fields", "must be an array")]),
        ("dataset", {"schema": facet(fields=[{}])}, [("$.schema.fields[0].name", "missing")]),
        (
            "dataset",
            {"schema": facet(fields=[{"name": "a", "fields": [{"name": "b"}, {"type": "int"}]}])},
            [("$.schema.fields[0].fields[1].name", "missing")],
        ),
        ("dataset", {"columnLineage": facet()}, [("$.columnLineage.fields", "missing")]),
        (
            "dataset",
            {"columnLineage": facet(fields={"c": {"inputFields": [{"namespace": "n", "name": "t"}]}})},
            [("$.columnLineage.fields.c.inputFields[0].field", "missing")],
        ),
        (
            "dataset",
            {"lifecycleStateChange": facet(lifecycleStateChange="EXPLODE")},
            [
                (
                    "$.lifecycleStateChange.lifecycleStateChange",
                    "must be one of ALTER, CREATE, DROP, OVERWRITE, RENAME, TRUNCATE",
                )
            ],
        ),
        (
            "outputFacets",
            {"outputStatistics": facet(rowCount=True)},
            [("$.outputStatistics.rowCount", "must be an integer")],
        ),
        (
            "outputFacets",
            {"subset": facet(outputCondition={"type": "partition"})},
            [("$.subset.outputCondition.partitions", "missing")],
        ),
        (
            "inputFacets",
            {"subset": facet(inputCondition={"type": "partition", "partitions": [{}, {}, {}]})},
            [(f"$.subset.inputCondition.partitions[{i}].dimensions", "missing") for i in range(3)],
        ),
        (
            "inputFacets",
            {"subset": facet(inputCondition={"partitions": []})},
            [("$.subset.inputCondition.type", "missing")],
        ),
        (
            "job",
            {"lineage": lineage_facet({"type": "DATASET", "inputs": []})},
            [("$.lineage.entries[0].namespace", "missing"), ("$.lineage.entries[0].name", "missing")],
        ),
        (
            "job",
            {"lineage": lineage_facet({"type": "JOB", "name": "only half a name", "inputs": []})},
            [("$.lineage.entries[0].namespace", "missing")],
        ),
    ],
)
def test_path_and_reason(room: str, facets: Json, expected: list[tuple[str, str]]) -> None:
    assert problems(room, **facets) == expected


@pytest.mark.parametrize("text", ["nul \x00", "half \ud800"])
def test_text_that_cannot_be_stored_as_a_name_is_flagged(text: str) -> None:
    found = problems("dataset", symlinks=facet(identifiers=[{"namespace": "n", "name": text, "type": "TABLE"}]))
    assert [path for path, _ in found] == ["$.symlinks.identifiers[0].name"]
    found = problems("dataset", columnLineage=facet(fields={text: {"inputFields": []}}))
    assert [(path, reason[:5]) for path, reason in found] == [("$.columnLineage.fields", "a key")]
