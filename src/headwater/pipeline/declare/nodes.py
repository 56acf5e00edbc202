"""The kinds of nodes of a pipeline. A node is also the handle by which other nodes name their input."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from headwater.errors import PipelineInvalid
from headwater.model.items import segment
from headwater.pipeline.declare.argument_checks import is_duration, is_name, is_whole

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Row, SparkSession
    from pyspark.sql.types import StructType

    from headwater.pipeline.declare.pipeline import PipelineDeclaration

ON_ERROR = ("fail", "skip", "dead_letter")
MODES = ("append", "overwrite", "error", "errorifexists", "ignore")
JOIN_TYPES = {
    "inner": ("inner",),
    "left": ("left", "leftouter"),
    "right": ("right", "rightouter"),
    "full": ("full", "outer", "fullouter"),
    "semi": ("semi", "leftsemi"),
    "anti": ("anti", "leftanti"),
}
"""Join types, each with Spark's names for it, without underscores."""

_FILE_FORMATS = (None, "parquet", "orc", "json", "csv", "text", "avro", "delta", "iceberg")

Mapper = Callable[["DataFrame", "DataFrame"], object]
"""A function of a frame of the node's input and one of its output that returns the condition, a Column, by which an
output row belongs to an input row: `lambda given, made: given["id"] == made["first_id"]`. It is called once for each
input."""
OptionValue = bool | float | int | str | None
"""The value of an option of Spark's ``DataFrameWriter``."""
Backoff = float | Callable[[int], float]


@dataclass(frozen=True, eq=False)
class PipelineNode:
    """``name`` is unique in the pipeline that runs: a node of a nested pipeline is `nested/name`."""

    name: str
    pipeline: PipelineDeclaration = field(repr=False)
    """The pipeline that declares it."""
    inputs: tuple[str, ...] = ()
    """The names of its input nodes."""
    kind: ClassVar[str] = "node"
    may_keep_keys: ClassVar[bool] = False
    """Whether columns that are unique in its one input appear to be unique in its output."""

    @property
    def unique_columns(self) -> tuple[str, ...]:
        """The columns that its declaration makes unique, if any."""
        return ()

    @property
    def segment(self) -> str:
        """Its name in an item's path: the id of the pipeline that declares it, and its name there."""
        return segment(self.pipeline.id, self.name.rpartition("/")[2])

    @property
    def configuration(self) -> dict[str, object]:
        """Its configuration in the report, as plain values."""
        return {}

    def invalid(self, reason: str) -> PipelineInvalid:
        return PipelineInvalid(self.pipeline.name, self.name, reason)

    def _check_choice(self, parameter: str, value: object, choices: tuple[str, ...]) -> None:
        if value not in choices:
            raise self.invalid(f"{parameter} '{value}' is not one of: {', '.join(choices)}.")

    def _check_columns(self, parameter: str, names: tuple[str, ...], least: int = 1) -> None:
        if len(names) < least:
            raise self.invalid(f"{parameter} names no column.")
        for name in names:
            if not is_name(name):
                raise self.invalid(f"{parameter} has {name!r}, which is not a column name.")
            self.refuse_reserved_name(name)

    def refuse_reserved_name(self, name: str) -> None:
        """Raises for names that are reserved for Headwater's own columns."""
        if name.lower().startswith("__hw_"):
            raise self.invalid(f"'{name}' is reserved for Headwater's own columns.")

    def _check_callable(self, parameter: str, value: object) -> None:
        if not callable(value):
            raise self.invalid(f"{parameter} is {type(value).__name__}, not a function.")


@dataclass(frozen=True, eq=False)
class ComputedNode(PipelineNode):
    """A node whose rows Spark computes from its inputs, as `steps.apply_node` says for each kind. Row lineage follows
    its items, whatever the kind."""

    mapper: Mapper | None = None
    merges_rows: ClassVar[bool] = False
    """Whether it makes one row of many."""

    def __post_init__(self) -> None:
        if self.mapper is not None:
            self._check_callable("The mapper", self.mapper)


@dataclass(frozen=True, eq=False)
class SourceNode(PipelineNode):
    reader: Callable[[SparkSession], DataFrame] = field(kw_only=True)
    key: tuple[str, ...] = ()
    """The columns that identify its rows; without them, the position of a row in its file does."""
    kind: ClassVar[str] = "source"

    def __post_init__(self) -> None:
        self._check_callable("The reader", self.reader)
        self._check_columns("The key", self.key, 0)

    @property
    def unique_columns(self) -> tuple[str, ...]:
        return self.key

    @property
    def configuration(self) -> dict[str, object]:
        return {"reader": _function_name(self.reader), "key": list(self.key)}


@dataclass(frozen=True, eq=False)
class TransformNode(ComputedNode):
    """Any code that makes a frame from frames."""

    fn: Callable[..., DataFrame] = field(kw_only=True)
    kind: ClassVar[str] = "transform"
    may_keep_keys: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._check_callable("The function", self.fn)
        super().__post_init__()
        if not self.inputs:
            raise self.invalid("it has no input.")

    @property
    def configuration(self) -> dict[str, object]:
        return {"function": _function_name(self.fn)} | _mapper_configuration(self.mapper)


