"""Tables whose rows carry the ids of their items: a source that is read, or the stored output of a node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.jvm import JavaObject
from headwater.rows.names import name_leaves
from headwater.rows.provenance import RowProvenance

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

OUT = "__hw_out"
"""In a stored table: the id of the node's input row, where many items made that row."""

KEY_FIELD, DATA_FIELD, OUT_FIELD = "key", "data", "out"
FLAGS_FIELD, RETRIES_FIELD, ERROR_FIELD = "flags", "retries", "error"
"""Fields of the struct that each row of a table carries up the plan, beside the ids of its items."""


@dataclass(frozen=True)
class ItemLeaf:
    """``carried_ids``: by source, the ids of its items as SQL for their two halves; a table that was joined with itself
    carries two. ``pairs``: by source, a table of (`__hw_out`, hi, lo): the items of rows that many items made."""

    node: str
    paths: frozenset[str]
    carried_ids: Mapping[str, Sequence[tuple[str, str]]]
    pairs: Mapping[str, DataFrame] = field(default_factory=dict)
    key: str | None = None
    """SQL for the key of the items of ``origin``."""
    data: str | None = None
    """SQL for their data as JSON, if it is recorded."""
    origin: str | None = None
    """The source whose keys and data the table has."""
    extra: Mapping[str, str] = field(default_factory=dict)
    """Further values that its rows carry, as SQL by name."""
    lost_sources: frozenset[str] = frozenset()
    """Sources whose items are in it but cannot be located."""

    @property
    def sources(self) -> set[str]:
        return {*self.carried_ids, *self.pairs}

    @property
    def mark_sql(self) -> str:
        """SQL for the struct that each row carries up the plan: item ids, the id that pairs refer to, and further
        values."""
        parts = []
        for source in self.carried_ids:
            for number, (hi, lo) in enumerate(self.carried_ids[source]):
                name = self.id_prefix(source, number)
                parts += [f"{hi} as {name}_hi", f"{lo} as {name}_lo"]
        if self.pairs:
            parts.append(f"`{OUT}` as `{OUT_FIELD}`")
        fields = {KEY_FIELD: self.key, DATA_FIELD: self.data, **self.extra}
        parts += [f"{sql} as `{name}`" for name, sql in fields.items() if sql is not None]
        return f"struct({', '.join(parts or ['true as no_items'])})"  # an older Spark knows no empty struct

    def id_prefix(self, source: str, number: int) -> str:
        return f"i{list(self.carried_ids).index(source)}_{number}"


@dataclass
class ItemLeaves:
    spark: SparkSession
    leaves: list[ItemLeaf] = field(default_factory=list)

    def add(self, leaf: ItemLeaf) -> None:
        self.leaves.append(leaf)

    def provenance_of(self, frame: DataFrame) -> tuple[RowProvenance, dict[int, ItemLeaf]]:
        """The provenance of a frame whose blocks carry item ids; and by source number the table that it is."""
        plan: JavaObject = frame._jdf.queryExecution().analyzed()
        unmarked = RowProvenance(self.spark, plan)
        names = name_leaves(self.spark, [unmarked.leaf(source.number) for source in unmarked.sources])
        leaves = {}
        for source, named in zip(unmarked.sources, names, strict=True):
            leaf = self._leaf_at(frozenset(named.paths))
            if leaf is not None:
                leaves[source.number] = leaf
        marks = {number: leaf.mark_sql for number, leaf in leaves.items()}
        return RowProvenance(self.spark, plan, marks, ids=False), leaves

    def _leaf_at(self, paths: frozenset[str]) -> ItemLeaf | None:
        return next((leaf for leaf in self.leaves if leaf.paths == paths), None) if paths else None
