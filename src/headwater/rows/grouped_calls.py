"""Functions that take a group and return rows (`applyInPandas` and similar), wrapped so that rows carry their group's
key.

The wrapper adds the group's key to what the user's function returns. It is pickled by value, because headwater is not
installed on executors. The user's function is unpickled where it runs, and nowhere else.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEY_PREFIX = "__hw_g"
_PANDAS_EVAL_TYPES = (201, 206)
_ARROW_EVAL_TYPES = (209, 211)
"""PySpark's evaluation types: a function of a group, and a function of two cogroups."""


def keyed_functions(spark: SparkSession, grouped: Any) -> Any:
    """Wraps each function of the plan that can be wrapped; the others stay as they are."""
    from pyspark import cloudpickle
    from pyspark.sql.types import StructType
    from pyspark.sql.udf import _wrap_function

    for place in range(grouped.count()):
        kind = grouped.evalType(place)
        if kind not in (*_PANDAS_EVAL_TYPES, *_ARROW_EVAL_TYPES) or not grouped.isWhole(place):
            continue
        register: Any = cloudpickle.register_pickle_by_value
        register(sys.modules[__name__])
        schema = StructType.fromJson(_parse_json(grouped.outputSchema(place, KEY_PREFIX)))
        own_names = [name for name in schema.names if not name.startswith(KEY_PREFIX)]
        keys = [name for name in schema.names if name.startswith(KEY_PREFIX)]
        keyed = _keyed_function(
            bytes(grouped.command(place)), own_names, keys, kind in _PANDAS_EVAL_TYPES, 2 if kind in (206, 211) else 1
        )
        grouped.replace(place, _wrap_function(spark.sparkContext, keyed, schema))
    return grouped


def _parse_json(text: str) -> Any:
    import json

    return json.loads(text)


def _keyed_function(command: bytes, own: Sequence[str], keys: Sequence[str], pandas: bool, sides: int) -> Any:
    """PySpark counts the arguments of a function: one more than there are groups, and it passes the key first."""
    add = _add_key_to_frame if pandas else _add_key_to_table

    def one(key: Any, rows: Any) -> Any:
        return add(_call_function(command, key, rows), key, own, keys)

    def two(key: Any, left: Any, right: Any) -> Any:
        return add(_call_function(command, key, left, right), key, own, keys)

    return one if sides == 1 else two


def _call_function(command: bytes, key: Any, *groups: Any) -> Any:
    import inspect

    from pyspark import cloudpickle

    function = cloudpickle.loads(command)[0]
    takes_key = len(inspect.getfullargspec(function).args) > len(groups)
    return function(key, *groups) if takes_key else function(*groups)


def _add_key_to_frame(frame: Any, key: Sequence[Any], own_names: Sequence[str], names: Sequence[str]) -> Any:
    if len(frame.columns) == 0 and frame.empty:
        return frame
    frame = frame.copy(deep=False)
    if not any(isinstance(name, str) for name in frame.columns):  # columns by position
        frame.columns = list(own_names)
    for name, value in zip(names, key, strict=True):
        frame[name] = value
    return frame


def _add_key_to_table(table: Any, key: Sequence[Any], own_names: Sequence[str], names: Sequence[str]) -> Any:
    import pyarrow as pa

    for name, value in zip(names, key, strict=True):
        table = table.append_column(name, pa.repeat(value, table.num_rows))
    return table
