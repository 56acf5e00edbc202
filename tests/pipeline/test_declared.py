"""Valid and invalid declarations of pipelines."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest
from pyspark.sql.types import LongType, StructField, StructType

from headwater.errors import PipelineInvalid
from headwater.pipeline.declare.nodes import JoinNode, PassThroughNode, RowMapNode, SinkNode
from headwater.pipeline.declare.pipeline import PipelineDeclaration, edges_of
from headwater.pipeline.run.report import NodeReport


def read(spark: Any) -> Any:
    raise AssertionError("nothing is read while a pipeline is declared")


def same(*frames: Any) -> Any:
    return frames[0]


def price(row: Any) -> Any:
    return row


def daily(name: str = "daily_revenue", namespace: str = "prod") -> PipelineDeclaration:
    p = PipelineDeclaration(name, namespace)
    orders = p.source("orders", read, key="order_id")
    customers = p.source("customers", read)
    valid = p.transform("valid", orders, same)
    priced = p.map("priced", valid, price, schema="order_id long", retries=2, backoff=0.1, on_error="dead_letter")
    named = p.join("named", priced, customers, on="customer_id", how="left_outer")
    total: Any = "sum(eur)"
    days = p.aggregate("daily", named, by=["day"], total=total)
    p.sink("report", days, format="parquet", path="warehouse", mode="overwrite", options={"password": "x"})
    return p


def test_nodes_are_in_executable_order() -> None:
    p = daily()
    order = [node.name for node in p.check()]
    assert sorted(order) == sorted(node.name for node in p.nodes)
    assert all(order.index(one) < order.index(other) for one, other in p.edges)
    assert ("priced", "named") in p.edges
    assert ("customers", "named") in p.edges
    assert order == [node.name for node in daily().check()]


def test_an_id_is_that_of_the_name_and_the_namespace() -> None:
    assert UUID(daily().id).version == 5
    assert daily().id == daily().id
    assert len({daily().id, daily("other").id, daily(namespace="test").id}) == 3
    assert PipelineDeclaration("b", "a").id != PipelineDeclaration("a", "b").id


def test_a_node_by_its_name_may_be_declared_later() -> None:
    p = PipelineDeclaration("p")
    p.sink("out", "later", path="x")
    p.transform("later", "in", same)
    p.source("in", read)
    assert [node.name for node in p.check()] == ["in", "later", "out"]


def test_descriptions_of_nodes_are_plain_and_contain_no_secret() -> None:
    told = {node.name: NodeReport.of(node).configuration for node in daily().check()}
    assert told["orders"] == {"reader": f"{__name__}.read", "key": ["order_id"]}
    assert told["priced"] == {
        "function": f"{__name__}.price",
        "schema": "order_id long",
        "retries": 2,
        "backoff": 0.1,
        "on_error": "dead_letter",
    }
    assert told["named"] == {"on": ["customer_id"], "how": "left"}
    assert told["daily"] == {"by": ["day"], "aggregates": {"total": "sum(eur)"}}
    assert told["report"]["options"] == ["password"]
    assert json.loads(json.dumps(told)) == told


@pytest.mark.parametrize(
    ("said", "meant"),
    [("inner", "inner"), ("LEFT_OUTER", "left"), ("outer", "full"), ("full_outer", "full"), ("left_anti", "anti")],
)
def test_joins_have_sparks_names(said: str, meant: str) -> None:
    p = PipelineDeclaration("p")
    join = p.join("j", p.source("a", read), p.source("b", read), on=["x", "y"], how=said)
    assert isinstance(join, JoinNode)
    assert (join.how, join.on, join.inputs) == (meant, ("x", "y"), ("a", "b"))


def test_a_schema_may_be_a_struct_type() -> None:
    p = PipelineDeclaration("p")
    schema = StructType([StructField("x", LongType())])
    node = p.flat_map("f", p.source("a", read), price, schema=schema)
    assert isinstance(node, RowMapNode)
    assert (node.kind, node.configuration["schema"]) == ("flat_map", "struct<x:bigint>")


def test_an_aggregate_may_have_the_name_of_a_parameter() -> None:
    p = PipelineDeclaration("p")
    total: Any = "max(name)"
    p.aggregate("g", p.source("a", read), by="x", name=total, input=total)
    assert p.nodes[-1].configuration["aggregates"] == {"name": "max(name)", "input": "max(name)"}


REFUSED: dict[str, tuple[Callable[[PipelineDeclaration], object], str, str]] = {
    "two nodes of one name": (lambda p: p.source("in", read), "in", "there is a source of that name already"),
    "a slash": (lambda p: p.source("a/b", read), "a/b", "must not contain '/'"),
    "our prefix": (lambda p: p.source("__hw_x", read), "__hw_x", "begin with '__hw_'"),
    "no name": (lambda p: p.source("", read), "", "no name"),
    "no reader": (lambda p: p.source("x", "path"), "x", "The reader is str"),  # type: ignore[arg-type]
    "our column as a key": (lambda p: p.source("x", read, key="__hw_id"), "x", "'__hw_id' is reserved"),
    "an empty key": (lambda p: p.source("x", read, key=["a", ""]), "x", "The key has ''"),
    "a strange input": (lambda p: p.transform("x", [3], same), "x", "its input is 3"),  # type: ignore[list-item]
    "another pipeline's node": (
        lambda p: p.transform("x", daily().nodes[0], same),
        "x",
        "its input 'orders' is a node of pipeline 'daily_revenue'",
    ),
    "no input": (lambda p: p.transform("x", [], same), "x", "it has no input"),
    "no function": (lambda p: p.transform("x", "in", None), "x", "The function is NoneType"),  # type: ignore[arg-type]
    "on_error": (lambda p: mapped(p, on_error="ignore"), "x", "is not one of: fail, skip, dead_letter."),
    "retries": (lambda p: mapped(p, retries=-1), "x", "retries is -1"),
    "retries in part": (lambda p: mapped(p, retries=1.5), "x", "retries is 1.5"),
    "backoff": (lambda p: mapped(p, backoff=-0.1), "x", "backoff is -0.1"),
    "no schema": (lambda p: mapped(p, schema=" "), "x", "its schema is empty"),
    "a strange schema": (lambda p: mapped(p, schema=["x"]), "x", "its schema is list"),
    "our column in a schema": (
        lambda p: mapped(p, schema=StructType([StructField("__HW_x", LongType())])),
        "x",
        "'__HW_x' is reserved",
    ),
    "a mapper": (lambda p: mapped(p, mapper="x"), "x", "The mapper is str"),
    "how": (
        lambda p: p.join("x", "in", "in", on="k", how="cross"),
        "x",
        "is not one of: inner, left, right, full, semi",
    ),
    "no on": (lambda p: p.join("x", "in", "in", on=[]), "x", "on names no column"),
    "no by": (lambda p: p.aggregate("x", "in", by=[]), "x", "by names no column"),
    "no aggregates": (lambda p: p.aggregate("x", "in", by="k"), "x", "The list of aggregates names no column"),
    "mode": (lambda p: p.sink("x", "in", path="p", mode="replace"), "x", "is not one of: append, overwrite, error,"),
    "path and table": (lambda p: p.sink("x", "in", path="p", table="t"), "x", "one of them"),
    "neither": (lambda p: p.sink("x", "in", format="parquet"), "x", "neither a path nor a table"),
    "no such source": (
        lambda p: p.pipeline("x", daily(), inputs={"orderz": "in"}),
        "x",
        "pipeline 'daily_revenue' has no source 'orderz'. It has: orders, customers.",
    ),
    "no such sink": (lambda p: p.pipeline("x", daily(), outputs=["daily"]), "x", "no sink 'daily'. It has: report."),
    "no such node within": (lambda p: p.pipeline("x", daily())["weekly"], "x", "no node 'weekly'. It has: orders,"),
}


def mapped(p: PipelineDeclaration, schema: Any = "x long", **settings: Any) -> object:
    return p.map("x", "in", price, schema=schema, **settings)


@pytest.mark.parametrize("case", REFUSED)
def test_an_invalid_node_is_refused_immediately(case: str) -> None:
    declare, node, told = REFUSED[case]
    p = PipelineDeclaration("p")
    p.source("in", read)
    with pytest.raises(PipelineInvalid) as refused:
        declare(p)
    assert told in str(refused.value)
    assert (refused.value.pipeline, refused.value.node) == ("p", node)
    assert [each.name for each in p.nodes][1:] in ([], ["x"]), "nothing of it stays but a nested pipeline itself"


def test_a_pipeline_needs_a_name() -> None:
    with pytest.raises(PipelineInvalid, match="no name"):
        PipelineDeclaration("")


def test_an_unknown_input_lists_the_nodes() -> None:
    p = daily()
    p.sink("other", "dayly", path="x")
    with pytest.raises(PipelineInvalid, match=r"node 'other': its input 'dayly' is not a node. Nodes: orders, cust"):
        p.check()


def test_a_cycle_is_listed_node_by_node() -> None:
    p = PipelineDeclaration("p")
    p.transform("a", "c", same)
    p.transform("b", "a", same)
    p.transform("c", "b", same)
    p.sink("out", "c", path="x")
    with pytest.raises(PipelineInvalid) as refused:
        p.check()
    circle = str(refused.value).partition("cycle: ")[2].rstrip(".").split(" → ")
    assert refused.value.node == circle[0] == circle[-1]
    assert set(circle) == {"a", "b", "c"}
    assert set(pairwise(circle)) <= set(p.edges), "in the direction of the rows"


def test_a_pipeline_without_a_sink_is_refused() -> None:
    p = PipelineDeclaration("p")
    p.source("in", read)
    with pytest.raises(PipelineInvalid, match="Pipeline 'p': it has no sink"):
        p.check()


def test_a_sink_has_no_output() -> None:
    p = daily()
    p.transform("after", "report", same)
    with pytest.raises(PipelineInvalid, match="node 'after': its input 'report' is a sink"):
        p.check()


def nesting(**settings: Any) -> tuple[PipelineDeclaration, PipelineDeclaration]:
    inner = daily()
    outer = PipelineDeclaration("outer")
    raw = outer.source("raw", read)
    outer.pipeline("sub", inner, inputs={"orders": raw}, **settings)
    return outer, inner


def test_a_nested_pipelines_nodes_are_in_their_place() -> None:
    outer, inner = nesting()
    outer.sink("copy", outer.nodes[-1]["daily"], path="x")  # type: ignore[index]
    nodes = {node.name: node for node in outer.check()}
    assert set(nodes) == {"raw", "copy", *(f"sub/{node.name}" for node in inner.nodes)}
    fed = nodes["sub/orders"]
    assert isinstance(fed, PassThroughNode)
    assert fed.inputs == ("raw",)
    assert isinstance(nodes["sub/report"], SinkNode)
    assert nodes["copy"].inputs == ("sub/daily",)
    assert ("sub/priced", "sub/named") in edges_of(list(nodes.values()))


def test_a_segment_is_of_the_pipeline_that_declares_the_node() -> None:
    outer, inner = nesting()
    nodes = {node.name: node for node in outer.check()}
    assert nodes["sub/daily"].segment == f"{inner.id}::daily"
    assert nodes["sub/orders"].segment == f"{inner.id}::orders"
    assert nodes["raw"].segment == f"{outer.id}::raw"


def test_a_sink_of_a_nested_pipeline_may_pass_rows_on() -> None:
    outer, _ = nesting(outputs=["report"])
    outer.sink("copy", "sub", path="x")
    nodes = {node.name: node for node in outer.check()}
    assert isinstance(nodes["sub/report"], PassThroughNode)
    assert nodes["copy"].inputs == ("sub/report",)


def test_a_nested_pipeline_with_no_single_output_is_no_input() -> None:
    outer, _ = nesting()
    outer.sink("copy", "sub", path="x")
    with pytest.raises(PipelineInvalid, match=r"node 'copy': its input 'sub' is a pipeline; use one of its nodes"):
        outer.check()


def test_pipelines_nest_deeper_and_side_by_side() -> None:
    outer, _ = nesting(outputs=["report"])
    outermost = PipelineDeclaration("outermost")
    one = outermost.pipeline("one", outer)
    two = outermost.pipeline("two", outer, inputs={"raw": one["sub/daily"]})
    outermost.sink("end", two["sub/report"], path="x")
    nodes = {node.name: node for node in outermost.check()}
    assert nodes["two/raw"].inputs == ("one/sub/daily",)
    assert nodes["end"].inputs == ("two/sub/report",)
    assert nodes["two/sub/orders"].inputs == ("two/raw",)


def test_a_pipeline_within_itself_is_refused() -> None:
    a, b = PipelineDeclaration("a"), PipelineDeclaration("b")
    a.pipeline("b", b)
    b.pipeline("a", a)
    with pytest.raises(PipelineInvalid, match="pipeline 'a' would contain itself"):
        a.check()


def test_a_cycle_through_a_nested_pipeline_is_detected() -> None:
    outer = PipelineDeclaration("outer")
    outer.pipeline("sub", daily(), inputs={"orders": "back"})
    outer.transform("back", "sub/daily", same)
    with pytest.raises(PipelineInvalid, match="its inputs form a cycle"):
        outer.check()
