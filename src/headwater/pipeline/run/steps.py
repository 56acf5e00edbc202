"""What each kind of node does in Spark, without any lineage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from headwater.errors import first_line
from headwater.pipeline.declare.function_schemas import arrow_schema
from headwater.pipeline.declare.nodes import (
    AggregateNode,
    ComputedNode,
    JoinNode,
    PipelineNode,
    RowMapNode,
    SinkNode,
    SourceNode,
    TransformNode,
)
from headwater.pipeline.worker import INPUT_ROW, OUTCOME_COLUMNS, RowFunction

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


def read(node: SourceNode, spark: SparkSession) -> DataFrame:
    frame = _check_frame(node, node.reader(spark), "The reader")
    if frame.isStreaming:
        raise node.invalid("its reader returned a stream; a pipeline reads bounded data.")
    _require_columns(node, "The key", node.key, frame)
    return frame


def apply_node(node: ComputedNode, inputs: Sequence[DataFrame]) -> DataFrame:
    match node:
        case TransformNode():
            return transform(node, inputs)
        case JoinNode():
            return join(node, *inputs)
        case AggregateNode():
            return aggregate(node, inputs[0])
    raise AssertionError(f"{node.kind} is no kind of computed node")


def transform(node: TransformNode, inputs: Sequence[DataFrame]) -> DataFrame:
    return _check_frame(node, node.fn(*inputs), "The function")


def join(node: JoinNode, left: DataFrame, right: DataFrame) -> DataFrame:
    _require_columns(node, "on", node.on, left)
    _require_columns(node, "on", node.on, right)
    return left.join(right, on=list(node.on), how=node.how)


def aggregate(node: AggregateNode, rows: DataFrame) -> DataFrame:
    _require_columns(node, "by", node.by, rows)
    aggregates = [column.alias(name) for name, column in node.aggregates.items()]
    return rows.groupBy(*map(quote_name, node.by)).agg(*aggregates)


def row_map(node: RowMapNode, rows: DataFrame) -> DataFrame:
    schema = schema_of(node, rows.sparkSession)
    function = row_function(node, rows.columns, schema, rows.sparkSession)
    return rows.mapInArrow(function.map_rows, schema)


def row_map_with_outcomes(node: RowMapNode, rows: DataFrame, tracking_count: int) -> DataFrame:
    """Runs a row function that returns outcomes with its results. The first ``tracking_count`` columns are passed
    on."""
    from pyspark.sql.types import StructField, StructType

    spark = rows.sparkSession
    schema = schema_of(node, spark)
    function = row_function(node, rows.columns[tracking_count:], schema, spark)
    outcome_schema = spark.createDataFrame([], ", ".join(f"{name} {type}" for name, type in OUTCOME_COLUMNS)).schema
    result_fields = [
        StructField(field.name, field.dataType) for field in schema.fields
    ]  # a row without a result has nulls
    tracking_fields = rows.schema.fields[:tracking_count]
    if node.on_error == "dead_letter":
        tracking_fields.append(StructField(INPUT_ROW, StructType(rows.schema.fields[tracking_count:])))
    return rows.mapInArrow(
        function.map_rows_with_outcomes, StructType([*tracking_fields, *outcome_schema.fields, *result_fields])
    )


def write(node: SinkNode, rows: DataFrame) -> None:
    writer = rows.write.mode(node.mode).options(**node.options)
    if node.format is not None:
        writer = writer.format(node.format)
    if node.partition_by:
        writer = writer.partitionBy(*node.partition_by)
    if node.table is not None:
        writer.saveAsTable(node.table)
    elif node.path is not None:
        writer.save(node.path)
    else:
        writer.save()


def row_function(node: RowMapNode, names: Sequence[str], schema: StructType, spark: SparkSession) -> RowFunction:
    """Pickled by value, because headwater is not installed on executors."""
    from pyspark import cloudpickle

    from headwater.pipeline import worker

    register: Callable[[ModuleType], None] = cloudpickle.register_pickle_by_value
    register(worker)
    duplicates = sorted({name for name in names if list(names).count(name) > 1})
    if duplicates:
        raise node.invalid(f"its input has several columns of the same name: {', '.join(duplicates)}.")
    dotted = sorted(name for name in (*names, *schema.fieldNames()) if "." in name)
    if dotted:
        raise node.invalid(f"a row function cannot read or return columns with a dot in the name: {', '.join(dotted)}.")
    arrow = arrow_schema(schema, str(spark.conf.get("spark.sql.session.timeZone")))
    settings = (node.many, node.retries, node.backoff)
    return RowFunction(node.fn, names, arrow, *settings, on_error=node.on_error, node=node.name)


def schema_of(node: RowMapNode, spark: SparkSession) -> StructType:
    from pyspark.errors import ParseException

    if not isinstance(node.schema, str):
        return node.schema
    try:
        schema = spark.createDataFrame([], node.schema).schema
    except ParseException as wrong:
        raise node.invalid(f"its schema {node.schema!r} cannot be parsed: {first_line(wrong)}") from wrong
    for name in schema.fieldNames():
        node.refuse_reserved_name(name)
    return schema


def quote_name(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def _check_frame(node: PipelineNode, result: object, code: str) -> DataFrame:
    from pyspark.sql import DataFrame

    if not isinstance(result, DataFrame):
        raise node.invalid(f"{code} returned {type(result).__name__} instead of a DataFrame.")
    return result


def _require_columns(node: PipelineNode, parameter: str, names: Sequence[str], frame: DataFrame) -> None:
    for name in names:
        if name not in frame.columns:
            available = ", ".join(frame.columns)
            raise node.invalid(f"{parameter} names '{name}', which is not a column. Columns: {available}.")
