"""The types of written columns: those of the query that is written, where the plan's JSON does not state them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from headwater.plan.lineage import Attribute, PlanLineage, PlanOutputColumn

_Field = tuple[str, object, bool | None]


def query_fields(schema: str | None) -> list[_Field]:
    """Name, type and nullability of each field of a schema as Spark writes it in JSON."""
    if schema is None:
        return []
    return [(field["name"], field["type"], field.get("nullable")) for field in json.loads(schema).get("fields", ())]


def with_types(lineage: PlanLineage, fields: Sequence[_Field]) -> PlanLineage:
    """By position, as the columns were renamed to those of the target; by name where the command writes only some."""
    if len(fields) == len(lineage.columns):
        paired = [_typed(column, field) for column, field in zip(lineage.columns, fields, strict=True)]
    else:
        by_name = {field[0]: field for field in fields}
        paired = [_typed(column, by_name.get(column.name)) for column in lineage.columns]
    return replace(lineage, columns=tuple(paired))


def columns_of_view(lineage: PlanLineage, attributes: Sequence[Attribute]) -> PlanLineage:
    """Under the names and types that a view gives its columns."""
    if not attributes or len(attributes) != len(lineage.columns):
        return lineage
    columns = (
        replace(column, name=attribute.name, type=attribute.type if column.type is None else column.type)
        for column, attribute in zip(lineage.columns, attributes, strict=True)
    )
    return replace(lineage, columns=tuple(columns))


def unread_columns(fields: Sequence[_Field]) -> tuple[PlanOutputColumn, ...]:
    """The columns of a write whose plan cannot be parsed."""
    return tuple(PlanOutputColumn(name, kind, nullable, ()) for name, kind, nullable in fields)


def _typed(column: PlanOutputColumn, field: _Field | None) -> PlanOutputColumn:
    if field is None or column.type is not None:
        return column
    _, kind, nullable = field
    return replace(column, type=kind, nullable=nullable if column.nullable is None else column.nullable)
