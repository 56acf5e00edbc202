"""What questions about rows are answered with, as schemas: the result of a task has no class that they could be read
off. The shapes are those of the command line's `--json`."""

from __future__ import annotations

from typing import Any

from headwater.server.app.openapi_schemas import COMPONENTS, Schema

_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "integer"}
_TRUTH: Schema = {"type": "boolean"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_VALUES: Schema = {"type": "object", "additionalProperties": True}
_GRAIN: Schema = {"type": "string", "description": "How exact the rows are: `exact`, `group`, `partition`, `all` …"}


def _object(optional: tuple[str, ...] = (), **properties: Any) -> Schema:
    return {
        "type": "object",
        "required": [name for name in properties if name not in optional],
        "properties": properties,
    }


def _named(name: str, schema: Schema) -> Schema:
    COMPONENTS[name] = schema
    return _ref(name)


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _list(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


_RUN = _named("RowsRun", _object(run=_TEXT, job=_TEXT, completed={"type": "string", "format": "date-time"}))
_ROWS: dict[str, Any] = {
    "count": {**_NUMBER, "description": "Total number of rows; `rows` may hold fewer."},
    "rows": {**_list(_VALUES), "description": "Columns of the row, with `out_id`, or `_file` and `_row`."},
}

TRACED = _named(
    "TracedRows",
    _object(
        dataset=_or_null(_TEXT), runs=_list(_RUN), **_ROWS, notes=_TEXTS, sources=_list(_ref("TracedSource")),
    ),
)  # fmt: skip
_named(
    "TracedSource",
    _object(
        ("from", "ends"),
        dataset=_TEXT, grain=_GRAIN, **_ROWS,
        **{"from": _ref("TracedFurther"), "ends": {**_TEXT, "description": "Why the trace stopped."}},
    ),
)  # fmt: skip
_named(
    "TracedFurther",
    _object(dataset=_or_null(_TEXT), runs=_list(_RUN), notes=_TEXTS, sources=_list(_ref("TracedSource"))),
)
_named(
    "ForwardRows",
    _object(
        ("run", "grain", "notes", "ends"),
        dataset=_TEXT, **_ROWS, run=_RUN, grain=_GRAIN, notes=_TEXTS, ends=_TEXT, reached=_list(_ref("ForwardRows")),
    ),
)  # fmt: skip
_named(
    "WhyNotRows",
    _object(
        dataset=_TEXT, run=_TEXT, source=_TEXT, where=_TEXT, exists=_TRUTH, reached=_TRUTH, verdict=_TEXT,
        culprits=_list(
            _object(
                operator=_TEXT, text=_TEXT, kind=_TEXT, explanation=_TEXT, values=_VALUES, before=_NUMBER,
                after=_NUMBER, occurrence=_NUMBER,
            )
        ),
        survivors=_list(
            _object(operator=_TEXT, text=_TEXT, kind=_TEXT, rows=_or_null(_NUMBER), occurrence=_NUMBER)
        ),
        merged=_TEXTS, out_ids=_TEXTS, notes=_TEXTS, **_ROWS,
    ),
)  # fmt: skip
