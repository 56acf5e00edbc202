"""Schemas of documents that are made by hand, and not by :func:`plain` of a class: records, bundles."""

from __future__ import annotations

from headwater.proof.bundle import FORMAT
from headwater.server.app.openapi_schemas import Schema

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer"}
TRUTH: Schema = {"type": "boolean"}
MOMENT: Schema = {"type": "string", "format": "date-time"}
ANY: Schema = {"type": "object"}


def closed(*optional: str, **members: Schema) -> Schema:
    """An object that has these members and no others."""
    required = [name for name in members if name not in optional]
    return {"type": "object", "required": required, "properties": members, "additionalProperties": False}


def listed(item: Schema) -> Schema:
    return {"type": "array", "items": item}


def or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


TEXTS = listed(TEXT)

# -- records ---------------------------------------------------------------------------------------

_OF_RECORD = {
    "node_id": TEXT, "parent_id": TEXT, "action_taken": TEXT, "recordedAt": NUMBER, "storage_location": TEXT,
}  # fmt: skip
_STEP = closed(**_OF_RECORD, parent_ids=TEXTS, recorded_at=MOMENT)
_RECORD = closed("parent_ids", **_OF_RECORD, root_id=TEXT, parent_ids=TEXTS)
_WRONG = {"orphans": TEXTS, "cycle": TEXTS}
_TRACE = closed(record_id=TEXT, root_id=TEXT, lineage=listed(_STEP), **_WRONG, conflicts=TEXTS, complete=TRUTH)
_CONFLICT = closed(node_id=TEXT, held=_RECORD, others=listed(_RECORD))
ROOT_TRACE = closed(root_id=TEXT, records=NUMBER, traces=listed(_TRACE), **_WRONG, conflicts=listed(_CONFLICT))
FOUND_RECORD = closed(
    "parent_ids", **_OF_RECORD, root_id=TEXT, parent_ids=TEXTS, recorded_at=MOMENT, archived=TRUTH, conflict=TRUTH
)

# -- evidence --------------------------------------------------------------------------------------

_HASH: Schema = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
BUNDLE = closed(
    format={"const": FORMAT},
    run=TEXT,
    entries=listed(ANY),
    events=listed({}),
    chain=listed(ANY),
    upstream=listed(ANY),
    log=closed(checkpoint=TEXT, first=closed(hash=_HASH, path=TEXTS), key=TEXT, keys=listed(ANY)),
)
# Nothing in these is counted on: whoever sends events decides what they hold.
FACET: Schema = {"type": "object", "description": "The facet, unchanged as its producer sent it."}
EVENT: Schema = {"type": "object", "description": "The event, unchanged as received."}
