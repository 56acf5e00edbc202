"""The Arrow schemas of the archive's files and of the steps in them."""

from __future__ import annotations

import pyarrow as pa

from headwater.model import record_schema

MICROS = pa.timestamp("us", tz="UTC")

RECORDS = pa.schema(record_schema.arrow_fields(record_schema.ARCHIVED))
"""`records/`: every record once. Everything else can be rebuilt from these files."""

STEP = pa.struct(record_schema.arrow_fields(record_schema.STEP))

TRACES = pa.schema(record_schema.arrow_fields(record_schema.TRACE))
"""`traces/`: a row for every leaf."""

DAY = pa.field("day", pa.date32())
"""The leaf's own day, beside its trace: the partition that the trace goes to."""
