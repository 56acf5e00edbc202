"""Rows of a source, as they are asked about: `source="raw/orders", where="order_id = 42"`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.errors import RowsError
from headwater.rows.names import NamedSource, name_leaves
from headwater.rows.provenance import RowProvenance

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class MarkedSource:
    """``sources`` are the numbers of all occurrences of the dataset that was asked for."""

    provenance: RowProvenance
    names: tuple[NamedSource, ...]
    sources: tuple[int, ...]
    where: str

    @property
    def dataset(self) -> str:
        return str(self.names[self.sources[0]].dataset)


def mark_source(frame: DataFrame, source: str, where: str | None) -> MarkedSource:
    spark, plan = frame.sparkSession, frame._jdf.queryExecution().analyzed()
    unmarked = RowProvenance(spark, plan)
    names = tuple(name_leaves(spark, [unmarked.leaf(each.number) for each in unmarked.sources]))
    fitting = tuple(number for number, named in enumerate(names) if named.matches(source))
    there = ", ".join(dict.fromkeys(str(named.dataset) for named in names)) or "none"
    if not fitting:
        raise RowsError(f"{source!r} is not a source here. There are: {there}")
    if len({names[number].dataset for number in fitting}) > 1:
        raise RowsError(f"{source!r} fits more than one source. There are: {there}")
    condition = "true" if where is None else where
    for number in fitting:
        _check_condition(unmarked, number, condition, source)
    return MarkedSource(RowProvenance(spark, plan, dict.fromkeys(fitting, condition)), names, fitting, condition)


def _check_condition(provenance: RowProvenance, number: int, condition: str, source: str) -> None:
    from pyspark.errors import AnalysisException

    told = provenance.sources[number]
    names = [column.name for column in told.columns]
    try:
        provenance.source_frame(number).select(*names).where(condition)
    except AnalysisException as wrong:
        reason = next((line.strip() for line in str(wrong).splitlines() if line.strip()), "it cannot be read")
        reason = reason.partition(" SQLSTATE")[0]
        listed = ", ".join(names)
        raise RowsError(f"The condition {condition!r} does not fit {source}: {reason} Columns: {listed}") from wrong
