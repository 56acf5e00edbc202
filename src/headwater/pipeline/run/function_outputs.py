"""The stored results of a row function: its result rows, and a row for each input row without a result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING

from headwater.pipeline.declare.nodes import RowMapNode
from headwater.pipeline.items.item_ids import HI, ID, LO, Sampling
from headwater.pipeline.items.leaves import OUT
from headwater.pipeline.worker import EMITTED, OUTCOME_COLUMNS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


@dataclass(frozen=True)
class FunctionOutput:
    """``carried_ids``: by source, the columns with the ids of its items. ``pairs``: by source, the items of rows that
    many items made. Both are empty if no items are followed."""

    node: RowMapNode
    table: DataFrame
    carried_ids: Mapping[str, list[tuple[str, str]]] = field(default_factory=dict)
    pairs: Mapping[str, DataFrame] = field(default_factory=dict)
    lost_sources: frozenset[str] = frozenset()
    """Sources whose items are here but cannot be located."""

    @property
    def results(self) -> DataFrame:
        """The frame that the next node sees."""
        return self._with_flag(EMITTED).select(*self._result_columns())

    def failure(self, flag: int) -> str | None:
        """An error with exactly this outcome, if there is one."""
        from pyspark.sql import functions as F

        errors = self.table.where(F.col("__hw_outcome") == flag).select("__hw_error").limit(1).collect()
        return str(errors[0][0]) if errors else None

    def item_rows(self, source: str, sampling: Sampling) -> list[DataFrame]:
        """The table joined with the source's items, each row once with each of its items."""
        from pyspark.sql import functions as F

        frames = []
        is_new = F.lit(True)
        for hi, lo in self.carried_ids.get(source, ()):
            chosen = sampling.condition(F.col(lo))
            is_present = F.col(hi).isNotNull() & is_new & (F.lit(True) if chosen is None else chosen)
            frames.append(self.table.withColumns({HI: F.col(hi), LO: F.col(lo)}).where(is_present))
            is_new = is_new & ~_is_same_item(hi, lo)
        if source in self.pairs:
            frames.append(self.table.join(self.pairs[source], OUT).where(is_new))
        return frames

    def items_behind(self) -> DataFrame:
        """(`__hw_out`, item), each once: the items that made a row, where it does not carry all of them."""
        from pyspark.sql import functions as F

        frames = [pairs.select(OUT, *ID) for pairs in self.pairs.values()]
        for columns in self.carried_ids.values():
            for hi, lo in columns:
                carried = self.table.select(OUT, F.col(hi).alias(HI), F.col(lo).alias(LO))
                frames.append(carried.where(F.col(HI).isNotNull()))
        return reduce(lambda left, right: left.union(right), frames).distinct()

    def result_json(self) -> Column:
        """The result row as JSON."""
        from pyspark.sql import functions as F

        emitted = F.col("__hw_outcome").bitwiseAND(EMITTED) != 0
        return F.when(emitted, F.to_json(F.struct(*self._result_columns()), {"ignoreNullFields": "false"}))

    def _with_flag(self, flag: int) -> DataFrame:
        from pyspark.sql import functions as F

        return self.table.where(F.col("__hw_outcome").bitwiseAND(flag) != 0)

    def _result_columns(self) -> list[str]:
        names = [name for name, _ in OUTCOME_COLUMNS]
        last = self.table.columns.index(names[-1])
        return [f"`{name.replace('`', '``')}`" for name in self.table.columns[last + 1 :]]


def _is_same_item(hi: str, lo: str) -> Column:
    from pyspark.sql import functions as F

    return F.col(hi).eqNullSafe(F.col(HI)) & F.col(lo).eqNullSafe(F.col(LO))
