"""A plan split into blocks whose rows carry the ids of their source rows (jvm/BlockBuilder.java)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from headwater.errors import RowsRefused
from headwater.jvm import JavaClasses, JavaObject, gateway_of, shared_classes
from headwater.plan.operator_traits import traits_json
from headwater.rows.grain import Grain, coarsest
from headwater.rows.grouped_calls import keyed_functions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PLAN_CLASSES = (
    "OperatorTraits",
    "CollationKeys",
    "RowHash",
    "DistinctRows",
    "Substitute",
    "Normalizer",
    "OperatorKinds",
    "DeterminismCheck",
    "SmallRowSet",
    "Leaves",
)
_BLOCK_CLASSES = (
    "Conditions",
    "Link",
    "Block",
    "BlockJoins",
    "TopKeys",
    "GroupedFunctions",
    "BlockPath",
    "BlockBuilder",
    "Reexecution",
)
_PATH_CLASSES = ("MarkedPlan", "JoinSides", "OperatorText", "ExpressionFrame", "LeafColumn", "OperatorPath")
_CLASSES = (*_PLAN_CLASSES, *_BLOCK_CLASSES, *_PATH_CLASSES)
_COLLECTED = ("Transpose",)
"""Leaves with values that Spark collected while it analyzed the query, and that come from rows it does not name."""
_GROUP_LINKS = ("aggregate", "chosen")
_GRAIN_OF_LINK: dict[str, Grain] = {
    "aggregate": "exact",
    "chosen": "group",
    "matched": "exact",
    "constant": "exact",
    "window": "group",
    "grouped": "group",
    "all": "all",
}


@dataclass(frozen=True)
class PlanColumn:
    name: str
    expr_id: int
    type: str


@dataclass(frozen=True)
class PlanSource:
    """A leaf of the plan: one occurrence of a dataset. ``id`` is what identifies its rows: their position in a file, or
    their content, where equal rows are one."""

    number: int
    kind: str
    id: str
    columns: tuple[PlanColumn, ...]
    text: str
    in_files: bool
    """Whether the file of each row is known."""
    options: Mapping[str, str]
    """Of the reader of its files."""

    @property
    def file(self) -> str:
        return f"__hw_s{self.number}_file"

    @property
    def row(self) -> str:
        return f"__hw_s{self.number}_row"

    @property
    def mark(self) -> str:
        """The column with the value of the condition that the source is marked with."""
        return f"__hw_s{self.number}_hit"


@dataclass(frozen=True)
class BlockLink:
    """From a row of one block to its rows in the block below: ``columns`` here are the keys there."""

    number: int
    to: int
    kind: str
    text: str
    present: str
    columns: tuple[str, ...]
    null_safe: tuple[bool, ...]
    condition_columns: tuple[str, ...]
    """Further columns that decide which rows of the block below belong to the row."""
    result_places: tuple[int, ...] | None
    """The positions of the columns' values in a row of the result, if it has all of them."""

    @property
    def grain(self) -> Grain:
        return _GRAIN_OF_LINK[self.kind]


@dataclass(frozen=True)
class Block:
    """``kind``: `output` is the top block; the others are named for the operator above them."""

    number: int
    kind: str
    text: str
    keys: tuple[str, ...]
    sources: tuple[int, ...]
    links: tuple[BlockLink, ...]


@dataclass(frozen=True)
class BlockPath:
    """The steps from a leaf upwards: ("drop", condition), ("join", type), and ("meet", the number of a source whose
    marked rows it is joined with)."""

    steps: tuple[tuple[str, str], ...]
    dropped_rows: Callable[[int], DataFrame]
    """From the number of a drop, counted from the leaf, to the rows that it drops, with their carried columns."""

    @property
    def drop_count(self) -> int:
        return sum(kind == "drop" for kind, _ in self.steps)

    @property
    def joined_sources(self) -> list[int]:
        return [int(text) for kind, text in self.steps if kind == "meet"]


def block_classes(gateway: JavaObject) -> JavaClasses:
    """The Java classes that split plans."""
    constants = {"OPERATOR_TRAITS": traits_json()}
    return JavaClasses(gateway, "headwater.rows.jvm", _CLASSES, shared_classes(gateway), constants)


def frame_of_plan(spark: SparkSession, plan: JavaObject) -> DataFrame:
    """A plan in the JVM as a DataFrame."""
    from pyspark.sql import DataFrame

    classes = block_classes(gateway_of(spark.sparkContext))
    return DataFrame(classes.new("Trees", spark._jsparkSession).frame(plan), spark)


