"""What pair tables answer, in the words of a trace (headwater/rows/render.py)."""

from __future__ import annotations

import math
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from headwater.engines.sql import Sql
from headwater.rows.pairs.lookup import PairTables, SourceRows


def tables_document(tables: PairTables, where: str | Sql | None, most: int) -> dict[str, Any]:
    """``most`` rows of each dataset; a count says how many there are."""
    outs = tables.output_rows(where)
    layout = tables.layout
    notes = list(layout.notes)
    if layout.sample is not None:
        notes.append(f"a sample: of the source rows, {layout.sample:.2%} were written down")
    return {
        "dataset": None,
        "runs": [],
        "count": len(outs),
        "rows": [{**_json_value(out.values), "out_id": out.id} for out in outs[:most]],
        "notes": notes,
        "sources": [_source_document(tables, found, most) for found in tables.sources(out.id for out in outs).values()],
    }


def _source_document(tables: PairTables, found: SourceRows, most: int) -> dict[str, Any]:
    told = {
        "dataset": f"{found.source.namespace}/{found.source.name}",
        "grain": found.source.grain,
        "count": found.count,
    }
    if found.source.has_positions:
        return {**told, "rows": [_json_value(row) for row in tables.source_rows(found, most)]}
    return {**told, "rows": [{"content": file} for file, _ in found.rows(most)]}


def _json_value(row: Any) -> Any:
    """In terms of JSON."""
    if isinstance(row, dict):
        return {str(name): _json_value(value) for name, value in row.items()}
    if isinstance(row, list | tuple):
        return [_json_value(value) for value in row]
    if isinstance(row, float):
        return row if math.isfinite(row) else str(row)
    if isinstance(row, bytes):
        return row.hex()
    if isinstance(row, Decimal | date | datetime | time | timedelta):
        return str(row)
    return row
