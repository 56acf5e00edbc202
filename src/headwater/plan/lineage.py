"""The column lineage of a plan: the result of :mod:`headwater.plan.trace`."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from headwater.model.lineage import Dependency
from headwater.plan.tree import PlanNode

__all__ = ["Attribute", "Dependency", "Derivation", "Gap", "LineageSource", "PlanLineage", "PlanOutputColumn"]


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column of a source. Code that has the running plan finds the source again by its ``expr_id``."""

    name: str
    expr_id: int
    type: object
    """The data type as Spark writes it in JSON."""
    nullable: bool


@dataclass(frozen=True, slots=True)
class LineageSource:
    """A leaf that the plan reads. Two occurrences of one table are two sources."""

    kind: str
    """The node's name: LogicalRelation, DataSourceV2Relation, HiveTableRelation, LogicalRDD, LocalRelation, Range,
    View, StreamingRelation…"""
    attributes: tuple[Attribute, ...]
    node: PlanNode = dataclasses.field(compare=False, repr=False)
    """A persistent View's definition is its child."""


@dataclass(frozen=True, slots=True, order=True)
class Derivation:
    """That an output column depends on a field of a source, and how."""

    source: int
    """Its index in :attr:`PlanLineage.sources`."""
    field: str
    """A column or, dotted, a field within one: ``address.city``. An array's elements add no step: ``items.sku``."""
    type: Dependency
    subtype: str
    """IDENTITY, TRANSFORMATION or AGGREGATION; FILTER, JOIN, GROUP_BY, SORT, WINDOW or CONDITIONAL."""
    masking: bool
    """The path goes through a function that masks the value, such as md5. If another path does not, there are
    both derivations."""
    logic: str | None = dataclasses.field(default=None, compare=False)
    """The expression as SQL, in the columns of the sources as far as that stays readable."""


@dataclass(frozen=True, slots=True)
class PlanOutputColumn:
    name: str
    type: object
    """As Spark writes it in JSON; None if the plan does not state it."""
    nullable: bool | None
    derivations: tuple[Derivation, ...]


@dataclass(frozen=True, slots=True)
class Gap:
    """An operator that cannot be traced. Without columns it concerns all of them."""

    operator: str
    reason: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlanLineage:
    sources: tuple[LineageSource, ...]
    columns: tuple[PlanOutputColumn, ...]
    whole: tuple[Derivation, ...]
    """Dependencies of the rows as a whole, their number or order, which apply to every column."""
    gaps: tuple[Gap, ...]