class RowProvenance:
    """``marks``: by the number of a source, an SQL expression that its rows carry the value of. ``known``: only rows
    that are certainly in the result will be traced. ``ids``: rows carry the positions of their source rows; otherwise
    only the marks."""

    def __init__(
        self,
        spark: SparkSession,
        plan: JavaObject,
        marks: Mapping[int, str] | None = None,
        *,
        known: bool = False,
        ids: bool = True,
    ) -> None:
        self._spark = spark
        self._classes = block_classes(gateway_of(spark.sparkContext))
        grouped = keyed_functions(spark, self._classes.new("GroupedFunctions", plan))
        self._builder = self._classes.new(
            "BlockBuilder", spark._jsparkSession, plan, json.dumps(marks or {}), known, ids, grouped
        )
        self._joins = self._builder.joins()
        description: _PlanDescription = json.loads(self._builder.describe())
        if description["refusals"]:
            raise RowsRefused(tuple(dict.fromkeys(description["refusals"])))
        self.columns = _columns(description["columns"])
        self.notes: tuple[str, ...] = tuple(description["notes"])
        self.sources = tuple(
            PlanSource(
                number=entry["number"],
                kind=entry["kind"],
                id=entry["id"],
                columns=_columns(entry["columns"]),
                text=entry["text"],
                in_files=entry["inFiles"],
                options=entry["options"],
            )
            for entry in description["sources"]
        )
        if any(source.kind in _COLLECTED for source in self.sources):
            self.notes += ("transpose() collects rows in the program: what its values come from is not known",)
        self.blocks = tuple(_block(entry) for entry in description["blocks"])
        self.unstable = frozenset[int](description["unstable"])
        key = description["identity"]
        self.has_key = key is not None
        self.identity = tuple(key if key is not None else sorted(set(range(len(self.columns))) - self.unstable))
        """The positions of the columns that identify a row of the result."""
        self.is_ambiguous = not self.has_key and bool(self.unstable)
        """Whether rows may differ only in columns that another execution does not repeat."""
        self.exceeds_limit: bool = description["unlimited"] and not self.has_key
        """Whether the result may have further rows that equal a known one: a limit or a sample at the top of the plan
        was left out, and no key tells the rows apart."""

    @property
    def group_columns(self) -> tuple[str, ...]:
        """The columns of the top block that identify ambiguous rows: the keys of the groups they come from."""
        if not self.is_ambiguous:
            return ()
        return tuple(name for link in self.blocks[0].links if link.kind in _GROUP_LINKS for name in link.columns)

    def frame(self, block: int) -> DataFrame:
        """All rows of a block: its columns, its keys, and the carried columns."""
        return self._frame(self._joins.frame(block))

    def source_frame(self, number: int) -> DataFrame:
        """All rows of a source, with their ids."""
        return self._frame(self._builder.source(number))

    def execute_on(self, sources: Mapping[int, DataFrame]) -> DataFrame:
        """The result of the query on these rows of sources; the other sources are as they were."""
        gateway = gateway_of(self._spark.sparkContext)
        frames = gateway.jvm.java.util.HashMap()
        for number, frame in sources.items():
            frames.put(number, frame._jdf)
        return self._frame(self._classes.new("Reexecution", self._builder, frames).frame())

    def source_frame_with_path(self, number: int) -> DataFrame:
        """The same with the path of each row's file as last column, for a source that is in files."""
        return self._frame(self._builder.trees().frame(self._builder.leaves().withPath(number)))

    def leaf(self, number: int) -> JavaObject:
        """The source in the plan, in the JVM."""
        leaf: JavaObject = self._builder.leaf(number)
        return leaf

    def block_path(self, block: int, column: str) -> BlockPath | None:
        """The path of a carried column up to the top of a block; None if operators on it do more than keep or drop
        rows."""
        path = self._builder.blockPath(block, column)
        if not path.isSimple():
            return None
        steps = tuple((step["kind"], step["text"]) for step in json.loads(path.steps()))
        return BlockPath(steps, lambda place: self._frame(path.droppedRows(place)))

    def operator_path(self, number: int, condition: str) -> JavaObject:
        """The path of the source rows that meet the condition, up through the plan, in the JVM."""
        return self._classes.new("OperatorPath", self._builder, number, condition)

    def collect_distinct(self, frame: DataFrame, max_rows: int) -> DataFrame | None:
        """The frame's distinct rows, collected into a local frame; None if there are more than ``max_rows``."""
        local = self._joins.collectDistinct(frame._jdf, max_rows)
        return None if local is None else self._frame(local)

    def follow(self, link: BlockLink, wanted: DataFrame, max_pushed_rows: int) -> DataFrame:
        """The rows that ``wanted`` leads to, each beside the row that leads there. Up to ``max_pushed_rows`` wanted
        rows are collected first, so that the sources can skip by their values."""
        return self._frame(self._joins.follow(link.number, wanted._jdf, max_pushed_rows))

    def join_result(
        self, wanted: DataFrame, columns: Sequence[str], stored: Sequence[str | None], max_pushed_rows: int
    ) -> DataFrame:
        """The result's rows with their carried columns, joined with the wanted rows whose ``columns`` have the same
        identity. ``stored``: by column of the result, what its format makes of a value (stored_values.py)."""
        gateway = gateway_of(self._spark.sparkContext)
        names, places, texts = (gateway.jvm.java.util.ArrayList() for _ in range(3))
        for name, place in zip(columns, self.identity, strict=True):
            names.add(name)
            places.add(place)
            texts.add(stored[place])
        return self._frame(self._joins.joinResult(wanted._jdf, names, places, texts, self.has_key, max_pushed_rows))

    def distinct_rows(self, frame: DataFrame) -> DataFrame:
        """The distinct rows of a frame, which may have columns that Spark's own DISTINCT refuses."""
        return self._frame(self._joins.distinct(frame._jdf))

    def arrival_keys(self, link: BlockLink, rows: DataFrame, along: Sequence[str]) -> DataFrame:
        """The distinct keys by which rows above lead to rows of the block below. ``rows`` have the block's columns in
        their order; ``along`` are further columns to keep."""
        return self._frame(self._joins.arrivalKeys(link.number, rows._jdf, list(along)))

    def rows_leading_to(
        self, link: BlockLink, above: Block, arrivals: DataFrame, along: Sequence[str], max_pushed_rows: int
    ) -> DataFrame:
        """The rows of the block above that lead to the ``arrivals`` below, with the columns ``along``."""
        return self._frame(
            self._joins.rowsLeadingTo(link.number, above.number, arrivals._jdf, list(along), max_pushed_rows)
        )

    def grains(self, *, by_group: bool = False) -> dict[int, Grain]:
        """The grain of each source. A block that a coarse link leads to is no finer than the link, nor are the blocks
        below. ``by_group``: ambiguous rows were identified by the groups they come from."""
        of_block: dict[int, Grain] = {0: "group" if self.is_ambiguous and not by_group else "exact"}
        for block in self.blocks:  # parents first
            for link in block.links:
                reached = coarsest((of_block[block.number], link.grain))
                of_block[link.to] = coarsest((of_block.get(link.to, "exact"), reached))
        found = {
            source.number: [of_block[block.number] for block in self.blocks if source.number in block.sources]
            for source in self.sources
        }
        return {
            source.number: "opaque" if source.kind in _COLLECTED else coarsest(found[source.number])
            for source in self.sources
        }

    def _frame(self, java: JavaObject) -> DataFrame:
        from pyspark.sql import DataFrame

        return DataFrame(java, self._spark)