@dataclass(frozen=True, eq=False)
class RowMapNode(PipelineNode):
    """A Python function that is called row by row; with ``many`` it returns any number of rows for each."""

    fn: Callable[[Row], object] = field(kw_only=True)
    schema: str | StructType = field(kw_only=True)
    many: bool = False
    retries: int = 0
    backoff: Backoff = 0.0
    on_error: str = "fail"
    mapper: Mapper | None = None

    @property
    def kind(self) -> str:  # type: ignore[override]
        return "flat_map" if self.many else "map"

    def __post_init__(self) -> None:
        self._check_callable("The function", self.fn)
        if isinstance(self.schema, str) and not self.schema.strip():
            raise self.invalid("its schema is empty.")
        if not isinstance(self.schema, str) and not hasattr(self.schema, "fieldNames"):
            raise self.invalid(f"its schema is {type(self.schema).__name__}; use a string or a StructType.")
        if not isinstance(self.schema, str):
            self._check_columns("Its schema", tuple(self.schema.fieldNames()))
        if not is_whole(self.retries, 0):
            raise self.invalid(f"retries is {self.retries!r}; it must be a whole number, 0 or more.")
        if not callable(self.backoff) and not is_duration(self.backoff):
            raise self.invalid(
                f"backoff is {self.backoff!r}; it must be seconds, 0 or more, or a function of the retry."
            )
        self._check_choice("on_error", self.on_error, ON_ERROR)
        if self.mapper is not None:
            self._check_callable("The mapper", self.mapper)

    @property
    def configuration(self) -> dict[str, object]:
        return {
            "function": _function_name(self.fn),
            "schema": self.schema if isinstance(self.schema, str) else self.schema.simpleString(),
            "retries": self.retries,
            "backoff": _function_name(self.backoff) if callable(self.backoff) else self.backoff,
            "on_error": self.on_error,
        } | _mapper_configuration(self.mapper)


@dataclass(frozen=True, eq=False)
class JoinNode(ComputedNode):
    on: tuple[str, ...] = field(kw_only=True)
    how: str = "inner"
    kind: ClassVar[str] = "join"

    def __post_init__(self) -> None:
        self._check_columns("on", self.on)
        self._check_choice("how", self.how, tuple(JOIN_TYPES))
        super().__post_init__()

    @property
    def configuration(self) -> dict[str, object]:
        return {"on": list(self.on), "how": self.how} | _mapper_configuration(self.mapper)


@dataclass(frozen=True, eq=False)
class AggregateNode(ComputedNode):
    by: tuple[str, ...] = field(kw_only=True)
    aggregates: Mapping[str, Column] = field(kw_only=True)
    kind: ClassVar[str] = "aggregate"
    merges_rows: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._check_columns("by", self.by)
        self._check_columns("The list of aggregates", tuple(self.aggregates))
        super().__post_init__()

    @property
    def unique_columns(self) -> tuple[str, ...]:
        return self.by

    @property
    def configuration(self) -> dict[str, object]:
        aggregates = {name: str(column) for name, column in self.aggregates.items()}
        return {"by": list(self.by), "aggregates": aggregates} | _mapper_configuration(self.mapper)


@dataclass(frozen=True, eq=False)
class SinkNode(PipelineNode):
    format: str | None = None
    path: str | None = None
    table: str | None = None
    mode: str = "errorifexists"
    partition_by: tuple[str, ...] = ()
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    kind: ClassVar[str] = "sink"

    def __post_init__(self) -> None:
        if self.path is not None and self.table is not None:
            raise self.invalid("it has both a path and a table; use one of them.")
        if self.path is None and self.table is None and self.format in _FILE_FORMATS and "path" not in self.options:
            raise self.invalid("it has neither a path nor a table.")
        self._check_choice("mode", self.mode, MODES)
        self._check_columns("partition_by", self.partition_by, 0)

    @property
    def configuration(self) -> dict[str, object]:
        """Contains only the names of options: a value may be a password."""
        target = {"format": self.format, "path": self.path, "table": self.table, "mode": self.mode}
        return target | {"partition_by": list(self.partition_by), "options": sorted(self.options)}


@dataclass(frozen=True, eq=False)
class PassThroughNode(PipelineNode):
    """Passes rows into a nested pipeline, in place of its source, or out of it, in place of its sink."""

    kind: ClassVar[str] = "passage"
    may_keep_keys: ClassVar[bool] = True

    @property
    def configuration(self) -> dict[str, object]:
        return {"from": self.inputs[0]}


@dataclass(frozen=True, eq=False)
class NestedPipeline(PipelineNode):
    """A pipeline as a node. The outputs of its nodes are available by name: `nested["daily"]`."""

    other: PipelineDeclaration = field(kw_only=True)
    fed_sources: Mapping[str, str] = field(kw_only=True)
    """Its sources that are fed by a node instead of being read, each with that node."""
    outputs: tuple[str, ...] = ()
    """Its sinks that pass rows on instead of writing them."""
    kind: ClassVar[str] = "pipeline"

    def __post_init__(self) -> None:
        for role, kind, names in (("source", SourceNode, self.fed_sources), ("sink", SinkNode, self.outputs)):
            declared = [node.name for node in self.other.nodes if isinstance(node, kind)]
            for name in names:
                if name not in declared:
                    listed = f"It has: {', '.join(declared)}." if declared else f"It has no {role}."
                    raise self.invalid(f"pipeline '{self.other.name}' has no {role} '{name}'. {listed}")

    def __getitem__(self, name: str) -> PipelineNode:
        declared = [node.name for node in self.other.nodes]
        if name.partition("/")[0] not in declared:
            raise self.invalid(f"pipeline '{self.other.name}' has no node '{name}'. It has: {', '.join(declared)}.")
        return PipelineNode(f"{self.name}/{name}", self.pipeline)


def canonical_join_type(how: str) -> str:
    """The canonical name of a join type; an unknown name is returned unchanged."""
    normalized = str(how).lower().replace("_", "")
    return next((canonical for canonical, names in JOIN_TYPES.items() if normalized in names), how)


def _function_name(function: object) -> str:
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return f"{getattr(function, '__module__', None) or '?'}.{name}"


def _mapper_configuration(mapper: Mapper | None) -> dict[str, object]:
    return {} if mapper is None else {"mapper": _function_name(mapper)}
