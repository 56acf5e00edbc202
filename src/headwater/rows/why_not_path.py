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

_LETS_ALL_THROUGH = frozenset({"project", "sort", "window", "union", "other"})

_TIDIED = (
    (r"`([A-Za-z_]\w*)`", r"\1"),
    (r"\b(?:spark_catalog\.default|__auto_generated_subquery_name)\.", ""),
    (r"\b(\d+(?:\.\d+)?(?:E-?\d+)?)(?:L|S|Y|D|F|BD)\b", r"\1"),
    (r"\bCAST\((-?\d+(?:\.\d+)?) AS [A-Z]+(?:\(\d+(?:, ?\d+)?\))?\)", r"\1"),
    (r"\bscalarsubquery\(\)", "(SELECT …)"),
)
"""What Spark writes that people do not."""

Question = Literal["conditions", "values", "ranking", "keys", "partners", "blockers"]


@dataclass(frozen=True)
class Step:
    """An operator. ``place``: on which side of it the rows come; ``others``: the sources on the other side."""

    number: int
    operator: str
    kind: str
    text: str
    place: int
    visible: bool
    others: tuple[int, ...]

    @property
    def counts(self) -> bool:
        """Whether there may be fewer rows above than below."""
        return self.kind not in _LETS_ALL_THROUGH


@dataclass(frozen=True)
class Said:
    """An expression, its column in the frame if it has one, and what it is for."""

    role: str
    text: str
    unknown: bool
    column: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Shown:
    said: tuple[Said, ...]
    frame: DataFrame

    def role(self, *roles: str) -> list[Said]:
        return [each for each in self.said if each.role in roles]


class Path:
    def __init__(self, spark: SparkSession, java: Any) -> None:
        self._spark = spark
        self._java = java
        self.source: int = java.source()
        self.steps = tuple(
            Step(
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

    def survivors(self, first: int = 0) -> dict[int, int]:
        """How many marked rows there are after each step from ``first`` on, as far as they can be followed: one job."""
        from pyspark.sql import functions as F

        seen = [step for step in self.steps if step.visible and step.number >= first]
        counted = [step.number for step in seen if step.counts or step.number == first]
        counts = (
            self._frame(self._java.survivors(number)).agg(F.lit(number).alias("step"), F.count("*").alias("rows"))
            for number in counted
        )
        found = {row["step"]: row["rows"] for row in reduce(lambda one, other: one.union(other), counts).collect()}
        for step in seen:
            if step.number not in found:
                found[step.number] = found[step.number - 1]
        return found

    def relax(self, step: Step) -> None:
        """Suppose that the operator had let the rows through."""
        self._java.relax(step.number)

    def ask(self, question: Question, step: Step) -> Shown:
        java = getattr(self._java, question)(step.number)
        return Shown(tuple(_said(json.loads(java.told()))), self._frame(java.frame()))

    def reached(self) -> DataFrame:
        """The marked rows at the top, which has to be visible, under the names that they have there."""
        return self._frame(self._java.reached())

    def wanted(self, step: Step) -> Path | None:
        """The way of the rows that would have matched the first of the marked ones in a join, from their source."""
        java = self._java.wanted(step.number)
        return None if java is None else Path(self._spark, java)

    def _frame(self, java: Any) -> DataFrame:
        from pyspark.sql import DataFrame

        return DataFrame(java, self._spark)


def _said(told: Iterable[Mapping[str, Any]]) -> Iterable[Said]:
    known = ("role", "text", "unknown", "column")
    for each in told:
        more = {name: tidy(value) if name == "there" else value for name, value in each.items() if name not in known}
        yield Said(each["role"], tidy(each["text"]), each["unknown"], each.get("column", ""), more)


def tidy(sql: str) -> str:
    """Spark's SQL as people write it: plain names and numbers as they are, no default catalog. Texts in quotes are left
    alone."""
    parts = re.split(r"('(?:[^'\\\\]|\\\\.)*')", sql)
    for place in range(0, len(parts), 2):
        for pattern, plain in _TIDIED:
            parts[place] = re.sub(pattern, plain, parts[place])
    return "".join(parts)
