"""Removes literals from a write, an error and captured rows where literals must not leave the process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from headwater.capture.events.inputs import InputColumn
from headwater.capture.events.redaction import without_plan
from headwater.capture.events.run_types import Failure
from headwater.capture.events.writes import CapturedWrite, ViewDefinition
from headwater.capture.listener.statistics import NodeTelemetry
from headwater.redaction.literals import (
    message_without_values,
    remove_literals,
    stack_without_values,
    without_strings,
)
from headwater.redaction.shapes import is_secret_column


def written_without_literals(written: CapturedWrite, literals: str) -> CapturedWrite:
    """SQL text and column logic without literals, also of the views that were read."""
    if literals == "keep":
        return _without_secret_columns(written)

    def removed(columns: tuple[InputColumn, ...]) -> tuple[InputColumn, ...]:
        stripped = (replace(column, logic=remove_literals(column.logic, literals)) for column in columns)
        return tuple(dict.fromkeys(stripped))

    return replace(
        written,
        sql=remove_literals(written.sql, literals),
        fields={name: removed(columns) for name, columns in written.fields.items()},
        whole=removed(written.whole),
        gaps=tuple(replace(gap, reason=_reason_without_query(gap.reason)) for gap in written.gaps),
        views=tuple(
            ViewDefinition(definition.view, written_without_literals(definition.written, literals))
            for definition in written.views
        ),
    )


def _without_secret_columns(written: CapturedWrite) -> CapturedWrite:
    """Text literals are removed from the logic of a column with the name of a secret."""
    if any(map(is_secret_column, written.fields)):
        fields = {
            name: tuple(replace(each, logic=each.logic and without_strings(name, each.logic)) for each in columns)
            for name, columns in written.fields.items()
        }
        written = replace(written, fields=fields)
    views = tuple(ViewDefinition(each.view, _without_secret_columns(each.written)) for each in written.views)
    return replace(written, views=views) if views else written


def failure_without_literals(failure: Failure, literals: str) -> Failure:
    """An error quotes values and queries: only its class, Spark's error condition and the frames of its stack
    remain."""
    if literals == "keep":
        return failure
    return replace(
        failure,
        message=message_without_values(failure.message),
        stack_trace=stack_without_values(failure.stack_trace),
    )


def node_without_literals(node: NodeTelemetry, literals: str) -> NodeTelemetry:
    """The name of a scan over JDBC contains the query."""
    return node if literals == "keep" else replace(node, name=node.name.partition("(")[0].strip())


def rows_without_literals(rows: dict[str, object] | None, literals: str) -> dict[str, object] | None:
    """A plan contains its literals, so it is left out. What was read and written stays, and so do pair tables, which
    contain numbers and hashes."""
    if rows is None or literals == "keep":
        return rows
    need = f'it ran with literals="{literals}", so its query, which holds literals, was not kept; {_answerable(rows)}'
    return {**without_plan(rows, need), "literals": literals}


def _reason_without_query(reason: str) -> str:
    """The reason of a gap quotes a JDBC query that cannot be parsed."""
    parts = reason.split(": ")
    return ": ".join(parts[:2]) if parts[0] == "JDBC" else reason


def _answerable(rows: Mapping[str, object]) -> str:
    if "pairs" in rows:
        return "its rows can be looked up in the pair tables"
    return 'rows="full" would have kept pair tables, in which rows can be looked up'
