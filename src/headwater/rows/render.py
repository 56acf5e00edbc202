"""Renders a trace as plain data, as a tree for the terminal, and as HTML for a notebook."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from rich.text import Text
from rich.tree import Tree

from headwater.rows.column_names import FILE, OUT_ID, ROW, is_added

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headwater.rows.answer import Trace
    from headwater.rows.forward_chain import ForwardStep

_VERIFIED_STYLES = {"yes": "green", "no": "red", "not tried": "dim"}
_MAX_COLUMNS = 8  # columns of a row in the tree
_MAX_VALUE_LENGTH = 40  # characters of a value there
_JSON_OPTIONS = {"ignoreNullFields": "false"}


def trace_document(trace: Trace, max_rows: int) -> dict[str, Any]:
    """The trace with up to ``max_rows`` rows of each dataset, and the number of all."""
    answer: dict[str, Any] = {
        "dataset": None if trace.dataset is None else str(trace.dataset),
        "runs": [_run_document(part.write) for part in trace.parts if part.write is not None],
        **rows_document(trace.rows, max_rows),
        "notes": list(trace.notes),
        "verified": trace.verified.to_dict(),
        "sources": [],
    }
    grains = trace.grain
    for name in trace.sources:
        source = {"dataset": name, "grain": grains[name], **rows_document(trace.sources[name], max_rows)}
        further = trace.further.get(name)
        if further is not None:
            source["from"] = {
                key: value for key, value in trace_document(further, max_rows).items() if key not in ("rows", "count")
            }
        if name in trace.ends:
            source["ends"] = trace.ends[name]
        answer["sources"].append(source)
    return answer


def forward_document(step: ForwardStep, max_rows: int) -> dict[str, Any]:
    answer: dict[str, Any] = {"dataset": str(step.dataset), **rows_document(step.rows, max_rows)}
    if step.write is not None:
        answer.update(run=_run_document(step.write), grain=step.grain, notes=list(step.notes))
    if step.end is not None:
        answer["ends"] = step.end
    answer["reached"] = [forward_document(next_step, max_rows) for next_step in step.reached]
    return answer


def forward_tree(answer: dict[str, Any], above: Tree | None = None) -> Tree:
    head = Text(answer["dataset"], style="bold")
    if "grain" in answer:
        head.append(f"  {answer['grain']}", style="green not bold")
    head.append(f"  {_row_count(answer['count'])}", style="not bold")
    tree = Tree(head) if above is None else above.add(head)
    if "run" in answer:
        tree.add(Text(f"by {answer['run']['job']}, run {answer['run']['run']}", style="dim"))
    _add_rows(tree, answer)
    for note in answer.get("notes", ()):
        tree.add(Text(f"note: {note}", style="yellow"))
    if "ends" in answer:
        tree.add(Text(f"ends here: {answer['ends']}", style="yellow"))
    for reached in answer["reached"]:
        forward_tree(reached, tree)
    return tree


def _run_document(write: Any) -> dict[str, str]:
    return {"run": write.run_id, "job": str(write.job), "completed": write.completed_at.isoformat()}


def rows_document(frame: DataFrame, max_rows: int) -> dict[str, Any]:
    """The number of rows, and up to ``max_rows`` of them in Spark's own JSON, which exists for every type and
    version."""
    from pyspark.sql import functions as F

    json_row = F.to_json(F.struct("*"), _JSON_OPTIONS)
    rows = [json.loads(row[0]) for row in frame.limit(max_rows + 1).select(json_row).collect()]
    is_complete = len(rows) <= max_rows
    return {"count": len(rows) if is_complete else frame.count(), "rows": rows[:max_rows]}


def trace_tree(answer: dict[str, Any]) -> Tree:
    head = Text(answer["dataset"] or "the DataFrame's rows", style="bold")
    tree = Tree(head.append(f"  {_row_count(answer['count'])}", style="not bold"))
    _add_rows(tree, answer)
    for note in answer["notes"]:
        tree.add(Text(f"note: {note}", style="yellow"))
    _add_sources(tree, answer)
    return tree


def verified_text(verified: Mapping[str, str | None]) -> str:
    """The outcome of running the query on the returned rows alone."""
    return ", ".join(text for text in (verified["answer"], verified["reason"]) if text is not None)


def _add_sources(tree: Tree, answer: dict[str, Any]) -> None:
    for run in answer["runs"]:
        tree.add(Text(f"by {run['job']}, run {run['run']}", style="dim"))
    verified = answer["verified"]
    tree.add(Text(f"verified: {verified_text(verified)}", style=_VERIFIED_STYLES[verified["answer"]]))
    for source in answer["sources"]:
        head = Text(source["dataset"], style="bold").append(f"  {source['grain']}", style="green not bold")
        branch = tree.add(head.append(f", {_row_count(source['count'])}", style="not bold"))
        _add_rows(branch, source)
        if "ends" in source:
            branch.add(Text(f"ends here: {source['ends']}", style="yellow"))
        if "from" in source:
            _add_sources(branch, source["from"])


def _add_rows(tree: Tree, answer: dict[str, Any]) -> None:
    for row in answer["rows"]:
        tree.add(Text(_row_text(row)))
    remaining = answer["count"] - len(answer["rows"])
    if remaining > 0:
        tree.add(Text(f"… and {remaining:,} more", style="dim"))


def _row_text(row: dict[str, Any]) -> str:
    values = [f"{name}={_short_value(value)}" for name, value in _data_columns(row).items()]
    more = ["…"] if len(values) > _MAX_COLUMNS else []
    return "  ".join(values[:_MAX_COLUMNS] + more)


def _data_columns(row: dict[str, Any]) -> dict[str, Any]:
    """Without the columns that an answer adds, which are the last ones."""
    names = list(row)
    for added in ((OUT_ID,), (FILE, ROW)):
        last = names[-len(added) :]
        if len(last) == len(added) and all(map(is_added, last, added)):
            return {name: row[name] for name in names[: -len(added)]}
    return row


def _short_value(value: Any) -> str:
    text = str(value)
    return text if len(text) <= _MAX_VALUE_LENGTH else f"{text[: _MAX_VALUE_LENGTH - 1]}…"


def _row_count(count: int) -> str:
    return f"{count:,} row" if count == 1 else f"{count:,} rows"


def trace_html(answer: dict[str, Any]) -> str:
    notes = "".join(f"<li>{escape(note)}</li>" for note in answer["notes"])
    title = escape(answer["dataset"] or "The DataFrame's rows")
    return (
        f"<div><b>{title}</b>, {_row_count(answer['count'])}{_table_html(answer['rows'])}"
        f"{f'<ul>{notes}</ul>' if notes else ''}"
        f"{_sources_html(answer)}</div>"
    )


def _sources_html(answer: dict[str, Any]) -> str:
    runs = [f"<div><small>by {escape(run['job'])}, run {escape(run['run'])}</small></div>" for run in answer["runs"]]
    verified = f"<div><small>verified: {escape(verified_text(answer['verified']))}</small></div>"
    return "".join([*runs, verified, *map(_source_html, answer["sources"])])


def _source_html(source: dict[str, Any]) -> str:
    further = _sources_html(source["from"]) if "from" in source else ""
    if "ends" in source:
        further = f"<div>ends here: {escape(source['ends'])}</div>{further}"
    head = f"<b>{escape(source['dataset'])}</b> {escape(source['grain'])}, {_row_count(source['count'])}"
    body = f"{_table_html(source['rows'])}{further}"
    return f"<details open style='margin-left:1.5em'><summary>{head}</summary>{body}</details>"


def _table_html(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return ""
    names = list(dict.fromkeys(name for row in rows for name in _data_columns(row)))
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    cells = ([f"<td>{escape(str(row.get(name, '')))}</td>" for name in names] for row in rows)
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in cells)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
