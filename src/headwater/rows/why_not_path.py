"""The way of marked rows up a plan (jvm/Path.java), and what its operators answer about them."""

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
"""What Spark writes that people do not."""

Question = Literal["conditions", "values", "ranking", "keys", "partners", "blockers"]


@dataclass(frozen=True)
class OperatorStep:
    """An operator. ``place``: on which side of it the rows come; ``others``: the sources on the other side."""

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
    """An expression, its column in the frame if it has one, and what it is for."""

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
        return [each for each in self.expressions if each.role in roles]


class OperatorPath:
    def __init__(self, spark: SparkSession, java: Any) -> None:
        self._spark = spark
        self._java = java
        self.source: int = java.source()
        self.steps = tuple(
            OperatorStep(
                number,
                told["operator"],
                told["kind"],
                tidy(told["text"]),
                told["place"],
                told["visible"],
                tuple(told["others"]),
            )
            for number, told in enumerate(json.loads(java.describe()))
        )

    def count_survivors(self, first: int = 0) -> dict[int, int]:
        """How many marked rows there are after each step from ``first`` on, as far as they can be followed: one job."""
        from pyspark.sql import functions as F

        seen = [step for step in self.steps if step.visible and step.number >= first]
        counted = [step.number for step in seen if step.may_drop_rows or step.number == first]
        counts = (
            self._frame(self._java.survivors(number)).agg(F.lit(number).alias("step"), F.count("*").alias("rows"))
            for number in counted
        )
        found = {row["step"]: row["rows"] for row in reduce(lambda one, other: one.union(other), counts).collect()}
        for step in seen:
            if step.number not in found:
                found[step.number] = found[step.number - 1]
        return found

    def relax(self, step: OperatorStep) -> None:
        """Suppose that the operator had let the rows through."""
        self._java.relax(step.number)

    def inspect(self, question: Question, step: OperatorStep) -> ExpressionFrame:
        java = getattr(self._java, question)(step.number)
        return ExpressionFrame(tuple(_expression_columns(json.loads(java.describe()))), self._frame(java.frame()))

    def surviving_rows(self) -> DataFrame:
        """The marked rows at the top, which has to be visible, under the names that they have there."""
        return self._frame(self._java.survivingRows())

    def partner_path(self, step: OperatorStep) -> OperatorPath | None:
        """The way of the rows that would have matched the first of the marked ones in a join, from their source."""
        java = self._java.partnerPath(step.number)
        return None if java is None else OperatorPath(self._spark, java)

    def _frame(self, java: Any) -> DataFrame:
        from pyspark.sql import DataFrame

        return DataFrame(java, self._spark)


def _expression_columns(told: Iterable[Mapping[str, Any]]) -> Iterable[ExpressionColumn]:
    known = ("role", "text", "unknown", "column")
    for each in told:
        more = {name: tidy(value) if name == "otherKey" else value for name, value in each.items() if name not in known}
        yield ExpressionColumn(each["role"], tidy(each["text"]), each["unknown"], each.get("column", ""), more)


def tidy(sql: str) -> str:
    """Spark's SQL as people write it: plain names and numbers as they are, no default catalog. Texts in quotes are left
    alone."""
    parts = re.split(r"('(?:[^'\\\\]|\\\\.)*')", sql)
    for place in range(0, len(parts), 2):
        for pattern, plain in _REWRITES:
            parts[place] = re.sub(pattern, plain, parts[place])
    return "".join(parts)
