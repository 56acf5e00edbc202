"""Rows looked up in the pair tables that their run wrote, by DuckDB: at once, and without Spark."""

from __future__ import annotations

from typing import Any

from headwater.engines.conditions import refuse_unknown_columns
from headwater.errors import EngineError, LayoutInvalid, RowsError
from headwater.rows.pairs.opening import LookupRoots
from headwater.server.app.problems import Problem
from headwater.server.rows.questions import TraceAsked
from headwater.server.rows.run_rows import ELSEWHERE, KeptRows, one_line


def look_up(kept: KeptRows, asked: TraceAsked, roots: LookupRoots) -> dict[str, Any] | None:
    """None where there are no tables, or none that know rows by the columns that are asked for."""
    way = kept.instant(roots)
    if way.reason == ELSEWHERE:
        raise Problem(409, "tables_elsewhere", ELSEWHERE)
    if kept.tables is None or not way.possible:
        return None
    by = {name.lower() for name in kept.identity}
    strange = [column for column in asked.columns if column.lower() not in by]
    if strange:
        _refuse_unless_known(kept, asked, strange)
        return None
    return {**_found(kept, asked, roots), **_about(kept)}


def _refuse_unless_known(kept: KeptRows, asked: TraceAsked, strange: list[str]) -> None:
    columns = [column.name for column in kept.columns]
    if asked.written is not None:
        refuse_unknown_columns(strange, columns, _dataset(kept) or "the output")
    elif not {name.lower() for name in strange} <= {name.lower() for name in columns}:
        known, asked_by = one_line(kept.identity), one_line(sorted(strange))
        raise RowsError(f"Rows of the output are known by {known}; not by {asked_by}.")


def _found(kept: KeptRows, asked: TraceAsked, roots: LookupRoots) -> dict[str, Any]:
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
        raise Problem(409, "tables_unreadable", "The pair tables cannot be read, or not with these values.") from None


def _about(kept: KeptRows) -> dict[str, Any]:
    """What the tables do not know of themselves."""
    run = kept.run.run
    completed = (run.ended_at or run.last_event_at).isoformat()
    return {
        "dataset": _dataset(kept),
        "runs": [{"run": run.run_id, "job": str(run.job), "completed": completed}],
    }


def _dataset(kept: KeptRows) -> str | None:
    return None if kept.output is None else str(kept.output.dataset)
