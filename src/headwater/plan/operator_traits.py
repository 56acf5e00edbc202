"""What each Catalyst operator does with rows and columns: the one table that all packages read it from.

A new operator of Spark that passes rows and columns on is one line here. Column lineage, traces and why-not, the
evidence of a run, pipelines and stored plans derive from the table what they may do with it; Java gets it as JSON
(rows/jvm/OperatorTraits.java). An operator that computes columns also has a rule in `operators/`.

A trait is a claim: where none is made, nothing relies on it. tests/plan/test_operator_traits.py observes each claim in
the data of a real Spark.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType


class RowEffect(Enum):
    """How often a row of an input is in the output."""

    UNKNOWN = "unknown"
    """Nothing is claimed: it depends on the operator's fields, or on a function."""
    EVERY = "every"
    """Each row exactly once."""
    SOME = "some"
    """Each row at most once."""
    MERGED = "merged"
    """One row for each group of rows."""
    REPEATED = "repeated"
    """Each row as often as a generator or a list of projections says."""


class RowIds(Enum):
    """How a trace gets the ids of rows through an operator (rows/jvm/BlockBuilder.java)."""

    OTHER = "other"
    """By a rule of its own; without one, a row may come from any row of the sources below."""
    PASS = "pass"
    """Columns added to its input are in its output, with the same rows: the ids are such columns."""
    OMIT = "omit"
    """The operator is not part of the traced plan: its input has the same rows."""
    ALL_ROWS = "all rows"
    """Like PASS, and every row may be there because of any row below."""
    OPAQUE = "opaque"
    """Code takes rows and returns others: each of them may come from any row below."""


@dataclass(frozen=True)
class OperatorTraits:
    columns_unchanged: bool = False
    """Its columns are those of its input, by expression id, with the same values in the same rows."""
    rows: RowEffect = RowEffect.UNKNOWN
    row_by_row: bool = False
    """It looks at one row of an input at a time: what it returns for some rows it also returns for them among others,
    and it has no side effect that depends on several rows."""
    order_kept: bool = False
    """Its rows are in the order of its input's, partition by partition."""
    order_matters: bool = False
    """Which rows it returns depends on their order."""
    row_ids: RowIds = RowIds.OTHER
    storable: bool = False
    """It may be part of a stored plan: Spark's own class, with no field that calls a method or creates an object by
    name (rows/kept_queries/jvm/PlanClasses.java, docs/decisions/0021)."""

    @property
    def traced_as_one_row(self) -> bool:
        """A row of its output is one row of its input, and is traced as that row."""
        return self.rows in (RowEffect.EVERY, RowEffect.SOME) and self.row_ids in (RowIds.PASS, RowIds.OMIT)

    @property
    def repeats_no_row(self) -> bool:
        """Columns that are unique in its input are unique in its output."""
        return self.rows in (RowEffect.EVERY, RowEffect.SOME, RowEffect.MERGED)


def _row_preserving(*, order_kept: bool = False, row_by_row: bool = True) -> OperatorTraits:
    """Every row and column of the input, unchanged, wherever it is then."""
    return OperatorTraits(
        columns_unchanged=True,
        rows=RowEffect.EVERY,
        row_by_row=row_by_row,
        order_kept=order_kept,
        row_ids=RowIds.PASS,
        storable=True,
    )


_SAME_COLUMNS = OperatorTraits(columns_unchanged=True)
_FUNCTION = OperatorTraits(row_ids=RowIds.OPAQUE, storable=True)
_FUNCTION_IN_ORDER = OperatorTraits(order_kept=True, row_ids=RowIds.OPAQUE, storable=True)
_STORABLE = OperatorTraits(storable=True)
_LIMIT = OperatorTraits(
    columns_unchanged=True, rows=RowEffect.SOME, order_matters=True, row_ids=RowIds.PASS, storable=True
)
_SKIP = OperatorTraits(
    columns_unchanged=True, rows=RowEffect.SOME, order_matters=True, row_ids=RowIds.ALL_ROWS, storable=True
)
_DISTINCT = OperatorTraits(columns_unchanged=True, rows=RowEffect.MERGED, storable=True)

