"""`cdme.grainSafety` and plans with cuts, from steps that are written here, without Spark."""

from __future__ import annotations

import json
from typing import Any

import pytest

from headwater.capture.events.plan_cuts import PlanCut
from headwater.evidence.documents import GrainReport
from headwater.evidence.grain import grain_safety
from headwater.evidence.repeats import Repeats
from headwater.evidence.steps import PlanSteps
from headwater.evidence.trace import morphism_trace
from headwater.evidence.types import type_unification

Json = dict[str, Any]
ONCE, TWICE = Repeats(2, 2), Repeats(3, 2, lambda: ["part-0 row 1, 2 times"])


def step(operator: str, parent: int, **others: Any) -> Json:
    return {"operator": operator, "parent": parent, "makes": [], "casts": [], "nulls": [], **others}


def leaf(parent: int, *ids: int, operator: str = "LogicalRelation") -> Json:
    return step(operator, parent, leaf=[{"id": id, "name": f"c{id}"} for id in ids])


def join(parent: int, left: int, right: int, columns: tuple[list[int], list[int]], kind: str = "Inner") -> Json:
    sides = {"leftColumns": columns[0], "rightColumns": columns[1]}
    return step("Join", parent, join=kind, condition=f"c{left} = c{right}", left=[left], right=[right], **sides)


def count(parent: int) -> Json:
    measure = {"column": "n", "function": "count", "distinct": False, "sql": "count(1)", "from": []}
    return step("Aggregate", parent, keys=[1], measures=[measure])


def text(*steps: Json, columns: tuple[int, ...] = (1, 2)) -> str:
    named = [{"id": id, "name": f"c{id}"} for id in columns]
    return json.dumps({"columns": named, "whole": True, "steps": steps})


TWO = (join(0, 1, 3, ([1, 2], [3, 4])), leaf(1, 1, 2), leaf(1, 3, 4))
"""Of two sources with the columns 1 and 2, and 3 and 4, below an operator."""
PLAIN = text(step("Project", -1), *TWO)
COUNTED = text(count(-1), *TWO)


def grain_of(
    told: str, left: Repeats | None, right: Repeats | None, *declared: int
) -> tuple[list[GrainReport], list[GrainReport]]:
    measured = {id: found for id, found in ((1, left), (2, left), (3, right), (4, right)) if found is not None}
    facet = grain_safety(PlanSteps.read(told), measured, [frozenset([id]) for id in declared])
    assert facet["complete"] is True
    return facet["validations"], facet["undecided"]


def fan_out(told: str, left: Repeats | None, right: Repeats | None, *declared: int) -> GrainReport | None:
    validations, undecided = grain_of(told, left, right, *declared)
    found = [each for each in validations if each["check"] == "fan-out"]
    assert len(found) + sum(each["check"] == "fan-out" for each in undecided) == 1
    return found[0] if found else None


def test_a_fan_out_is_reported_with_its_keys() -> None:
    found = fan_out(PLAIN, TWICE, ONCE)
    assert found is not None
    assert (found["node"], found["holds"], found["by"], found["on"]) == ("1 Join", False, "rows", "c1 = c3")
    assert found["keys"] == ["part-0 row 1, 2 times"]
    assert found["detail"] == "2 rows of 2 LogicalRelation have become 3"


@pytest.mark.parametrize(
    ("left", "right", "declared", "by", "cardinality"),
    [
        (ONCE, TWICE, (), "rows", None),  # as orders beside their shops
        (ONCE, None, (), "rows", None),
        (ONCE, TWICE, (3,), "plan", "many to one"),
        (TWICE, ONCE, (1,), "plan", "one to many"),  # by what is joined on they are unique: it is meant
        (None, None, (1, 3), "plan", "one to one"),
    ],
)
def test_joins_without_fan_out(
    left: Repeats | None, right: Repeats | None, declared: tuple[int, ...], by: str, cardinality: str | None
) -> None:
    found = fan_out(PLAIN, left, right, *declared)
    assert found is not None
    assert (found["holds"], found["by"], found.get("cardinality")) == (True, by, cardinality)


def test_uncounted_joins_are_undecided() -> None:
    assert fan_out(PLAIN, None, ONCE) is None
    assert fan_out(PLAIN, None, TWICE) is None


def test_a_declared_key_with_duplicates() -> None:
    validations, _ = grain_of(PLAIN, TWICE, ONCE, 3)
    wrong = [each for each in validations if each["holds"] is False]
    assert [(each["check"], each["declared"]) for each in wrong] == [
        ("fan-out", "what was declared to be a key is none")
    ]


def test_measures_are_checked_where_they_are_computed() -> None:
    found = fan_out(COUNTED, TWICE, ONCE)
    assert found is not None
    assert found["holds"] is True
    assert "judged there" in found["detail"]


@pytest.mark.parametrize(("right", "holds"), [(ONCE, True), (TWICE, False)])
def test_count_is_wrong_if_all_rows_are_repeated(right: Repeats, holds: bool) -> None:
    validations, _ = grain_of(COUNTED, TWICE, right)
    (counted,) = [each for each in validations if each["check"] == "double counting"]
    assert (counted["column"], counted["holds"]) == ("n", holds)


