"""From a query on real Spark to lineage as lines of text, which is what the cases are written in."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from headwater.plan.lineage import Derivation, LineageSource, PlanLineage
from headwater.plan.trace import trace_plan
from headwater.plan.tree import PlanNode, read_plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def analyzed(frame: DataFrame) -> PlanNode:
    return read_plan(frame._jdf.queryExecution().analyzed().toJSON())


def analyzed_command(spark: SparkSession, sql: str) -> PlanNode:
    """A command's plan, analyzed and not run: so also what no table here could carry out."""
    jvm: Any = spark._jvm
    state = spark._jsparkSession.sessionState()
    plan = state.sqlParser().parsePlan(sql)
    mode = jvm.org.apache.spark.sql.execution.CommandExecutionMode.SKIP()
    return read_plan(state.executePlan(plan, mode).analyzed().toJSON())


def trace(frame: DataFrame, origin: Callable[[PlanNode], PlanNode | None] = lambda leaf: None) -> PlanLineage:
    return trace_plan(analyzed(frame), origin)


def table_of(source: LineageSource) -> str:
    """The table's name; a source that is none, by its kind."""
    for field in ("catalogTable", "desc", "tableMeta"):
        described = source.node.fields.get(field)
        if isinstance(described, dict):
            return str(described["identifier"]["table"])
    return source.kind


def written(lineage: PlanLineage) -> list[str]:
    """One line for each derivation, each column that has none, and each gap."""
    lines = []
    for column in lineage.columns:
        lines += [f"{column.name} <- {_derivation(d, lineage)}" for d in column.derivations] or [f"{column.name} <-"]
    lines += [f"* <- {_derivation(d, lineage)}" for d in lineage.whole]
    for gap in lineage.gaps:
        lines.append(f"! {gap.operator} ({', '.join(gap.columns) or 'all columns'}): {gap.reason}")
    return list(dict.fromkeys(lines))


def _derivation(derivation: Derivation, lineage: PlanLineage) -> str:
    name = f"{table_of(lineage.sources[derivation.source])}.{derivation.field}"
    kind = derivation.subtype + (" masked" if derivation.masking else "")
    return f"{name} {kind}" + (f": {derivation.logic}" if derivation.logic is not None else "")