class _ColumnDescription(TypedDict):
    name: str
    id: int
    type: str


class _SourceDescription(TypedDict):
    number: int
    kind: str
    id: str
    inFiles: bool
    options: dict[str, str]
    columns: list[_ColumnDescription]
    text: str


class _LinkDescription(TypedDict):
    number: int
    to: int
    kind: str
    text: str
    present: str
    columns: list[str]
    nullSafe: list[bool]
    conditionColumns: list[str]
    resultPlaces: list[int] | None


class _BlockDescription(TypedDict):
    number: int
    kind: str
    text: str
    keys: list[str]
    sources: list[int]
    links: list[_LinkDescription]


class _PlanDescription(TypedDict):
    """What BlockBuilder.java describes."""

    columns: list[_ColumnDescription]
    identity: list[int] | None
    unstable: list[int]
    unlimited: bool
    notes: list[str]
    refusals: list[str]
    sources: list[_SourceDescription]
    blocks: list[_BlockDescription]


def _columns(descriptions: list[_ColumnDescription]) -> tuple[PlanColumn, ...]:
    return tuple(PlanColumn(column["name"], column["id"], column["type"]) for column in descriptions)


def _block(description: _BlockDescription) -> Block:
    links = (
        BlockLink(
            number=link["number"],
            to=link["to"],
            kind=link["kind"],
            text=link["text"],
            present=link["present"],
            columns=tuple(link["columns"]),
            null_safe=tuple(link["nullSafe"]),
            condition_columns=tuple(link["conditionColumns"]),
            result_places=None if link["resultPlaces"] is None else tuple(link["resultPlaces"]),
        )
        for link in description["links"]
    )
    keys, sources = tuple(description["keys"]), tuple(description["sources"])
    return Block(description["number"], description["kind"], description["text"], keys, sources, tuple(links))
