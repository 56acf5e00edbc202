"""Renders answers of pair tables like a trace (headwater/rows/render.py)."""

from __future__ import annotations

import math
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from headwater.engines.sql import Sql
from headwater.rows.pairs.lookup import PairTables, SourceRows
from headwater.rows.verification import Verification

_NOT_TRIED = "the answer is that of pair tables, and no query ran"


def tables_document(tables: PairTables, where: str | Sql | None, max_rows: int) -> dict[str, Any]:
    """Up to ``max_rows`` rows of each dataset, and the number of all."""
    outs = tables.output_rows(where)
    layout = tables.layout
    notes = list(layout.notes)
    if layout.sample is not None:
        notes.append(f"a sample: {layout.sample:.2%} of the source rows are stored")
    return {
        "dataset": None,
        "runs": [],
        "count": len(outs),
        "rows": [{**_json_value(out.values), "out_id": out.id} for out in outs[:max_rows]],
        "notes": notes,
        "verified": Verification("not tried", _NOT_TRIED).to_dict(),
        "sources": [
            _source_document(tables, rows, max_rows) for rows in tables.sources(out.id for out in outs).values()
        ],
    }


def _source_document(tables: PairTables, rows: SourceRows, max_rows: int) -> dict[str, Any]:
    document = {
        "dataset": f"{rows.source.namespace}/{rows.source.name}",
        "grain": rows.source.grain,
        "count": rows.count,
    }
    if rows.source.has_positions:
        return {**document, "rows": [_json_value(row) for row in tables.source_rows(rows, max_rows)]}
    return {**document, "rows": [{"content": file} for file, _ in rows.rows(max_rows)]}


def _json_value(row: Any) -> Any:
    """Converts a value to JSON types."""
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
