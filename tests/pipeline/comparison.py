"""Compares the items of a run with those of the model."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import headwater as hw
from headwater.pipeline.declare.pipeline import PipelineDeclaration
from headwater.pipeline.run.result import Result
from tests.pipeline.model import Item, ModelHop, ModelRecord, Step, item_records, node_outputs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FULL = hw.LineageOptions(mode="full", redact=False, ancestry=True)
"""Everything of every item; its data is the row as it came."""


def run(spark: SparkSession, pipeline: hw.Pipeline, folder: Path, options: hw.LineageOptions = FULL) -> Result:
    """Without capture, which has its own tests."""
    return pipeline.start(spark, options=options.with_(location=str(folder / "items"))).wait()


def recorded(result: Result, pipeline: PipelineDeclaration) -> tuple[dict[Item, ModelRecord], set[Item]]:
    """In the model's types; and the items whose list of contributors is truncated."""
    records = [row.asDict(recursive=True) for row in result.items.collect()]
    names: dict[str, Item] = {
        each["correlation_id"]: (each["source"], json.loads(each["data"])["id"]) for each in records
    }
    assert len(names) == len(records), "one record an item"
    found = {}
    for each in records:
        others = frozenset(names[other] for other in each["contributors"])
        hops = tuple(map(_hop, each["hops"]))
        ended = ModelRecord(hops, each["node"], each["outcome"], others)
        found[names[each["correlation_id"]]] = ended
        segments = {node.name: node.segment for node in pipeline.check()}
        assert each["path"] == [segments[hop.node] for hop in hops]
        assert {hop["continuity"] for hop in each["hops"]} == {"exact"}
    return found, {names[each["correlation_id"]] for each in records if each["truncated"]}


def _hop(told: dict[str, Any]) -> ModelHop:
    assert told["cardinality"] == min(told["emissions"], 2) + 1
    outcome, emissions, contributors = told["outcome"], told["emissions"], told["contributors"]
    return ModelHop(told["node"], outcome, emissions, contributors, told["retries"], tuple(told["ancestry"]))


def different(item: Item, found: ModelRecord, expected: ModelRecord) -> str:
    lines = [f"{item} ended at {found.node} with {found.flags}, beside {sorted(found.others)}"]
    lines += [f"  the model says {expected.node} with {expected.flags}, beside {sorted(expected.others)}"]
    lines += [f"  {hop}" for hop in found.hops if hop not in expected.hops]
    lines += [f"  the model says {hop}" for hop in expected.hops if hop not in found.hops]
    return "\n".join(lines)


def in_order(steps: Sequence[Step], pipeline: PipelineDeclaration) -> list[Step]:
    """In the order in which the pipeline runs them."""
    by_name = {step.name: step for step in steps}
    return [by_name[node.name] for node in pipeline.check()]


def check(spark: SparkSession, steps: Sequence[Step], pipeline: hw.Pipeline, folder: Path) -> Result:
    result = run(spark, pipeline, folder)
    steps = in_order(steps, pipeline)
    found, cut = recorded(result, pipeline)
    expected = item_records(steps)
    assert found.keys() == expected.keys()
    for item in sorted(expected):
        if item in cut:
            assert found[item].others <= expected[item].others
            assert any(hop.emissions > 1 for hop in found[item].hops), "one row has room for all who made it here"
            expected[item] = replace(expected[item], others=found[item].others)
        assert found[item] == expected[item], different(item, found[item], expected[item])
    assert sum(result.counts.values()) == sum(len(step.data) for step in steps if step.kind == "source")
    assert result.unresolved() == ()
    walked = node_outputs(steps)
    for step in steps:
        if step.kind == "sink":
            written = spark.read.parquet(str(folder / step.name))
            assert written.columns == list(step.columns)
            made = Counter(tuple(row.values[name] for name in step.columns) for row in walked.rows[step.name])
            assert Counter(map(tuple, written.collect())) == made
    return result
