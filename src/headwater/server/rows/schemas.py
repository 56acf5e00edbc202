"""JSON schemas of row query answers, which no dataclass describes. The shapes are those of `--json`."""

from __future__ import annotations

from headwater.server.app.openapi_schemas import COMPONENTS, Schema

_STRING: Schema = {"type": "string"}
_INTEGER: Schema = {"type": "integer"}
_BOOLEAN: Schema = {"type": "boolean"}
_STRINGS: Schema = {"type": "array", "items": _STRING}
_VALUES: Schema = {"type": "object", "additionalProperties": True}
_GRAIN: Schema = {"type": "string", "description": "How exact the rows are: `exact`, `group`, `partition`, `all` …"}


def _object(optional: tuple[str, ...] = (), /, **properties: Schema) -> Schema:
    return {
        "type": "object",
        "required": [name for name in properties if name not in optional],
        "properties": properties,
    }


def _component(name: str, schema: Schema) -> Schema:
    COMPONENTS[name] = schema
    return _ref(name)


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _list(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


_VERIFIED = _component(
    "VerifiedRows",
    _object(
        answer={
            "type": "string",
            "enum": ["yes", "no", "not tried"],
            "description": "Whether the query, run on the returned rows alone, gives the traced rows again.",
        },
        reason=_or_null({**_STRING, "description": "What differs, or why it was not tried."}),
    ),
)
_RUN = _component("RowsRun", _object(run=_STRING, job=_STRING, completed={"type": "string", "format": "date-time"}))
_ROWS: dict[str, Schema] = {
    "count": {**_INTEGER, "description": "Total number of rows; `rows` may hold fewer."},
    "rows": {**_list(_VALUES), "description": "Columns of the row, with `out_id`, or `_file` and `_row`."},
}

_FURTHER: dict[str, Schema] = {
    "from": _ref("TracedFurther"),
    "ends": {**_STRING, "description": "Why the trace stopped."},
}

TRACED_ROWS = _component(
    "TracedRows",
    _object(
        dataset=_or_null(_STRING), runs=_list(_RUN), **_ROWS, notes=_STRINGS, verified=_VERIFIED,
        sources=_list(_ref("TracedSource")),
    ),
)  # fmt: skip
_component(
    "TracedSource",
    _object(
        ("from", "ends"),
        dataset=_STRING, grain=_GRAIN, **_ROWS,
        **_FURTHER,
    ),
)  # fmt: skip
_component(
    "TracedFurther",
    _object(
        dataset=_or_null(_STRING),
        runs=_list(_RUN),
        notes=_STRINGS,
        verified=_VERIFIED,
        sources=_list(_ref("TracedSource")),
    ),
)
_component(
    "ForwardRows",
    _object(
        ("run", "grain", "notes", "ends"),
        dataset=_STRING,
        **_ROWS,
        run=_RUN,
        grain=_GRAIN,
        notes=_STRINGS,
        ends=_STRING,
        reached=_list(_ref("ForwardRows")),
    ),
)
_component(
    "WhyNotRows",
    _object(
        dataset=_STRING, run=_STRING, source=_STRING, where=_STRING, exists=_BOOLEAN, reached=_or_null(_BOOLEAN),
        verdict=_STRING,
        culprits=_list(
            _object(
                operator=_STRING, text=_STRING, kind=_STRING, explanation=_STRING, values=_VALUES, before=_INTEGER,
                after=_INTEGER, occurrence=_INTEGER,
            )
        ),
        survivors=_list(
            _object(operator=_STRING, text=_STRING, kind=_STRING, rows=_or_null(_INTEGER), occurrence=_INTEGER)
        ),
        merged=_STRINGS, out_ids=_STRINGS, notes=_STRINGS, **_ROWS,
    ),
)  # fmt: skip
