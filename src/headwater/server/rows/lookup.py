"""Looks up rows in the pair tables of their run, with DuckDB: immediately, and without Spark."""

from __future__ import annotations

from headwater.engines.conditions import refuse_unknown_columns
from headwater.errors import EngineError, LayoutInvalid, RowsError
from headwater.rows.pairs.opening import LookupRoots
from headwater.server.app.problems import HttpProblem
from headwater.server.rows.request_models import TraceRequest
from headwater.server.rows.run_rows import ELSEWHERE, RunRows, one_line


def look_up(rows: RunRows, request: TraceRequest, roots: LookupRoots) -> dict[str, object] | None:
    """Return the answer, or None if there are no tables, or none with the columns of the request as key."""
    way = rows.instant(roots)
    if way.reason == ELSEWHERE:
        raise HttpProblem(409, "tables_elsewhere", ELSEWHERE)
    if rows.tables is None or not way.possible:
        return None
    keys = {name.lower() for name in rows.identity}
    other = [column for column in request.columns if column.lower() not in keys]
    if other:
        _check_columns(rows, request, other)
        return None
    return {**_table_answer(rows, request, roots), **_run_members(rows)}


def _check_columns(rows: RunRows, request: TraceRequest, other: list[str]) -> None:
    columns = [column.name for column in rows.columns]
    if request.parsed_condition is not None:
        refuse_unknown_columns(other, columns, _dataset(rows) or "the output")
    elif not {name.lower() for name in other} <= {name.lower() for name in columns}:
        keys, requested = one_line(rows.identity), one_line(sorted(other))
        raise RowsError(f"Key columns of the output: {keys}; not {requested}.")


def _table_answer(rows: RunRows, request: TraceRequest, roots: LookupRoots) -> dict[str, object]:
    # Imported here, because DuckDB takes longer to load than the rest of the server.
    from headwater.rows.pairs.lookup import PairTables
    from headwater.rows.pairs.render import tables_document

    assert rows.tables is not None
    try:
        with PairTables(rows.tables, run_id=rows.run_id, roots=roots) as tables:
            return tables_document(tables, request.duckdb_condition, request.rows)
    except LayoutInvalid:
        raise
    except (EngineError, RowsError):  # their text names files of the server
        raise HttpProblem(
            409, "tables_unreadable", "The pair tables cannot be read, or not with these values."
        ) from None


def _run_members(rows: RunRows) -> dict[str, object]:
    """Return the members of the answer that the tables do not have."""
    run = rows.run.run
    completed = (run.ended_at or run.last_event_at).isoformat()
    return {
        "dataset": _dataset(rows),
        "runs": [{"run": run.run_id, "job": str(run.job), "completed": completed}],
    }


def _dataset(rows: RunRows) -> str | None:
    return None if rows.output is None else str(rows.output.dataset)