TRAITS: Mapping[str, OperatorTraits] = MappingProxyType(
    {
        # Rows and columns stay as they are.
        "SubqueryAlias": _row_preserving(order_kept=True),
        "Repartition": _row_preserving(),
        "RepartitionByExpression": _row_preserving(),
        "RebalancePartitions": _row_preserving(),
        "ResolvedHint": _row_preserving(),
        "Sort": _row_preserving(),
        "EventTimeWatermark": OperatorTraits(  # late rows are dropped by an operator above
            columns_unchanged=True, rows=RowEffect.EVERY, row_ids=RowIds.PASS
        ),
        "CollectMetrics": OperatorTraits(  # the metrics are of all rows together
            columns_unchanged=True, rows=RowEffect.EVERY, row_ids=RowIds.OMIT, storable=True
        ),
        "View": OperatorTraits(  # a temporary one: a persistent view is a source
            columns_unchanged=True, rows=RowEffect.EVERY, row_by_row=True, order_kept=True, row_ids=RowIds.OMIT
        ),
        "UnresolvedHint": OperatorTraits(row_by_row=True),
        "WithCTE": OperatorTraits(rows=RowEffect.EVERY, row_ids=RowIds.OMIT, storable=True),
        "CTERelationDef": OperatorTraits(  # inlined before a trace; there may be several references to it
            columns_unchanged=True, rows=RowEffect.EVERY, row_ids=RowIds.OMIT, storable=True
        ),
        # Around a query or a part of it; a trace meets none of them.
        **dict.fromkeys(("LimitAll", "PipeOperator", "ReturnAnswer", "SQLFunctionNode", "Subquery"), _SAME_COLUMNS),
        **dict.fromkeys(("UpdateEventTimeWatermarkColumn", "WithWindowDefinition"), _SAME_COLUMNS),
        # Rows are selected, unchanged.
        "Filter": OperatorTraits(
            columns_unchanged=True,
            rows=RowEffect.SOME,
            row_by_row=True,
            order_kept=True,
            row_ids=RowIds.PASS,
            storable=True,
        ),
        "GlobalLimit": _LIMIT,
        "LocalLimit": _LIMIT,
        "Offset": _SKIP,
        "Tail": _SKIP,
        "Sample": OperatorTraits(columns_unchanged=True, storable=True),  # with replacement, it also repeats rows
        "Distinct": _DISTINCT,
        "Deduplicate": _DISTINCT,
        "DeduplicateWithinWatermark": _SAME_COLUMNS,
        # Columns are computed.
        "Project": OperatorTraits(
            rows=RowEffect.EVERY, row_by_row=True, order_kept=True, row_ids=RowIds.PASS, storable=True
        ),
        "Window": OperatorTraits(rows=RowEffect.EVERY, storable=True),
        "Aggregate": OperatorTraits(rows=RowEffect.MERGED, storable=True),
        "Generate": OperatorTraits(rows=RowEffect.REPEATED, row_by_row=True, row_ids=RowIds.PASS, storable=True),
        "Expand": OperatorTraits(rows=RowEffect.REPEATED, storable=True),
        "Join": OperatorTraits(row_by_row=True, storable=True),
        "Union": OperatorTraits(row_by_row=True, storable=True),
        # Functions of Python.
        **dict.fromkeys(("MapInArrow", "MapInPandas", "PythonMapInArrow"), _FUNCTION_IN_ORDER),
        **dict.fromkeys(("FlatMapGroupsInArrow", "FlatMapGroupsInPandas"), _FUNCTION),
        **dict.fromkeys(("FlatMapCoGroupsInArrow", "FlatMapCoGroupsInPandas"), _FUNCTION),
        # No trait but that they may be stored.
        **dict.fromkeys(("AsOfJoin", "CTERelationRef", "Except", "Intersect", "LateralJoin", "Pivot"), _STORABLE),
        **dict.fromkeys(("LocalRelation", "OneRowRelation", "Range", "Transpose", "Unpivot"), _STORABLE),
        **dict.fromkeys(("UnionLoop", "UnionLoopRef"), _STORABLE),
    }
)
"""By the simple names of Catalyst's classes."""


def operators_with(condition: Callable[[OperatorTraits], bool]) -> frozenset[str]:
    """The names of the operators whose traits meet the condition."""
    return frozenset(name for name, traits in TRAITS.items() if condition(traits))


_FOR_JAVA: Mapping[str, Callable[[OperatorTraits], bool]] = MappingProxyType(
    {
        "everyRow": lambda traits: traits.rows is RowEffect.EVERY,
        "tracedAsOneRow": lambda traits: traits.traced_as_one_row,
        "orderMatters": lambda traits: traits.order_matters,
        "passesIds": lambda traits: traits.row_ids is RowIds.PASS,
        "omitted": lambda traits: traits.row_ids is RowIds.OMIT,
        "linkedToAllRows": lambda traits: traits.row_ids is RowIds.ALL_ROWS,
        "opaque": lambda traits: traits.row_ids is RowIds.OPAQUE,
    }
)


def traits_json() -> str:
    """The table for Java: by trait, the names of the operators that have it."""
    return json.dumps({trait: sorted(operators_with(condition)) for trait, condition in _FOR_JAVA.items()})
