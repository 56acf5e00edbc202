"""Reading the JSON of plans: what is wrong is named, whatever it is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from headwater.errors import PlanUnreadable
from headwater.plan.commands import read_writes
from headwater.plan.trace import trace_plan
from headwater.plan.tree import PlanNode, fold, read_plan


def node(kind: str, children: int = 0, **fields: Any) -> dict[str, Any]:
    return {"class": f"org.apache.spark.sql.{kind}", "num-children": children, **fields}


def column(name: str, expr_id: int) -> list[dict[str, Any]]:
    return [node("AttributeReference", name=name, dataType="integer", nullable=True, exprId={"id": expr_id})]


RANGE = node("Range", output=[column("id", 1)])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it is not JSON: Expecting value: line 1 column 1 (char 0)"),
        ("{}", 'it is not a list of nodes with "class" and "num-children"'),
        ("[]", 'it is not a list of nodes with "class" and "num-children"'),
        ('[{"num-children": 0}]', 'a node has no "class"'),
        (
            json.dumps([node("Project", 2), node("Range")]),
            "Project says it has 2 children, and 1 nodes are left for it",
        ),
        (json.dumps([node("Range"), node("Range")]), "it has 2 roots"),
        (json.dumps([node("Project", -1)]), 'Project has no "num-children"'),
        (json.dumps([node("Project", "1")]), 'Project has no "num-children"'),  # type: ignore[arg-type]
        (json.dumps([node("Project", 1), 3]), 'a node has no "class"'),
    ],
)
def test_unreadable(text: str, reason: str) -> None:
    with pytest.raises(PlanUnreadable) as caught:
        read_plan(text)
    assert str(caught.value) == f"The Spark plan cannot be read: {reason}"


def test_unreadable_further_in() -> None:
    plan = [node("Project", 1, projectList=[[node("Alias", 1)]]), RANGE]
    with pytest.raises(PlanUnreadable, match="Alias says it has 1 children, and 0 nodes are left"):
        trace_plan(read_plan(json.dumps(plan)))


def test_a_child_that_is_not_there() -> None:
    with pytest.raises(PlanUnreadable, match=r"Join\.left names child 4 of 0"):
        read_plan(json.dumps([node("Join", left=4)])).tree("left")


def test_fields() -> None:
    tree = read_plan(
        json.dumps(
            [
                node(
                    "catalyst.Join", 2, left=0, right=1, both=[1, 0], condition=[node("And")], rows=[[column("a", 1)]]
                ),
                node("Left$"),
                node("Outer$Inner$"),
            ]
        )
    )
    assert (tree.name, [child.name for child in tree.children]) == ("Join", ["Left", "Inner"])
    assert [found.name for found in tree.trees("both")] == ["Inner", "Left"]
    assert tree.tree("left") is tree.children[0]
    condition = tree.tree("condition")
    assert condition is not None
    assert condition.name == "And"
    assert tree.tree("nothing") is None


def test_an_operator_nobody_knows() -> None:
    """What passes through is still known; what it adds is not, and nor is what it does with the rows."""
    plan = [
        node("Surprise", 1, child=0, output=[column("id", 1), column("extra", 2)]),
        RANGE,
    ]
    lineage = trace_plan(read_plan(json.dumps(plan)))
    assert [(c.name, [d.field for d in c.derivations]) for c in lineage.columns] == [("id", ["id"]), ("extra", [])]
    assert [(gap.operator, gap.columns) for gap in lineage.gaps] == [("Surprise", ())]


def test_a_column_from_nowhere() -> None:
    plan = [
        node("Project", 1, projectList=[column("lost", 9), column("id", 1)]),
        RANGE,
    ]
    (gap,) = trace_plan(read_plan(json.dumps(plan))).gaps
    assert (gap.operator, gap.reason, gap.columns) == (
        "Project",
        "the column lost comes from nothing below it",
        ("lost",),
    )


def deep(levels: int) -> str:
    """`id + 1 + 1 + …` over as many projections as the expression has levels."""
    expression = [node("Alias", 1, name="x", exprId={"id": 2})]
    expression += [node("Add", 2, left=0, right=1)] * levels + column("id", 1)
    expression += [node("Literal", value="1", dataType="integer")] * levels
    projections = [node("Project", 1, projectList=[column("x", 2)])] * levels
    return json.dumps([*projections, node("Project", 1, projectList=[expression]), RANGE])


def test_deeper_than_the_stack() -> None:
    lineage = trace_plan(read_plan(deep(5000)))
    assert [(d.field, d.subtype) for d in lineage.columns[0].derivations] == [("id", "TRANSFORMATION")]
    assert len(lineage.columns[0].derivations[0].logic or "") < 5000


def test_folding_from_the_leaves_up() -> None:
    tree = PlanNode("a", {}, (PlanNode("b", {}, (PlanNode("c", {}, ()),)), PlanNode("d", {}, ())))
    seen = fold(tree, lambda n: "…" if n.name == "b" else None, lambda n, parts: f"{n.name}({' '.join(parts)})")
    assert seen == "a(… d())"


def test_a_long_chain_of_unions_writes_nothing() -> None:
    chain = [node("Union", 2)] * 3000 + [RANGE] * 3001
    assert read_writes(read_plan(json.dumps(chain))) == ()
