"""The Arrow schemas of the archive's files and of the steps in them."""

from __future__ import annotations

import pyarrow as pa

from headwater.model.record_schema import ARCHIVED, TRACE, arrow_fields
from headwater.model.record_schema import STEP as STEP_FIELDS

MICROS = pa.timestamp("us", tz="UTC")

RECORDS = pa.schema(arrow_fields(ARCHIVED))
"""`records/`: every record once. Everything else can be rebuilt from these files."""

STEP = pa.struct(arrow_fields(STEP_FIELDS))

TRACES = pa.schema(arrow_fields(TRACE))
"""`traces/`: a row for every leaf."""

DAY = pa.field("day", pa.date32())
"""The leaf's own day, beside its trace: the partition that the trace goes to."""
