"""The result of :func:`headwater.quality`: the report, and the rows that break a rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import uuid4

from headwater.checks.breaking import breaks_rule, column_of, has_key
from headwater.errors import QualityError, shorten
from headwater.model.names import Dataset
from headwater.model.quality import QualityReport, Rule, RuleKind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class QualityCheck(QualityReport):
    """``dataset`` and ``run_id`` are those that the report is stored under; None if it is not stored."""

    dataset: Dataset | None = None
    run_id: str | None = None
    frame: DataFrame | None = field(default=None, repr=False, compare=False)
    rules: Sequence[Rule] = field(default=(), repr=False)

    def failing(self, rule_name: str) -> DataFrame:
        """The rows that break a rule, with all their columns; for a rule `unique`, all rows that share their key.

        They are read again, and `hw.trace` finds their source rows.
        """
        rule = next((rule for rule in self.rules if rule.name == rule_name), None)
        if rule is None or self.frame is None:
            available = ", ".join(shorten(rule.name) for rule in self.rules)
            raise QualityError(f"There is no rule '{shorten(rule_name)}'. Rules: {available}.")
        if rule.kind is RuleKind.UNIQUE:
            return _rows_sharing_key(self.frame, rule)
        return self.frame.filter(breaks_rule(self.frame, rule, self._moment))

    @property
    def _moment(self) -> datetime:
        assert self.measured_at is not None
        return self.measured_at


def _rows_sharing_key(frame: DataFrame, rule: Rule) -> DataFrame:
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    sharing = f"__hw_sharing_{uuid4().hex}"  # a name that no other column has
    key = Window.partitionBy(*map(column_of, rule.columns))
    counted = frame.filter(has_key(rule)).withColumn(sharing, F.count(F.lit(1)).over(key))
    return counted.filter(column_of(sharing) > 1).drop(sharing)
