"""A plan taken apart into blocks whose rows carry the ids of their source rows (jvm/Carry.java)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater.errors import RowsRefused
from headwater.jvm import JavaClasses
from headwater.rows.grain import Grain, coarsest
from headwater.rows.grouped_calls import keyed_functions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PLAN_CLASSES = ("Trees", "Substitute", "Normalizer", "DeterminismCheck", "SmallRowSet", "Leaves")
_BLOCK_CLASSES = (
    "Conditions",
    "Link",
    "Block",
    "BlockJoins",
    "TopKeys",
    "GroupedFunctions",
    "BlockPath",
    "BlockBuilder",
)
_PATH_CLASSES = ("MarkedPlan", "JoinSides", "OperatorText", "ExpressionFrame", "LeafColumn", "OperatorPath")
_CLASSES = (*_PLAN_CLASSES, *_BLOCK_CLASSES, *_PATH_CLASSES)
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
    """A leaf of the plan: one occurrence of a dataset. ``id`` is what tells its rows apart: their position in a file,
    or their content, where equal rows are one."""

    number: int
    kind: str
    id: str
    columns: tuple[PlanColumn, ...]
    text: str

    @property
    def file(self) -> str:
        return f"__hw_s{self.number}_file"

    @property
    def row(self) -> str:
        return f"__hw_s{self.number}_row"

    @property
    def mark(self) -> str:
        """Whether the row meets the condition that the source is marked by."""
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
    """What else of the row here decides which rows there belong to it."""
    result_places: tuple[int, ...] | None
    """Where in a row of the result the columns' values stand, if they are all there."""

    @property
    def grain(self) -> Grain:
        return _GRAIN_OF_LINK[self.kind]


@dataclass(frozen=True)
class Block:
    """``kind``: `output` is the top; the others are named for what is above them."""

    number: int
    kind: str
    text: str
    keys: tuple[str, ...]
    sources: tuple[int, ...]
    links: tuple[BlockLink, ...]


@dataclass(frozen=True)
class BlockPath:
    """From a leaf upwards: ("drop", by what), ("join", how), and ("meet", the number of a source whose marked rows
    stand beside it then)."""

    steps: tuple[tuple[str, str], ...]
    dropped_rows: Callable[[int], DataFrame]
    """The rows that the so-and-so-many-th drop drops, with what they carry."""

    @property
    def drop_count(self) -> int:
        return sum(kind == "drop" for kind, _ in self.steps)

    @property
    def joined_sources(self) -> list[int]:
        return [int(text) for kind, text in self.steps if kind == "meet"]


def block_classes(gateway: Any) -> JavaClasses:
    """Our Java classes for Catalyst's plans."""
    return JavaClasses(gateway, "headwater.rows.jvm", _CLASSES)


def frame_of_plan(spark: SparkSession, plan: Any) -> DataFrame:
    """A plan of the JVM as a DataFrame."""
    from pyspark.sql import DataFrame

    classes = block_classes(spark.sparkContext._gateway)
    return DataFrame(classes.new("Trees", spark._jsparkSession).frame(plan), spark)


