"""Rows looked up in the pair tables that their run wrote, by DuckDB: at once, and without Spark."""

from __future__ import annotations

from typing import Any

from headwater.engines.conditions import refuse_unknown_columns
from headwater.errors import EngineError, LayoutInvalid, RowsError
from headwater.rows.pairs.opening import LookupRoots
from headwater.server.app.problems import HttpProblem
from headwater.server.rows.questions import TraceRequest
from headwater.server.rows.run_rows import ELSEWHERE, RunRows


def look_up(kept: RunRows, asked: TraceRequest, roots: LookupRoots) -> dict[str, Any] | None:
    """None where there are no tables, or none that know rows by the columns that are asked for."""
    way = kept.instant(roots)
    if way.reason == ELSEWHERE:
        raise HttpProblem(409, "tables_elsewhere", ELSEWHERE)
    if kept.tables is None or not way.possible:
        return None
    by = {name.lower() for name in kept.identity}
    strange = [column for column in asked.columns if column.lower() not in by]
    if strange:
        _check_columns(kept, asked, strange)
        return None
    return {**_table_answer(kept, asked, roots), **_run_members(kept)}


def _check_columns(kept: RunRows, asked: TraceRequest, strange: list[str]) -> None:
    columns = [column.name for column in kept.columns]
    if asked.written is not None:
        refuse_unknown_columns(strange, columns, _dataset(kept) or "the output")
    elif not {name.lower() for name in strange} <= {name.lower() for name in columns}:
        known = ", ".join(kept.identity)
        raise RowsError(f"Key columns of the output: {known}; not {', '.join(sorted(strange))}.")


def _table_answer(kept: RunRows, asked: TraceRequest, roots: LookupRoots) -> dict[str, Any]:
    # Here, because DuckDB takes longer to load than all else to start.
    from headwater.rows.pairs.lookup import PairTables
    from headwater.rows.pairs.render import told_tables

    assert kept.tables is not None
    try:
        with PairTables(kept.tables, run_id=kept.run_id, roots=roots) as tables:
            return told_tables(tables, asked.for_duckdb, asked.rows)
    except LayoutInvalid:
        raise
    except (EngineError, RowsError):  # their text names files of the server's
        raise HttpProblem(
            409, "tables_unreadable", "The pair tables cannot be read, or not with these values."
        ) from None


def _run_members(kept: RunRows) -> dict[str, Any]:
    """What the tables do not know of themselves."""
    run = kept.run.run
    completed = (run.ended_at or run.last_event_at).isoformat()
    return {
        "dataset": _dataset(kept),
        "runs": [{"run": run.run_id, "job": str(run.job), "completed": completed}],
    }


def _dataset(kept: RunRows) -> str | None:
    return None if kept.output is None else str(kept.output.dataset)
