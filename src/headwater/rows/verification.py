"""Whether an answer is complete: the query, run on the returned rows alone, has to give the traced rows again.

Each occurrence of a source is restricted to its own rows; one whose rows can only keep others away, as on the right of
an anti-join, stays whole. Columns that another execution may not repeat are not compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Literal, TypeAlias

from headwater.errors import shorten
from headwater.rows.backward import BackwardTrace, as_stored, comparable, internal_names, is_same_row, with_suffix
from headwater.rows.column_names import OUT_ID
from headwater.rows.grain import GRAINS, Grain
from headwater.rows.provenance import RowProvenance

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

DEFAULT_LIMIT = 1_000
"""Up to this many pairs of a traced row and a source row, an answer is verified by default."""
_MAX_SINGLE_ROWS = 5
"""Traced rows that are verified one by one, where together they do not come back."""
_MAX_SHOWN_VALUES = 4
_AGAIN = "_again"

Pair: TypeAlias = tuple[int, str, str, int]
"""(source, out_id, file, row)."""


@dataclass(frozen=True)
class Verification:
    """``reason``: what differs, or why it was not tried."""

    answer: Literal["yes", "no", "not tried"]
    reason: str | None = None

    def to_dict(self) -> dict[str, str | None]:
        return {"answer": self.answer, "reason": self.reason}

    def __str__(self) -> str:
        return self.answer if self.reason is None else f"{self.answer}: {self.reason}"


def combine(verifications: Sequence[Verification]) -> Verification:
    """Of several parts of an answer the worst."""
    order = ("no", "not tried", "yes")
    return min(verifications, key=lambda verification: order.index(verification.answer))


def verify(trace: BackwardTrace, grain: Grain, limit: int) -> Verification:
    """``grain``: the coarsest of the sources."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    if limit <= 0:
        return Verification("not tried", "verification is switched off")
    if trace.missing_count:
        return Verification("no", f"the query, run again, does not return {trace.missing_count:,} of the traced rows")
    if GRAINS.index(grain) > GRAINS.index("group"):
        return Verification("not tried", f"the rows shown are labelled {grain}")
    pairs = _collect_pairs(trace, limit)
    if pairs is None:
        return Verification("not tried", f"the answer has more than {limit:,} source rows")
    try:
        return _compare(trace, pairs)
    except (PySparkException, Py4JError) as failed:
        message = shorten(str(failed).strip().partition("\n")[0])
        return Verification("not tried", f"the query does not run on the returned rows alone: {message}")


def _collect_pairs(trace: BackwardTrace, limit: int) -> list[Pair] | None:
    if not trace.provenance.sources:
        return []
    rows = trace.all_pairs().limit(limit + 1).collect()
    if len(rows) > limit:
        return None
    return [(number, out_id, file, row) for number, out_id, file, row in rows]


def _compare(trace: BackwardTrace, pairs: Sequence[Pair]) -> Verification:
    asked = trace.rows.toDF(*internal_names(trace.provenance), OUT_ID)
    lost = _lost_rows(trace, asked, pairs).limit(_MAX_SINGLE_ROWS + 1).collect()
    if len(lost) <= _MAX_SINGLE_ROWS:  # rows of one may stand in another's way, as where both are in one limit
        lost = [row for row in lost if _is_lost_alone(trace, asked, row[OUT_ID], pairs)]
    if not lost:
        return Verification("yes")
    columns = trace.provenance.columns
    values = ", ".join(
        f"{column.name} = {shorten(str(lost[0][place]))}" for place, column in enumerate(columns[:_MAX_SHOWN_VALUES])
    )
    if len(lost) == 1:
        return Verification("no", f"the returned rows alone do not give the row again: {values}")
    count = f"{len(lost)}" if len(lost) <= _MAX_SINGLE_ROWS else f"more than {_MAX_SINGLE_ROWS}"
    return Verification("no", f"the returned rows alone do not give {count} rows again, for example {values}")


def _is_lost_alone(trace: BackwardTrace, asked: DataFrame, out_id: str, pairs: Sequence[Pair]) -> bool:
    own_pairs = [pair for pair in pairs if pair[1] == out_id]
    if len(own_pairs) == len(pairs):
        return True  # it was alone
    return not _lost_rows(trace, asked.where(asked[OUT_ID] == out_id), own_pairs).isEmpty()


def _lost_rows(trace: BackwardTrace, asked: DataFrame, pairs: Iterable[Pair]) -> DataFrame:
    """The asked rows that the query does not give on the rows of these pairs alone."""
    provenance = trace.provenance
    places: dict[int, dict[str, set[int]]] = {number: {} for block in provenance.blocks for number in block.sources}
    for number, _, file, row in pairs:
        places[number].setdefault(file, set()).add(row)
    names = internal_names(provenance)
    again = provenance.execute_on({number: _rows_at(provenance, number, files) for number, files in places.items()})
    again = as_stored(again.toDF(*names), names, trace.stored or [None] * len(names))
    again = with_suffix(comparable(provenance, again, exact=False), _AGAIN)
    return comparable(provenance, asked, exact=False).join(again, is_same_row(provenance, _AGAIN), "left_anti")


def _rows_at(provenance: RowProvenance, number: int, files: dict[str, set[int]]) -> DataFrame:
    from pyspark.sql import functions as F

    source = provenance.sources[number]
    conditions = [(F.col(source.file) == file) & F.col(source.row).isin(*rows) for file, rows in files.items()]
    is_traced = reduce(lambda one, other: one | other, conditions, F.lit(False))
    return provenance.source_frame(number).where(is_traced)
