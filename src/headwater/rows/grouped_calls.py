"""Functions that take a group and give rows (`applyInPandas` and its kin), made to say which group their rows are of.

Around the user's function stands one that adds the group's key to what it gives. It travels to the executors by value:
headwater is not installed there. The user's function is unpacked where it runs, and nowhere else.
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
"""PySpark's numbers for functions of a group and of two groups side by side."""


def keyed_functions(spark: SparkSession, grouped: Any) -> Any:
    """A function around each one of the plan that can have one; the others stay as they are."""
    from pyspark import cloudpickle
    from pyspark.sql.types import StructType
    from pyspark.sql.udf import _wrap_function

    for place in range(grouped.count()):
        kind = grouped.evalType(place)
        if kind not in (*_PANDAS_EVAL_TYPES, *_ARROW_EVAL_TYPES) or not grouped.isWhole(place):
            continue
        given: Any = cloudpickle.register_pickle_by_value
        given(sys.modules[__name__])
        schema = StructType.fromJson(_parse_json(grouped.outputSchema(place, KEY_PREFIX)))
        own = [name for name in schema.names if not name.startswith(KEY_PREFIX)]
        keys = [name for name in schema.names if name.startswith(KEY_PREFIX)]
        around = _keyed_function(
            bytes(grouped.command(place)), own, keys, kind in _PANDAS_EVAL_TYPES, 2 if kind in (206, 211) else 1
        )
        grouped.replace(place, _wrap_function(spark.sparkContext, around, schema))
    return grouped


def _parse_json(text: str) -> Any:
    import json

    return json.loads(text)


def _keyed_function(command: bytes, own: Sequence[str], keys: Sequence[str], pandas: bool, sides: int) -> Any:
    """PySpark looks at how many arguments a function has: with one more than groups, it is given the key first."""
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


def _add_key_to_frame(found: Any, key: Sequence[Any], own: Sequence[str], names: Sequence[str]) -> Any:
    if len(found.columns) == 0 and found.empty:
        return found
    found = found.copy(deep=False)
    if not any(isinstance(name, str) for name in found.columns):  # by their places
        found.columns = list(own)
    for name, value in zip(names, key, strict=True):
        found[name] = value
    return found


def _add_key_to_table(found: Any, key: Sequence[Any], own: Sequence[str], names: Sequence[str]) -> Any:
    import pyarrow as pa

    for name, value in zip(names, key, strict=True):
        found = found.append_column(name, pa.repeat(value, found.num_rows))
    return found
