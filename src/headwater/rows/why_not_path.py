"""The path of marked rows up a plan (jvm/OperatorPath.java), and what its operators say about them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_KEEPS_ALL_ROWS = frozenset({"project", "sort", "window", "union", "other"})

_REWRITES = (
    (r"`([A-Za-z_]\w*)`", r"\1"),
    (r"\b(?:spark_catalog\.default|__auto_generated_subquery_name)\.", ""),
    (r"\b(\d+(?:\.\d+)?(?:E-?\d+)?)(?:L|S|Y|D|F|BD)\b", r"\1"),
    (r"\bCAST\((-?\d+(?:\.\d+)?) AS [A-Z]+(?:\(\d+(?:, ?\d+)?\))?\)", r"\1"),
    (r"\bscalarsubquery\(\)", "(SELECT …)"),
)
"""Spark's SQL that people would write differently."""

Question = Literal["conditions", "values", "ranking", "keys", "partners", "blockers"]


@dataclass(frozen=True)
class OperatorStep:
    """An operator. ``place``: the input through which the rows arrive; ``others``: the sources on the other side."""

    number: int
    operator: str
    kind: str
    text: str
    place: int
    visible: bool
    others: tuple[int, ...]

    @property
    def may_drop_rows(self) -> bool:
        """Whether there may be fewer rows above than below."""
        return self.kind not in _KEEPS_ALL_ROWS


@dataclass(frozen=True)
class ExpressionColumn:
    """An expression, its role, and its column in the frame if it has one."""

    role: str
    text: str
    unknown: bool
    column: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ExpressionFrame:
    expressions: tuple[ExpressionColumn, ...]
    frame: DataFrame

    def with_role(self, *roles: str) -> list[ExpressionColumn]:
        return [expression for expression in self.expressions if expression.role in roles]


class OperatorPath:
    def __init__(self, spark: SparkSession, java: Any) -> None:
        self._spark = spark
        self._java = java
        self.source: int = java.source()
        self.steps = tuple(
            OperatorStep(
                number=number,
                operator=step["operator"],
                kind=step["kind"],
                text=tidy(step["text"]),
                place=step["place"],
                visible=step["visible"],
                others=tuple(step["others"]),
            )
            for number, step in enumerate(json.loads(java.describe()))
        )

    def count_survivors(self, first: int = 0) -> dict[int, int]:
        """The number of marked rows after each step from ``first`` on, as far as they can be followed, in one job."""
        from pyspark.sql import functions as F

        visible = [step for step in self.steps if step.visible and step.number >= first]
        counted = [step.number for step in visible if step.may_drop_rows or step.number == first]
        counts = (
            self._frame(self._java.survivors(number)).agg(F.lit(number).alias("step"), F.count("*").alias("rows"))
            for number in counted
        )
        by_step = {row["step"]: row["rows"] for row in reduce(lambda left, right: left.union(right), counts).collect()}
        for step in visible:
            if step.number not in by_step:
                by_step[step.number] = by_step[step.number - 1]
        return by_step

    def relax(self, step: OperatorStep) -> None:
        """Assumes that the operator let the rows through."""
        self._java.relax(step.number)

    def inspect(self, question: Question, step: OperatorStep) -> ExpressionFrame:
        java = getattr(self._java, question)(step.number)
        return ExpressionFrame(tuple(_expression_columns(json.loads(java.describe()))), self._frame(java.frame()))

    def surviving_rows(self) -> DataFrame:
        """The marked rows at the top, which must be visible, under their names there."""
        return self._frame(self._java.survivingRows())

    def partner_path(self, step: OperatorStep) -> OperatorPath | None:
        """The path of the rows that would match the first marked row in a join, from their source."""
        java = self._java.partnerPath(step.number)
        return None if java is None else OperatorPath(self._spark, java)

    def _frame(self, java: Any) -> DataFrame:
        from pyspark.sql import DataFrame

        return DataFrame(java, self._spark)


def _expression_columns(descriptions: Iterable[Mapping[str, Any]]) -> Iterable[ExpressionColumn]:
    members = ("role", "text", "unknown", "column")
    for description in descriptions:
        details = {
            name: tidy(value) if name == "otherKey" else value
            for name, value in description.items()
            if name not in members
        }
        yield ExpressionColumn(
            description["role"],
            tidy(description["text"]),
            description["unknown"],
            description.get("column", ""),
            details,
        )


def tidy(sql: str) -> str:
    """Spark's SQL as people write it: plain names and numbers as they are, no default catalog. Texts in quotes are left
    alone."""
    parts = re.split(r"('(?:[^'\\\\]|\\\\.)*')", sql)
    for place in range(0, len(parts), 2):
        for pattern, plain in _REWRITES:
            parts[place] = re.sub(pattern, plain, parts[place])
    return "".join(parts)
