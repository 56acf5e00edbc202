"""The columns of the archive, as Arrow knows them."""

from __future__ import annotations

import pyarrow as pa

MICROS = pa.timestamp("us", tz="UTC")

RECORDS = pa.schema(
    [
        pa.field("root_id", pa.string()),
        pa.field("node_id", pa.string()),
        pa.field("parent_ids", pa.list_(pa.string())),
        pa.field("action_taken", pa.string()),
        pa.field("storage_location", pa.string()),
        pa.field("recordedAt", pa.int64()),
        pa.field("recorded_at", MICROS),
        pa.field("digest", pa.binary()),
        # Which load brought it: of two contents of one node the earlier one holds.
        pa.field("load", pa.int64()),
    ]
)
"""`records/`: every record once. What all else can be rebuilt from."""

STEP = pa.struct(
    [
        pa.field("node_id", pa.string()),
        pa.field("parent_id", pa.string()),
        pa.field("parent_ids", pa.list_(pa.string())),
        pa.field("action_taken", pa.string()),
        pa.field("recordedAt", pa.int64()),
        pa.field("recorded_at", MICROS),
        pa.field("storage_location", pa.string()),
    ]
)

TRACES = pa.schema(
    [
        pa.field("record_id", pa.string()),
        pa.field("root_id", pa.string()),
        pa.field("lineage", pa.list_(STEP)),
        pa.field("orphans", pa.list_(pa.string())),
        pa.field("cycle", pa.list_(pa.string())),
        pa.field("conflicts", pa.list_(pa.string())),
        pa.field("complete", pa.bool_()),
    ]
)
"""`traces/`: a row for every leaf."""

DAY = pa.field("day", pa.date32())
"""The leaf's own day, beside its trace: the partition that it goes to."""
