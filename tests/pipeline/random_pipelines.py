"""Random pipelines: as steps for the model, and as declarations."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

import headwater as hw
from tests.pipeline.model import Behaviour, Step

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from headwater.pipeline.declare.nodes import PipelineNode

READ = ("keyed", "lying", "memory")
"""Of a source: files with a key, files without one, or a frame of the program's own."""
_VALUES = st.tuples(st.none() | st.integers(1, 3), st.none() | st.integers(0, 11))
_SCHEMA = "id long, k long, v long"


@st.composite
def pipelines(draw: st.DrawFn) -> list[Step]:
    steps: list[Step] = []
    for place in range(draw(st.integers(1, 3))):
        rows = draw(st.lists(_VALUES, max_size=6))
        data = tuple((number, *values) for number, values in enumerate(rows))
        steps.append(Step(f"s{place}", "source", (), ("id", "k", "v"), data, how=draw(st.sampled_from(READ))))
    for place in range(draw(st.integers(2, 6))):
        _grow(draw, steps, f"n{place}")
    given = {name for step in steps for name in step.inputs}
    loose = [step for step in steps if step.name not in given]
    for place, step in enumerate(loose):
        steps.append(Step(f"out{place}", "sink", (step.name,), step.columns))
    return steps


def _grow(draw: Any, steps: list[Step], name: str) -> None:
    """One more node, after a projection if its input does not fit it. Nodes without a successor are mostly used
    first."""
    taken = {each for step in steps for each in step.inputs}
    fit = [step for step in steps if "v" in step.columns]
    ends = [step for step in fit if step.name not in taken]

    def one() -> Step:
        step: Step = draw(st.sampled_from(ends if ends and draw(st.integers(0, 3)) else fit))
        return step

    kind = draw(st.sampled_from(("filter", "union", "distinct", "map", "map", "flat_map", "join", "join", "aggregate")))
    first = one()
    if kind == "filter":
        how = draw(st.sampled_from(("even", "k", "all", "none")))
        steps.append(Step(name, kind, (first.name,), first.columns, how=how))
    elif kind == "distinct":
        steps.append(Step(name, kind, (first.name,), first.columns))
    elif kind == "aggregate":
        steps.append(Step(name, kind, (first.name,), ("k", "v")))
    elif kind == "union":
        steps.append(Step(name, kind, (first.name, one().name), ("k", "v")))
    elif kind == "join":
        steps.append(Step(f"{name}r", "project", (one().name,), ("k", "w")))
        if "w" in first.columns:
            steps.append(Step(f"{name}l", "project", (first.name,), ("k", "v")))
            first = steps[-1]
        how = draw(st.sampled_from(("inner", "left", "right", "full", "semi", "anti")))
        others = [column for column in first.columns if column != "k"]
        columns = ("k", *others) if how in ("semi", "anti") else ("k", *others, "w")
        steps.append(Step(name, kind, (first.name, f"{name}r"), columns, how=how))
    else:
        how, retries = draw(st.sampled_from(("skip", "dead_letter"))), draw(st.integers(0, 2))
        steps.append(Step(name, kind, (first.name,), ("k", "v"), how=how, retries=retries))


def declared(spark: SparkSession, steps: list[Step], folder: Path, name: str = "drawn") -> hw.Pipeline:
    pipeline = hw.Pipeline(name, namespace="tests")
    for step in steps:
        declare(spark, pipeline, step, folder)
    return pipeline


def declare(spark: SparkSession, pipeline: hw.Pipeline, step: Step, folder: Path) -> PipelineNode:
    from pyspark.sql import functions as F

    match step.kind:
        case "source":
            return _source(spark, pipeline, step, folder)
        case "map" | "flat_map":
            add = pipeline.map if step.kind == "map" else pipeline.flat_map
            fate = shipped(Behaviour(step.kind == "flat_map", step.retries))
            schema = "k long, v long"
            return add(step.name, step.inputs[0], fate, schema=schema, retries=step.retries, on_error=step.how)
        case "join":
            return pipeline.join(step.name, *step.inputs, on="k", how=step.how)
        case "aggregate":
            return pipeline.aggregate(step.name, step.inputs[0], by="k", v=F.sum("v"))
        case "sink":
            return pipeline.sink(step.name, step.inputs[0], format="parquet", path=str(folder / step.name))
    return pipeline.transform(step.name, list(step.inputs), _Transform(step))


def shipped(fate: Behaviour) -> Any:
    """By value: the workers cannot import these tests."""
    from pyspark import cloudpickle

    from tests.pipeline import model

    by_value: Any = cloudpickle.register_pickle_by_value
    by_value(model)
    return fate


class _Transform:
    def __init__(self, step: Step) -> None:
        self.step = step

    def __call__(self, *frames: DataFrame) -> DataFrame:
        step = self.step
        for frame in frames:
            assert not [column for column in frame.columns if column.startswith("__hw_")]
        if step.kind == "filter":
            conditions: Mapping[str, str] = {"even": "v % 2 = 0", "k": "k is not null", "all": "true", "none": "false"}
            return frames[0].where(conditions[step.how])
        if step.kind == "distinct":
            return frames[0].distinct()
        columns = ["v as w" if column == "w" else column for column in step.columns]
        found = frames[0].selectExpr(*columns)
        for frame in frames[1:]:
            found = found.union(frame.selectExpr(*columns))
        return found


def _source(spark: SparkSession, pipeline: hw.Pipeline, step: Step, folder: Path) -> PipelineNode:
    frame = spark.createDataFrame(list(step.data), _SCHEMA)
    if step.how == "memory":
        return pipeline.source(step.name, lambda _: frame)
    path = str(folder / "in" / step.name)
    frame.repartition(2).write.parquet(path)
    return pipeline.source(step.name, lambda spark: spark.read.parquet(path), "id" if step.how == "keyed" else None)
