"""The first block: the rows of the output, their identity, and where they come from.

If the output can be read back and has the keys of its groups, its rows are read and nothing is computed again. If it
has few rows, the query is filtered by their values, by which sources skip. Either is cheaper than running the plan
again, and describes the output itself, whichever rows a limit chose among equals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from headwater.jvm import JavaObject
from headwater.rows.backward import MAX_PUSHED_ROWS, as_stored, has_link_values
from headwater.rows.column_names import quote_name
from headwater.rows.identity import id_halves
from headwater.rows.pairs.agreement import Agreement, compare, compare_sets
from headwater.rows.pairs.blocks import BlockRows
from headwater.rows.pairs.layout import OUT_HI, OUT_LO
from headwater.rows.provenance import RowProvenance
from headwater.rows.stored_values import StoredFormat

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


def output_rows_of(
    spark: SparkSession,
    plan: JavaObject,
    marks: Mapping[int, str],
    output: DataFrame | None,
    names: Sequence[str] | None,
    stored_format: StoredFormat | None = None,
) -> tuple[RowProvenance, OutputRows]:
    """The plan, split in the cheapest way for its output."""
    provenance = RowProvenance(spark, plan, marks)
    outs = OutputRows(provenance, output, names, stored_format)
    if outs.is_small:
        unlimited = RowProvenance(spark, plan, marks, known=True)
        selected = OutputRows(unlimited, output, names, stored_format, selects_rows=True)
        if unlimited.identity == provenance.identity and not selected.exceeds_output:
            return unlimited, selected
    return provenance, outs


class OutputRows:
    """``selects_rows``: the query is filtered by the output's rows, and ``provenance`` has no limits at the top."""

    def __init__(
        self,
        provenance: RowProvenance,
        output: DataFrame | None,
        names: Sequence[str] | None,
        stored_format: StoredFormat | None = None,
        selects_rows: bool = False,
    ) -> None:
        self._provenance = provenance
        self._selects_rows = selects_rows
        self._top = provenance.frame(0)
        self._names = names or [column.name for column in provenance.columns]
        self._output, self._unreadable_reason = self._in_plan_order(output)
        self._column_names = [f"__hw_c{place}" for place in range(len(provenance.columns))]
        self._stored: Sequence[str | None] = [None] * len(provenance.columns)
        if self._output is not None and stored_format is not None:
            types = [type for _name, type in self._output.dtypes]
            self._stored = stored_format.stored_values(provenance.columns, self._names, types, stored_format.options)
        self.names = _unique_names([self._names[place] for place in provenance.identity])
        """The names of the columns that identify a row."""

    def _in_plan_order(self, output: DataFrame | None) -> tuple[DataFrame | None, str]:
        """The output with its columns in the order of the plan, if it has them as they were computed."""
        if output is None:
            return None, "the written rows cannot be read back on their own"
        names, columns = self._names, self._provenance.columns
        types = {field.name: field.dataType.simpleString() for field in output.schema.fields}
        if len(types) != len(columns) or len(set(names)) != len(columns):
            return None, "the output has other columns than the plan"
        for name, column in zip(names, columns, strict=True):
            if types.get(name) != column.type:
                return None, f"{name} was written as {types.get(name)}, and is {column.type} in the plan"
        return output.select(*map(quote_name, names)), ""

    @property
    def covers_all(self) -> bool:
        """Whether the plan was split as it is, so that its first block has exactly the output's rows."""
        return not self._selects_rows

    @property
    def reads_output(self) -> bool:
        block = self._provenance.blocks[0]
        return (
            self._output is not None
            and not block.sources
            and all(has_link_values(link, self._stored) for link in block.links)
        )

    @property
    def is_small(self) -> bool:
        """Whether the output has few enough rows to filter the query by them."""
        if self._output is None or self.reads_output or not self._provenance.identity:
            return False
        return self._output.limit(MAX_PUSHED_ROWS + 1).count() <= MAX_PUSHED_ROWS

    @property
    def exceeds_output(self) -> bool:
        """Whether more rows have the output's values than were written: a limit took some of them."""
        if not self._provenance.exceeds_limit or self._output is None:
            return False
        columns, identities = self._identities(self._output)
        return self._matching_rows(identities, columns).count() > self._output.count()

    def _identities(self, output: DataFrame) -> tuple[list[str], DataFrame]:
        columns = [self._column_names[place] for place in self._provenance.identity]
        return columns, output.toDF(*self._column_names).select(*columns).distinct()

    def rows(self, below: BlockRows) -> DataFrame:
        """The rows with their identifying columns under internal names, and their carried columns."""
        carried = self._top.columns[len(self._column_names) :]
        if self.reads_output and self._output is not None:
            return self._output.toDF(*self._column_names).select("*", *self._link_columns())
        if self._selects_rows and self._output is not None:
            columns, identities = self._identities(self._output)
            return below.with_numeric_ids(self._matching_rows(identities, columns)).select(*columns, *carried)
        rows = below.with_numeric_ids(self._top).toDF(*self._column_names, *carried)
        return as_stored(rows, self._column_names, self._stored)

    def _matching_rows(self, identities: DataFrame, columns: Sequence[str]) -> DataFrame:
        return self._provenance.join_result(identities, columns, self._stored, MAX_PUSHED_ROWS)

    def _link_columns(self) -> Iterator[Column]:
        """The link columns that a row of the output itself has the values of."""
        from pyspark.sql import functions as F

        for link in self._provenance.blocks[0].links:
            yield F.lit(True).alias(link.present)
            for name, place in zip(
                link.columns, link.result_places or (), strict=False
            ):  # a constant link has no columns
                yield F.col(self._column_names[place]).alias(name)

    def owner_columns(self, rows: DataFrame) -> list[Column]:
        """The id of a row, and its identifying values."""
        hi, lo = self._halves(rows)
        shown = [
            rows[self._column_names[place]].alias(name)
            for place, name in zip(self._provenance.identity, self.names, strict=True)
            if _storable(self._provenance.columns[place].type)
        ]
        return [hi.alias(OUT_HI), lo.alias(OUT_LO), *shown]

    @property
    def stored_names(self) -> list[str]:
        columns = self._provenance.columns
        pairs = zip(self._provenance.identity, self.names, strict=True)
        return [name for place, name in pairs if _storable(columns[place].type)]

    def agreement(self, table: DataFrame) -> Agreement:
        if self.reads_output:
            return Agreement("read")
        if self._output is None:
            return Agreement("unchecked", self._unreadable_reason)
        output = self._output.toDF(*self._column_names)
        if self._selects_rows:
            return compare_sets(table, (OUT_HI, OUT_LO), output, self._halves(output))
        return compare(table, (table[OUT_HI], table[OUT_LO]), output, self._halves(output))

    def _halves(self, rows: DataFrame) -> tuple[Column, Column]:
        names = [self._column_names[place] for place in self._provenance.identity]
        hi, lo = id_halves(rows, names, exact=not self._provenance.has_key)
        return hi, lo


def _storable(type: str) -> bool:
    """Whether Parquet has the type."""
    return "void" not in type and "interval" not in type


def _unique_names(names: Sequence[str]) -> list[str]:
    unique: list[str] = []
    for name in names:
        candidate, number = name, 2
        while candidate.lower() in (other.lower() for other in unique):
            candidate, number = f"{name}_{number}", number + 1
        unique.append(candidate)
    return unique
