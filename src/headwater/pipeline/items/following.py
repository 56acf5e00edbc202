"""Follows items through a run: gives ids to source rows, and stores the results of row functions.

User code sees plain frames. Item ids are in tables of the run's own: a row function runs once, and everything after it
is computed from its stored results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from headwater.errors import RowsRefused
from headwater.jvm import JavaObject
from headwater.model.items import Continuity
from headwater.pipeline.declare.nodes import (
    ComputedNode,
    PipelineNode,
    RowMapNode,
    SourceNode,
    TransformNode,
)
from headwater.pipeline.items.item_ids import (
    HI,
    KEY,
    LO,
    ItemIdSql,
    Sampling,
    add_content_ids,
    key_ids,
    position_ids,
    source_salt,
    stored_ids,
    without_key_values,
)
from headwater.pipeline.items.item_locations import ItemLocations
from headwater.pipeline.items.leaves import (
    DATA_FIELD,
    ERROR_FIELD,
    FLAGS_FIELD,
    KEY_FIELD,
    OUT,
    RETRIES_FIELD,
    ItemLeaf,
    ItemLeaves,
)
from headwater.pipeline.items.pairing import OutputPairing, PairedOutput, PairingInput
from headwater.pipeline.run import steps
from headwater.pipeline.run.function_outputs import FunctionOutput
from headwater.pipeline.run.workspace import Workspace
from headwater.plan.operator_traits import operators_with
from headwater.rows.column_names import OUT_ID
from headwater.rows.names import name_leaves
from headwater.rows.provenance import RowProvenance

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_SCAN_OPERATORS = operators_with(lambda traits: traits.row_by_row and traits.order_kept) | {"LogicalRelation"}
_ID_COLUMN = "__hw_i"
_KEY_COLUMN, _DATA_COLUMN = "__hw_ik", "__hw_id"


@dataclass
class ItemTracker:
    spark: SparkSession
    workspace: Workspace
    sampling: Sampling
    frames: dict[str, DataFrame] = field(default_factory=dict)
    sources_behind: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By node, the sources that it depends on."""
    fast_path_sources: frozenset[str] = frozenset()
    """Sources whose items may stay one row each, so that their key and data are stored with that row."""
    records_data: bool = False
    """Whether records contain the data of items."""

    def __post_init__(self) -> None:
        self._leaves = ItemLeaves(self.spark)
        self._locations: dict[str, ItemLocations] = {}
        self._pairing = OutputPairing(self.workspace, self.sampling)
        self._shared_keys: dict[str, bool] = {}
        self.continuity: dict[str, Continuity] = {}
        """By node, for nodes whose rows are not followed by row lineage."""

    def add_leaf(self, leaf: ItemLeaf) -> None:
        """Adds a table whose rows carry the ids of their items."""
        self._leaves.add(leaf)

    def locations(self, node: str) -> ItemLocations:
        """The locations of items at a node that has a frame."""
        if node not in self._locations:
            self._locations[node] = ItemLocations(*self._leaves.provenance_of(self.frames[node]))
        return self._locations[node]

    def follow_source(self, node: SourceNode, frame: DataFrame) -> DataFrame:
        """The frame to continue with. Files are read again when items are located; other sources may change between two
        reads, so their rows are stored."""
        salt = source_salt(node.pipeline.id, node.segment)
        scan = self._scan_of(node, frame, salt)
        if scan is not None:
            self._leaves.add(self._source_leaf(node, *scan))
            return frame
        if node.key:
            ids = self._by_key(salt, node.key, frame, node.key)
            with_ids = frame.selectExpr("*", f"{ids.hi} as {HI}", f"{ids.lo} as {LO}", f"{ids.key} as {KEY}")
        else:
            with_ids = add_content_ids(frame, salt)
        table = self.workspace.keep(node.name, with_ids)
        paths = frozenset([self.workspace.absolute(self.workspace.table(node.name))])
        self._leaves.add(self._source_leaf(node, paths, stored_ids(), {name: name for name in frame.columns}))
        return table.select(*map(steps.quote_name, frame.columns))

    def count_items(self, node: SourceNode) -> int:
        """Counts the followed items of a source, and notes whether two of them share a key."""
        from pyspark.sql import functions as F

        with self.workspace.tag_own_jobs():
            if not node.key and self.sampling.every == 1:
                return self.frames[node.name].count()
            rows = self.locations(node.name).rows(node.name, self.sampling)
            if rows is None:
                return 0
            # One half of the ids is less to shuffle; if it is distinct for all items, so are the ids.
            counts = rows.agg(F.count("*"), F.count_distinct(LO)).first()
            assert counts is not None
            self._shared_keys[node.name] = counts[0] != counts[1]
            return int(counts[0])

    def may_share_keys(self, node: SourceNode) -> bool:
        """Whether rows of a source may share a key."""
        return self._shared_keys.get(node.name, bool(node.key))

    def _source_leaf(
        self, node: SourceNode, paths: frozenset[str], ids: ItemIdSql, columns: Mapping[str, str] | None
    ) -> ItemLeaf:
        """``columns``: the source's columns with their names in the table; None if some are computed."""
        has_data = self.records_data and columns is not None
        row = ", ".join(
            f"{steps.quote_name(table_column)} as {steps.quote_name(name)}"
            for name, table_column in (columns or {}).items()
        )
        data = f"to_json(struct({row}), map('ignoreNullFields', 'false'))" if has_data and row else None
        ids_by_source = {node.name: [(ids.hi, ids.lo)]}
        return ItemLeaf(node.name, paths, ids_by_source, key=ids.key, data=data, origin=node.name)

    def _scan_of(
        self, node: SourceNode, frame: DataFrame, salt: str
    ) -> tuple[frozenset[str], ItemIdSql, Mapping[str, str] | None] | None:
        """The paths, ids and column names of the frame's rows, if the frame is a plain scan of files."""
        analyzed: JavaObject = frame._jdf.queryExecution().analyzed()
        try:
            provenance = RowProvenance(self.spark, analyzed)
        except RowsRefused:
            return None
        sources, blocks = provenance.sources, provenance.blocks
        if len(sources) != 1 or len(blocks) != 1 or sources[0].id != "position" or not _is_scan(analyzed):
            return None
        paths = frozenset(name_leaves(self.spark, [provenance.leaf(0)])[0].paths)
        if any(leaf.paths == paths for leaf in self._leaves.leaves):
            return None  # read by another source as well: the rows could not be assigned to one of them
        at_leaf = {column.expr_id: column for column in sources[0].columns}
        leaf_columns = {column.name: at_leaf.get(column.expr_id) for column in provenance.columns}
        names = {name: column.name for name, column in leaf_columns.items() if column is not None}
        plain_names = names if len(names) == len(provenance.columns) else None
        if not node.key:
            return paths, position_ids(salt), plain_names
        key_columns = [leaf_columns[name] for name in node.key]
        columns = [column for column in key_columns if column is not None]
        if len(columns) < len(key_columns):
            return None  # a column that the reader computed
        leaf_names = [column.name for column in columns]
        return paths, self._by_key(salt, node.key, provenance.source_frame(0), leaf_names), plain_names

    def _by_key(self, salt: str, names: Sequence[str], rows: DataFrame, columns: Sequence[str]) -> ItemIdSql:
        """``columns`` of the rows are the source's key columns ``names``."""
        ids = key_ids(salt, rows, columns)
        return ids if self.records_data else without_key_values(ids, names)

    def follow_output(self, node: ComputedNode | RowMapNode, frame: DataFrame) -> DataFrame:
        """The frame to continue with. A declared mapper decides first. Where row lineage refuses the plan, because of
        randomness or opaque code, the output is stored and followed by position, if possible."""
        inputs = [PairingInput(self.frames[name], self.locations(name)) for name in node.inputs]
        if node.mapper is not None:
            return self._use_pairs(node, self._pairing.by_mapper(node, frame, inputs, node.mapper))
        try:
            locations = ItemLocations(*self._leaves.provenance_of(frame))
        except RowsRefused:
            locations = None
        if locations is not None and not locations.hidden_sources:
            return (
                self._store_rows(node, frame, locations)
                if _may_change(locations)
                else self._remember(node, frame, locations)
            )
        paired = None
        if isinstance(node, TransformNode) and len(inputs) == 1:
            paired = self._pairing.by_position(node, inputs[0], lambda rows: steps.transform(node, [rows]))
        if paired is None and locations is not None and locations.sources - locations.hidden_sources:
            return self._remember(node, frame, locations)  # some sources can be followed
        return self._use_pairs(node, paired or self._pairing.without_pairs(node, frame, self.sources_behind[node.name]))

    def _remember(self, node: PipelineNode, frame: DataFrame, locations: ItemLocations) -> DataFrame:
        self._locations[node.name] = locations
        return frame

    def _store_rows(self, node: PipelineNode, frame: DataFrame, locations: ItemLocations) -> DataFrame:
        """Stores rows that another execution may not repeat, such as those of a limit, with the items they carry. Items
        that only another execution could find are lost."""
        from pyspark.sql import functions as F

        carried, tracking = _tracking_columns(locations)
        ids = [F.col(column).alias(name) for name, column in tracking.items()]
        plain = [F.col(f"__hw_c{position}").alias(name) for position, name in enumerate(frame.columns)]
        rows = locations.with_out_ids(locations.provenance.frame(0)).select(*ids, *plain)
        table = self.workspace.keep(f"{node.name}>", rows)
        paths = frozenset([self.workspace.absolute(self.workspace.table(f"{node.name}>"))])
        lost = frozenset(locations.lost_sources | locations.linked_sources())
        self._leaves.add(ItemLeaf(node.name, paths, _quote_ids(carried), lost_sources=lost))
        return table.select(*map(steps.quote_name, frame.columns))

    def _use_pairs(self, node: PipelineNode, paired: PairedOutput) -> DataFrame:
        self._leaves.add(paired.leaf)
        self.continuity[node.name] = paired.continuity
        return paired.frame

    def follow_row_map(self, node: RowMapNode, input: str) -> FunctionOutput:
        """Runs the function and stores its results with the outcome of each row."""
        from pyspark.sql import functions as F

        locations = self.locations(input)
        followed = locations.with_out_ids(locations.provenance.frame(0))
        carried, tracking = _tracking_columns(locations)
        linked = locations.linked_sources()
        if linked:
            tracking[OUT] = OUT_ID
        plain = [F.col(f"__hw_c{position}").alias(name) for position, name in enumerate(self.frames[input].columns)]
        tracking_columns = {name: F.col(column) for name, column in tracking.items()}
        origin, origin_columns = ("", {}) if linked else self._origin_columns(locations, carried)
        tracking_columns |= origin_columns
        los = [tracking[lo] for columns in carried.values() for _, lo in columns]
        chosen = [column for lo in los if (column := self.sampling.condition(F.col(lo))) is not None]
        if chosen and not linked and node.on_error != "dead_letter":
            # Ids are stored only for rows with a followed item, then for all their items. A dead letter names its
            # items in any case.
            has_item = reduce(or_, (F.coalesce(column, F.lit(False)) for column in chosen))
            tracking_columns = {name: F.when(has_item, column) for name, column in tracking_columns.items()}
        input_rows = followed.select(*(column.alias(name) for name, column in tracking_columns.items()), *plain)
        rows = self.workspace.keep(node.name, steps.row_map_with_outcomes(node, input_rows, len(tracking_columns)))
        pairs = {source: self._store_pairs(node, locations, source) for source in sorted(linked)}
        output = FunctionOutput(node, rows, carried, pairs, frozenset(locations.lost_sources))
        paths = frozenset([self.workspace.absolute(self.workspace.table(node.name))])
        extra = {FLAGS_FIELD: "__hw_outcome", RETRIES_FIELD: "__hw_retries", ERROR_FIELD: "__hw_error"}
        leaf = ItemLeaf(
            node.name, paths, _quote_ids(carried), pairs, lost_sources=frozenset(locations.lost_sources), extra=extra
        )
        if origin_columns:
            leaf = replace(
                leaf, key=_KEY_COLUMN, data=_DATA_COLUMN if _DATA_COLUMN in origin_columns else None, origin=origin
            )
        self._leaves.add(leaf)
        return output

    def _origin_columns(
        self, locations: ItemLocations, carried: Mapping[str, list[tuple[str, str]]]
    ) -> tuple[str, dict[str, Column]]:
        """The source whose key and data are stored with the row, if its items may stay one row each."""
        from pyspark.sql import functions as F

        for number in locations.provenance.blocks[0].sources:
            leaf = locations.leaves.get(number)
            if leaf is None or leaf.origin not in self.fast_path_sources or len(carried.get(leaf.origin, ())) != 1:
                continue
            mark = locations.provenance.sources[number].mark
            fields = {_KEY_COLUMN: KEY_FIELD} | ({_DATA_COLUMN: DATA_FIELD} if leaf.data is not None else {})
            return leaf.origin, {name: F.col(f"{mark}.{struct_field}") for name, struct_field in fields.items()}
        return "", {}

    def _store_pairs(self, node: RowMapNode, locations: ItemLocations, source: str) -> DataFrame:
        """Stores the items of each input row of the function, where many items made it."""
        pairs = locations.pairs(source, self.sampling)
        assert pairs is not None
        return self.workspace.keep(f"{node.name}<{source}", pairs.withColumnRenamed(OUT_ID, OUT))