def test_without_counts_count_is_undecided() -> None:
    _, undecided = grain_of(COUNTED, None, None)
    assert [each["check"] for each in undecided] == ["double counting", "fan-out"]
    validations, undecided = grain_of(COUNTED, None, None, 3)
    assert [each["check"] for each in [*validations, *undecided]] == ["fan-out"]


def test_two_possible_joins_are_named_together() -> None:
    """Rows are counted in the result, so it is unknown which of the two has multiplied them."""
    inner = join(1, 1, 3, ([1, 2], [3, 4]))
    outer = join(0, 2, 5, ([1, 2, 3, 4], [5]))
    told = text(step("Project", -1), outer, inner, leaf(2, 1, 2), leaf(2, 3, 4), leaf(1, 5))
    measured = dict.fromkeys((1, 2, 3, 4, 5), TWICE)
    facet = grain_safety(PlanSteps.read(told), measured)
    assert [(each["node"], each["holds"]) for each in facet["validations"]] == [("2 Join or 1 Join", False)]
    facet = grain_safety(PlanSteps.read(told), measured, [frozenset([3])])  # of the inner one it is known to be sound
    assert {(each["node"], each["holds"]) for each in facet["validations"]} == {("2 Join", True), ("1 Join", False)}


def test_an_operator_that_returns_several_rows_per_row_is_named() -> None:
    told = text(step("Project", -1), step("Generate", 0), join(1, 1, 3, ([1, 2], [3, 4])), leaf(2, 1, 2), leaf(2, 3, 4))
    assert fan_out(told, TWICE, TWICE) is None


def test_a_sample_may_repeat_rows() -> None:
    told = text(join(-1, 1, 3, ([1, 2], [3, 4])), leaf(0, 1, 2), step("Sample", 0), leaf(2, 3, 4))
    facet = grain_safety(PlanSteps.read(told), {}, [frozenset([3])])
    assert [each["check"] for each in facet["undecided"]] == ["fan-out"]


# -- plans that were cut -----------------------------------------------------------------------------------------------

LOSSY = {"column": "c9", "from": "double", "to": "int", "explicit": True, "sql": "CAST(c7 AS INT)"}
MADE = {"id": 9, "name": "c9", "sql": "CAST(c7 AS INT)", "from": [7]}
BEHIND = text(step("Project", -1, casts=[LOSSY], makes=[MADE]), leaf(0, 7, 8), columns=(9, 8))
READ_AGAIN = text(step("Project", -1), leaf(0, 1, 2, operator="LogicalRDD"))


def named(step: Any, id: int) -> str:
    return f"source.{step.leaf[id]}"


def test_steps_before_a_cut_are_recorded() -> None:
    steps = PlanSteps.read(READ_AGAIN, [PlanCut((1, 2), BEHIND)])
    types = type_unification(steps)
    assert [(each["node"], each["lossy"]) for each in types["morphismReports"]] == [("2 Project", True)]
    trace = morphism_trace(steps, named)
    assert trace["targetAttributes"] == {"c1": ["source.c7", "2 Project: CAST(c7 AS INT)"], "c2": ["source.c8"]}
    assert trace["complete"] is types["complete"] is grain_safety(steps)["complete"] is True


@pytest.mark.parametrize("behind", [None, text(leaf(-1, 7), columns=(7,))])
def test_a_cut_without_a_known_plan_is_named(behind: str | None) -> None:
    """The plan before it is unknown, or has other columns."""
    steps = PlanSteps.read(READ_AGAIN, [PlanCut((1, 2), behind)])
    for facet in (type_unification(steps), morphism_trace(steps, named), grain_safety(steps)):
        assert facet["complete"] is False
        assert [each["node"] for each in facet["notSeen"]] == ["1 LogicalRDD"]


def test_a_cut_behind_a_cut_with_the_same_columns() -> None:
    """As in a checkpoint of a filtered checkpoint: the outer one comes first."""
    filtered = text(step("Filter", -1), leaf(0, 1, 2, operator="LogicalRDD"))
    steps = PlanSteps.read(READ_AGAIN, [PlanCut((1, 2), filtered), PlanCut((1, 2), BEHIND)])
    assert [each.operator for each in steps.all] == [
        *("Project", "LogicalRDD", "Filter", "LogicalRDD", "Project", "LogicalRelation")
    ]
    assert morphism_trace(steps, named)["targetAttributes"]["c1"] == ["source.c7", "4 Project: CAST(c7 AS INT)"]


def test_rows_repeated_before_a_cut_are_still_repeated() -> None:
    """The rows are read once each, which does not show that they were multiplied before."""
    before = text(*(each | {"parent": each["parent"] - 1} for each in TWO), columns=(1, 3))
    total = {"column": "t", "function": "sum", "distinct": False, "sql": "sum(c5)", "from": [5]}
    told = text(step("Aggregate", -1, keys=[], measures=[total]), leaf(0, 5, 6))
    facet = grain_safety(PlanSteps.read(told, [PlanCut((5, 6), before)]), {5: ONCE, 6: ONCE})
    assert [each["check"] for each in facet["undecided"]] == ["double counting", "fan-out"]
    alone = grain_safety(PlanSteps.read(told), {5: ONCE, 6: ONCE})
    assert (alone["validations"], alone["undecided"]) == ([], [])
