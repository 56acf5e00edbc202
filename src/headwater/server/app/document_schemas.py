"""JSON schemas of documents that no dataclass describes: records and bundles."""

from __future__ import annotations

from headwater.model.record_schema import STEP
from headwater.proof.bundle import FORMAT
from headwater.server.app.openapi_schemas import Schema

STRING: Schema = {"type": "string"}
INTEGER: Schema = {"type": "integer"}
BOOLEAN: Schema = {"type": "boolean"}
DATE_TIME: Schema = {"type": "string", "format": "date-time"}
OBJECT: Schema = {"type": "object"}


def closed_object(*optional: str, **members: Schema) -> Schema:
    """Return the schema of an object with these members and no others."""
    required = [name for name in members if name not in optional]
    return {"type": "object", "required": required, "properties": members, "additionalProperties": False}


def array_of(item: Schema) -> Schema:
    return {"type": "array", "items": item}


def nullable(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


STRINGS = array_of(STRING)

# -- records ---------------------------------------------------------------------------------------

_RECORD_MEMBERS = {
    field.name: INTEGER if field.kind == "long" else STRING for field in STEP if field.kind in ("text", "long")
}
_STEP = closed_object(**_RECORD_MEMBERS, parent_ids=STRINGS, recorded_at=DATE_TIME)
_RECORD = closed_object("parent_ids", **_RECORD_MEMBERS, root_id=STRING, parent_ids=STRINGS)
_DEFECTS = {"orphans": STRINGS, "cycle": STRINGS}
_TRACE = closed_object(
    record_id=STRING, root_id=STRING, lineage=array_of(_STEP), **_DEFECTS, conflicts=STRINGS, complete=BOOLEAN
)
_CONFLICT = closed_object(node_id=STRING, held=_RECORD, others=array_of(_RECORD))
ROOT_TRACE = closed_object(
    root_id=STRING, records=INTEGER, traces=array_of(_TRACE), **_DEFECTS, conflicts=array_of(_CONFLICT)
)
FOUND_RECORD = closed_object(
    "parent_ids",
    **_RECORD_MEMBERS,
    root_id=STRING,
    parent_ids=STRINGS,
    recorded_at=DATE_TIME,
    archived=BOOLEAN,
    conflict=BOOLEAN,
)

# -- evidence --------------------------------------------------------------------------------------

_HASH: Schema = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
BUNDLE = closed_object(
    format={"const": FORMAT},
    run=STRING,
    entries=array_of(OBJECT),
    events=array_of({}),
    chain=array_of(OBJECT),
    upstream=array_of(OBJECT),
    log=closed_object(
        checkpoint=STRING, first=closed_object(hash=_HASH, path=STRINGS), key=STRING, keys=array_of(OBJECT)
    ),
)
# These have no properties: the producer of an event decides what it contains.
FACET: Schema = {"type": "object", "description": "The facet, unchanged as its producer sent it."}
EVENT: Schema = {"type": "object", "description": "The event, unchanged as received."}