def _tracking_columns(locations: ItemLocations) -> tuple[dict[str, list[tuple[str, str]]], dict[str, str]]:
    """By source the columns for its items; and for each column the value."""
    carried: dict[str, list[tuple[str, str]]] = {}
    columns: dict[str, str] = {}
    for source, (hi, lo) in locations.carried_ids():
        names = (f"{_ID_COLUMN}{len(columns)}", f"{_ID_COLUMN}{len(columns) + 1}")
        columns |= dict(zip(names, (hi, lo), strict=True))
        carried.setdefault(source, []).append(names)
    return carried, columns


def _may_change(locations: ItemLocations) -> bool:
    """Whether another execution may return other rows, and not only other values in rows that their group
    identifies."""
    notes = locations.provenance.notes
    return bool(notes) and (not locations.linked_sources() or any("limit" in note for note in notes))


def _quote_ids(carried: Mapping[str, list[tuple[str, str]]]) -> dict[str, list[tuple[str, str]]]:
    return {source: [(f"`{hi}`", f"`{lo}`") for hi, lo in columns] for source, columns in carried.items()}


def _is_scan(plan: JavaObject) -> bool:
    children: JavaObject = plan.children()
    below = (children.apply(position) for position in range(children.size()))
    return plan.getClass().getSimpleName() in _SCAN_OPERATORS and all(map(_is_scan, below))
