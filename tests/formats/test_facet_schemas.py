"""The facet checker agrees with OpenLineage's JSON Schemas, except for the differences that are listed here.

Every example is changed at every place in every way; both must agree on each result.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from headwater.formats.openlineage.facets import _STANDARD, facet_problems
from headwater.model.runs import Problem
from tests.formats.facet_examples import Example, Schemas, example, own_examples, shared_examples
from tests.support.events import Json

Place = tuple[str | int, ...]
DROPPED = object()
WRONG: tuple[Any, ...] = (DROPPED, "text", 1, 1.5, 2.0, True, None, [], {}, [1], {"a": 1})


@pytest.fixture(scope="module")
def schemas(shared_data: Path) -> Schemas:
    return Schemas(shared_data)


@pytest.fixture(scope="module")
def examples(shared_data: Path) -> list[Example]:
    return [*shared_examples(shared_data), *own_examples()]


def our_problems(example: Example, body: Json) -> list[Problem]:
    return list(facet_problems(example.room, {example.name: body}, "$"))


def test_every_standard_facet_is_known(schemas: Schemas) -> None:
    found = set()
    for schema, content in schemas.facets():
        for name in content.get("properties", {}):
            if schema == "LineageFacet":
                found |= {("job", name), ("dataset", name)}
            elif schema == "BaseSubsetDatasetFacet":
                found |= {("inputFacets", name), ("outputFacets", name)}
            elif "Gcp" not in schema and "Iceberg" not in schema:  # registry facets are their owners' business
                found.add((example(schema, name, {}).room, name))
    known = {(room, name) for room, names in _STANDARD.items() for name in names}
    assert found - known == set()
    # By its name it is a dataset facet, and producers send it as one.
    assert known - found == {("dataset", "dataQualityAssertions")}


def test_every_example_is_valid_for_both(schemas: Schemas, examples: list[Example]) -> None:
    assert len(examples) == 46 + len(own_examples())
    for one in examples:
        assert schemas.validator(one).is_valid({one.name: one.body}), one.label
        assert our_problems(one, one.body) == [], one.label


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.long)])
def test_both_agree_on_every_change(schemas: Schemas, examples: list[Example], step: int) -> None:
    """One change in ``step``: at every place, and every kind of change over the places."""
    judged = 0
    disagreements = []
    for one in examples:
        validator = schemas.validator(one)
        for place, value, changed in islice(changes(one.body), 0, None, step):
            judged += 1
            valid = validator.is_valid({one.name: changed})
            problems = our_problems(one, changed)
            if valid == (not problems) or is_named_difference(one, validator, place, value):
                continue
            disagreements.append((one.label, place, "dropped" if value is DROPPED else value, problems))
    assert disagreements == []
    assert judged > 7_000 // step


def test_a_problem_has_the_path_of_the_change(examples: list[Example]) -> None:
    """The path of the change, above it if there were alternatives, or below it if a key is missing."""
    astray = []
    for one in examples:
        for place, value, changed in changes(one.body):
            at = f"$.{one.name}" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
            found = [problem.path for problem in our_problems(one, changed)]
            if found and not any(at.startswith(path) or path.startswith(at) or paired_keys(path, at) for path in found):
                astray.append((one.label, at, value, found))
    assert astray == []


def paired_keys(path: str, at: str) -> bool:
    """Two keys that must occur together: if one is missing, the problem is reported for either."""
    return path.rpartition(".")[0] == at.rpartition(".")[0]


def is_named_difference(one: Example, validator: Draft202012Validator, place: Place, value: Any) -> bool:
    """The three differences from the schemas, all of which accept what producers send."""
    return null_for_an_optional_value(one, validator, place, value) or inside_a_forwarded_facet(one, place)


def null_for_an_optional_value(one: Example, validator: Draft202012Validator, place: Place, value: Any) -> bool:
    """Java and Go write missing values as null; the schemas require that the key is missing."""
    return (
        value is None
        and isinstance(place[-1], str)
        and validator.is_valid({one.name: with_change(one.body, place, DROPPED)})
    )


def inside_a_forwarded_facet(one: Example, place: Place) -> bool:
    """Facets of the parent inside `parent` belong to the parent; its own events are checked."""
    return one.name == "parent" and "facets" in place[:-1]


def test_formats_are_not_asserted() -> None:
    """The third difference: real producers send times, UUIDs and URIs that break their format."""
    body = {"_producer": "not a uri", "_schemaURL": "not one either"}
    facets = {
        "parent": body | {"run": {"runId": "no uuid"}, "job": {"namespace": "n", "name": "j"}},
        "nominalTime": body | {"nominalStartTime": "2020-01-01"},
    }
    assert list(facet_problems("run", facets, "$")) == []


def changes(body: Json) -> Iterator[tuple[Place, Any, Json]]:
    for place in places(body, ()):
        for value in WRONG:
            if value is DROPPED and isinstance(place[-1], int):
                continue
            yield place, value, with_change(body, place, value)


def places(value: Any, here: Place) -> Iterator[Place]:
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        yield (*here, step)
        yield from places(inner, (*here, step))


def with_change(body: Json, place: Place, value: Any) -> Json:
    changed = copy.deepcopy(body)
    target: Any = changed
    for step in place[:-1]:
        target = target[step]
    if value is DROPPED:
        del target[place[-1]]
    else:
        target[place[-1]] = value
    return changed
