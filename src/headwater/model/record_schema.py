"""The one definition of the columns of records and traces, for everything that stores or shows them.

From these lists come the hot table's columns (`store/schema/record_tables.py`), the scan of it, the Arrow schemas of
the archive, Spark's schemas, DuckDB's tables, the lines of JSON and the schemas of the HTTP API. The lists themselves
come from the class `Record`, so a new text of a record changes four files:

1. `model/records.py`: the class, its digest and its documents;
2. `records/intake/requests.py`, which reads it from a request;
3. a migration, because the hot table gets a column;
4. `store/schema/migrations/__init__.py`, which lists the migrations.

Shipped to executors by value: nothing here imports anything of headwater but `Record`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal

from headwater.model.records import Record

if TYPE_CHECKING:
    import pyarrow as pa

Kind = Literal["text", "texts", "long", "timestamp", "binary", "date", "day_number", "boolean", "steps"]


@dataclass(frozen=True)  # without slots: Spark 3.5 would send it by value without its values
class RecordField:
    name: str
    kind: Kind


_KINDS: dict[str, Kind] = {"str": "text", "tuple[str, ...]": "texts"}

CONTENT = tuple(
    RecordField(field.name, _KINDS[str(field.type)]) for field in fields(Record) if field.name != "recorded_at"
)
"""The fields of `Record` except its time, in their order; the digest covers them."""
CONTENT_NAMES = tuple(field.name for field in CONTENT)
PARENTS = CONTENT_NAMES.index("parent_ids")
"""Where the list is among the values of :data:`CONTENT`, which are texts otherwise."""

IDENTITY = ["root_id", "node_id", "digest"]
"""The columns by which two rows are the same content of the same node."""

_PARENT = RecordField("parent_id", "text")
_SECONDS = RecordField("recordedAt", "long")
_MOMENT = RecordField("recorded_at", "timestamp")
_DIGEST = RecordField("digest", "binary")
# The load that added the record: of two contents of one node, the one of the earlier load is valid.
_LOAD = RecordField("load", "long")
DAY = RecordField("day", "date")
"""The partition of a row: the day of the record in UTC, of a trace the day of its leaf."""


def _without(columns: Iterable[RecordField], *names: str) -> tuple[RecordField, ...]:
    return tuple(field for field in columns if field.name not in names)


_OWN = _without(CONTENT, "root_id", "node_id", "parent_ids", "action_taken")

ARCHIVED = (*CONTENT, _SECONDS, _MOMENT, _DIGEST, _LOAD)
"""`records/` of the archive, without the day."""
SCANNED = (*CONTENT, _MOMENT, _DIGEST, RecordField("day", "day_number"), _LOAD)
"""A scan of the hot table; the day is a number of days since 1970."""
QUERIED = (
    *(RecordField("root_id", "text"), RecordField("node_id", "text"), _PARENT),
    *_without(CONTENT, "root_id", "node_id"),
    *(_SECONDS, _MOMENT, DAY),
)
"""The tables `hot` and `records` of a query in SQL."""
STEP = (
    *(RecordField("node_id", "text"), _PARENT, RecordField("parent_ids", "texts"), RecordField("action_taken", "text")),
    *(_SECONDS, _MOMENT),
    *_OWN,
)
"""A step of a lineage: a record within a trace, whose root the trace names."""
LINE_STEP = (
    *("root_id", "parent_id", "parent_ids", "action_taken", "recordedAt"),
    *(field.name for field in _OWN),
    "node_id",
)
"""A step in a line of JSON: the same names, in the order of a record's document."""
TRACE = (
    RecordField("record_id", "text"),
    RecordField("root_id", "text"),
    RecordField("lineage", "steps"),
    RecordField("orphans", "texts"),
    RecordField("cycle", "texts"),
    RecordField("conflicts", "texts"),
    RecordField("complete", "boolean"),
)
"""`traces/` of the archive, with a row for every leaf, without the day."""
TRACE_FLAGS = ("orphans", "cycle", "conflicts", "complete")


def names_of(columns: Iterable[RecordField]) -> tuple[str, ...]:
    return tuple(field.name for field in columns)


content_of: attrgetter[tuple[object, ...]] = attrgetter(*CONTENT_NAMES)
"""The values of :data:`CONTENT` of a `Record`."""


def with_parents(values: Sequence[object], parents: object) -> list[Any]:
    """Values of :data:`CONTENT` with the parents in another form: as a tuple, a list, or JSON. Their types are those
    of the fields, which a list cannot state one by one."""
    return [*values[:PARENTS], parents, *values[PARENTS + 1 :]]


# -- Spark ----------------------------------------------------------------------------------------------------------

_SPARK = {
    "text": "string",
    "texts": "array<string>",
    "long": "bigint",
    "timestamp": "timestamp",
    "binary": "binary",
    "date": "date",
    "day_number": "int",
    "boolean": "boolean",
}


def spark_schema(columns: Iterable[RecordField]) -> str:
    """As Spark's DDL writes it."""
    return ", ".join(f"{field.name} {_spark_type(field)}" for field in columns)


def _spark_type(field: RecordField) -> str:
    if field.kind == "steps":
        return f"array<struct<{', '.join(f'{step.name}: {_spark_type(step)}' for step in STEP)}>>"
    return _SPARK[field.kind]


# -- Arrow ----------------------------------------------------------------------------------------------------------


def arrow_fields(columns: Iterable[RecordField]) -> list[pa.Field]:
    """The fields of an Arrow schema or struct. Imported here: most of headwater starts without pyarrow."""
    import pyarrow as pa

    return [pa.field(field.name, arrow_type(field)) for field in columns]


def arrow_type(field: RecordField) -> pa.DataType:
    import pyarrow as pa

    if field.kind == "steps":
        return pa.list_(pa.struct(arrow_fields(STEP)))
    return {
        "text": pa.string(),
        "texts": pa.list_(pa.string()),
        "long": pa.int64(),
        "timestamp": pa.timestamp("us", tz="UTC"),
        "binary": pa.binary(),
        "date": pa.date32(),
        "day_number": pa.int32(),
        "boolean": pa.bool_(),
    }[field.kind]