class RowProvenance:
    """``marks``: by the number of a source, a condition in SQL that its rows shall tell whether they meet. ``known``:
    it will be asked about rows that are in the result for certain. ``ids``: a row says where its sources' rows lie; if
    not, it says of them what their marks say."""

    def __init__(
        self,
        spark: SparkSession,
        plan: Any,
        marks: Mapping[int, str] | None = None,
        *,
        known: bool = False,
        ids: bool = True,
    ) -> None:
        self._spark = spark
        self._classes = block_classes(spark.sparkContext._gateway)
        grouped = keyed_functions(spark, self._classes.new("GroupedFunctions", plan))
        self._builder = self._classes.new(
            "BlockBuilder", spark._jsparkSession, plan, json.dumps(marks or {}), known, ids, grouped
        )
        self._joins = self._builder.joins()
        told = json.loads(self._builder.describe())
        if told["refusals"]:
            raise RowsRefused(tuple(dict.fromkeys(told["refusals"])))
        self.columns = _columns(told["columns"])
        self.notes: tuple[str, ...] = tuple(told["notes"])
        self.sources = tuple(
            PlanSource(each["number"], each["kind"], each["id"], _columns(each["columns"]), each["text"])
            for each in told["sources"]
        )
        self.blocks = tuple(_block(each) for each in told["blocks"])
        self.unstable = frozenset[int](told["unstable"])
        key: list[int] | None = told["identity"]
        self.has_key = key is not None
        self.identity = tuple(key if key is not None else sorted(set(range(len(self.columns))) - self.unstable))
        """The places of the columns by which a row of the result is known."""
        self.is_ambiguous = not self.has_key and bool(self.unstable)
        """Rows that differ only in what another execution may not repeat cannot be told apart by their columns."""

    @property
    def group_columns(self) -> tuple[str, ...]:
        """What a row of the uppermost block carries that tells blurred rows apart: the groups it comes from."""
        if not self.is_ambiguous:
            return ()
        return tuple(name for link in self.blocks[0].links if link.kind in _GROUP_LINKS for name in link.columns)

    def frame(self, block: int) -> DataFrame:
        """All rows of a block: its columns, its keys, and what is carried."""
        return self._frame(self._joins.frame(block))

    def source_frame(self, number: int) -> DataFrame:
        """All rows of a source, with their ids."""
        return self._frame(self._builder.source(number))

    def leaf(self, number: int) -> Any:
        """The source in the plan, in the JVM."""
        return self._builder.leaf(number)

    def block_path(self, block: int, carried: str) -> BlockPath | None:
        """The way up to the top of a block of what its rows carry in that column; None if rows are not simply kept or
        dropped on it."""
        course = self._builder.blockPath(block, carried)
        if not course.isSimple():
            return None
        steps = tuple((each["kind"], each["text"]) for each in json.loads(course.steps()))
        return BlockPath(steps, lambda place: self._frame(course.droppedRows(place)))

    def operator_path(self, number: int, condition: str) -> Any:
        """The way of a source's rows that meet the condition, up through the plan, in the JVM."""
        return self._classes.new("OperatorPath", self._builder, number, condition)

    def collect_distinct(self, frame: DataFrame, most: int) -> DataFrame | None:
        """The frame's rows, each once, as a frame that has them at hand; None if they are more than that."""
        found = self._joins.collectDistinct(frame._jdf, most)
        return None if found is None else self._frame(found)

    def follow(self, link: BlockLink, wanted: DataFrame, few: int) -> DataFrame:
        """The rows that ``wanted`` leads to, each beside the row that leads there. Up to ``few`` wanted rows are
        brought to the driver first, so that the sources can skip by their values."""
        return self._frame(self._joins.follow(link.number, wanted._jdf, few))

    def join_result(self, wanted: DataFrame, columns: Sequence[str], few: int) -> DataFrame:
        """The result's rows, as they carry what is behind them, that have the identity which ``columns`` of the wanted
        rows tell, beside those."""
        gateway: Any = self._spark.sparkContext._gateway
        names, places = gateway.jvm.java.util.ArrayList(), gateway.jvm.java.util.ArrayList()
        for name, place in zip(columns, self.identity, strict=True):
            names.add(name)
            places.add(place)
        return self._frame(self._joins.joinResult(wanted._jdf, names, places, few))

    def arrival_keys(self, link: BlockLink, rows: DataFrame, along: Sequence[str]) -> DataFrame:
        """What of rows of the block below tells which rows above lead there, each once. ``rows`` have the block's
        columns in their order; ``along`` are further columns of theirs to keep."""
        return self._frame(self._joins.arrivalKeys(link.number, rows._jdf, list(along)))

    def rows_leading_to(
        self, link: BlockLink, above: Block, arrivals: DataFrame, along: Sequence[str], few: int
    ) -> DataFrame:
        """The rows of the block above that lead to what has arrived below, with what came along."""
        return self._frame(self._joins.rowsLeadingTo(link.number, above.number, arrivals._jdf, list(along), few))

    def grains(self, *, told_apart: bool = False) -> dict[int, Grain]:
        """Of each source. A block that is reached by a coarse link is no finer than it, nor is what is below.
        ``told_apart``: rows that are blurred by their columns were told apart by the groups they come from."""
        of_block: dict[int, Grain] = {0: "group" if self.is_ambiguous and not told_apart else "exact"}
        for block in self.blocks:  # parents first
            for link in block.links:
                reached = coarsest((of_block[block.number], link.grain))
                of_block[link.to] = coarsest((of_block.get(link.to, "exact"), reached))
        return {
            source.number: coarsest(of_block[block.number] for block in self.blocks if source.number in block.sources)
            for source in self.sources
        }

    def _frame(self, java: Any) -> DataFrame:
        from pyspark.sql import DataFrame

        return DataFrame(java, self._spark)


def _columns(told: list[dict[str, Any]]) -> tuple[PlanColumn, ...]:
    return tuple(PlanColumn(each["name"], each["id"], each["type"]) for each in told)


def _block(told: Mapping[str, Any]) -> Block:
    links = (
        BlockLink(
            each["number"],
            each["to"],
            each["kind"],
            each["text"],
            each["present"],
            tuple(each["columns"]),
            tuple(each["nullSafe"]),
            tuple(each["conditionColumns"]),
            None if each["resultPlaces"] is None else tuple(each["resultPlaces"]),
        )
        for each in told["links"]
    )
    keys, sources = tuple(told["keys"]), tuple(told["sources"])
    return Block(told["number"], told["kind"], told["text"], keys, sources, tuple(links))
