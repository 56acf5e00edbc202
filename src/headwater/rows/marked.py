"""Source rows that a question is about: `source="raw/orders", where="order_id = 42"`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.errors import RowsError
from headwater.rows.column_names import quote_name
from headwater.rows.names import NamedSource, name_leaves
from headwater.rows.provenance import RowProvenance

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class MarkedSource:
    """``sources`` are the numbers of all occurrences of the dataset in the plan."""

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
    names = tuple(name_leaves(spark, [unmarked.leaf(plan_source.number) for plan_source in unmarked.sources]))
    matching = tuple(number for number, named in enumerate(names) if named.matches(source))
    available = ", ".join(dict.fromkeys(str(named.dataset) for named in names)) or "none"
    if not matching:
        raise RowsError(f"{source!r} is not a source here. Sources: {available}")
    if len({names[number].dataset for number in matching}) > 1:
        raise RowsError(f"{source!r} matches more than one source. Sources: {available}")
    condition = "true" if where is None else where
    for number in matching:
        _check_condition(unmarked, number, condition, source)
    return MarkedSource(RowProvenance(spark, plan, dict.fromkeys(matching, condition)), names, matching, condition)


def _check_condition(provenance: RowProvenance, number: int, condition: str, source: str) -> None:
    from pyspark.errors import AnalysisException

    marked_source = provenance.sources[number]
    names = [column.name for column in marked_source.columns]
    try:
        provenance.source_frame(number).select(*map(quote_name, names)).where(condition)
    except AnalysisException as wrong:
        reason = next((line.strip() for line in str(wrong).splitlines() if line.strip()), "it cannot be read")
        reason = reason.partition(" SQLSTATE")[0]
        listed = ", ".join(names)
        raise RowsError(f"The condition {condition!r} does not fit {source}: {reason} Columns: {listed}") from wrong
