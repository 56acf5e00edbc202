"""The declared schema of a row function as an Arrow schema for the worker."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType


def arrow_schema(schema: StructType, timezone: str) -> pa.Schema:
    """``timezone`` is the session's: naive times that a function returns are in it."""
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema

    # Newer Sparks take the zone as an argument, older ones always use UTC.
    takes_timezone = "timezone" in signature(to_arrow_schema).parameters
    fields = to_arrow_schema(schema, timezone=timezone) if takes_timezone else to_arrow_schema(schema)
    return pa.schema([_with_timezone(field, timezone) for field in fields])


def _with_timezone(field: pa.Field, timezone: str) -> pa.Field:
    return field.with_type(_type_with_timezone(field.type, timezone))


def _type_with_timezone(kind: pa.DataType, timezone: str) -> pa.DataType:
    import pyarrow as pa

    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return pa.timestamp(kind.unit, tz=timezone)
    if pa.types.is_struct(kind):
        return pa.struct([_with_timezone(kind.field(position), timezone) for position in range(kind.num_fields)])
    if pa.types.is_map(kind):
        return pa.map_(_with_timezone(kind.key_field, timezone), _with_timezone(kind.item_field, timezone))
    if pa.types.is_list(kind):
        return pa.list_(_with_timezone(kind.value_field, timezone))
    return kind
