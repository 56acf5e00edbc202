"""Provenance in OpenLineage events: the facet `headwater_provenance`.

Of a run it says for what purpose the run read and wrote, and on whose behalf. Of a dataset, in an event of its own, it
is a statement: somebody accessed it, exported it, deleted it. Such an event has no run and no job, so no edge can come
of it, and none can be replaced.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from headwater.errors import ProvenanceInvalid
from headwater.formats.openlineage.accumulate import is_deleted
from headwater.formats.openlineage.event import as_utc
from headwater.formats.openlineage.text import UNSTORABLE_REASON, storable
from headwater.formats.wia.checks import faults
from headwater.formats.wia.elements import Document, Kind
from headwater.formats.wia.flat import time_text
from headwater.model.names import Dataset
from headwater.model.provenance import Agent, Context, Operation, ProvenanceEvent

FACET = "headwater_provenance"
LIFECYCLE = "lifecycleStateChange"
_PRODUCER = "urn:headwater:provenance"
_SPEC = "https://openlineage.io/spec"
_EVENT = f"{_SPEC}/2-0-2/OpenLineage.json#/$defs/DatasetEvent"
_LIFECYCLE_SCHEMA = (
    f"{_SPEC}/facets/1-0-1/LifecycleStateChangeDatasetFacet.json#/$defs/LifecycleStateChangeDatasetFacet"
)
_SCHEMA = f"urn:headwater:facet:{FACET}:1-0-0"
_PARTS = ("event_type", "agent", "operation", "context")
_MEMBERS = {"agent": {"type", "id", "name"}, "operation": {"type", "method", "parameters"}}
# What OpenLineage itself has a word for is said in its words too.
_STATES = {ProvenanceEvent.CREATED: "CREATE", ProvenanceEvent.DELETED: "DROP"}
# An element by itself has these; a statement gets its own when it is told.
_IDS = dict.fromkeys(("provenance_id", "node_id"), "00000000-0000-4000-8000-000000000000")


def context_of(
    purpose: str | None, legal_basis: str | None, retention_period: str | None, sensitivity: str | None
) -> Document:
    """Only what is said."""
    said = {
        "purpose": purpose,
        "legal_basis": legal_basis,
        "retention_period": retention_period,
        "sensitivity_level": sensitivity,
    }
    return checked({"context": {name: value for name, value in said.items() if value is not None}})["context"]  # type: ignore[no-any-return]


def statement(dataset: Dataset, document: Document, at: datetime) -> Document:
    """The event that states it; ``document`` as the format has it, without ids and time."""
    facets: Document = {FACET: {"_producer": _PRODUCER, "_schemaURL": _SCHEMA, **checked(document)}}
    state = _STATES.get(document["event_type"])
    if state is not None:
        facets[LIFECYCLE] = {"_producer": _PRODUCER, "_schemaURL": _LIFECYCLE_SCHEMA, LIFECYCLE: state}
    return {
        "eventTime": time_text(as_utc(at)),
        "producer": _PRODUCER,
        "schemaURL": _EVENT,
        "dataset": {"namespace": dataset.namespace, "name": dataset.name, "facets": facets},
    }


def checked(document: Document) -> Document:
    """As it is; refused where it is not what the format has."""
    for part, known in _MEMBERS.items():
        given = document.get(part)
        unknown = sorted(map(str, given.keys() - known)) if isinstance(given, Mapping) else []
        if unknown:
            raise ProvenanceInvalid(f"{part}.{unknown[0]} is not known; {part} has {', '.join(sorted(known))}")
    for fault in faults(Kind.PROVENANCE, {**_IDS, **document}):
        raise ProvenanceInvalid(fault.reason)
    for part in ("agent", "operation", "context"):
        for name, value in document.get(part, {}).items():
            if isinstance(value, str) and not storable(value):
                raise ProvenanceInvalid(f"{part}.{name} {UNSTORABLE_REASON}")
    return document


def told(facets: Any) -> Document | None:
    """What the facet says, from the facets of a run or a dataset. Anybody may send one: what breaks a rule says
    nothing."""
    facet = facets.get(FACET) if isinstance(facets, Mapping) else None
    if not isinstance(facet, Mapping) or is_deleted(facet):
        return None
    document = {part: facet[part] for part in _PARTS if facet.get(part) is not None}
    return None if faults(Kind.PROVENANCE, {**_IDS, **document}) else document


def lifecycle(facets: Any) -> str | None:
    """`CREATE`, `DROP`, … where a dataset's facets say so."""
    facet = facets.get(LIFECYCLE) if isinstance(facets, Mapping) else None
    change = facet.get(LIFECYCLE) if isinstance(facet, Mapping) and not is_deleted(facet) else None
    return change if isinstance(change, str) else None


_CHANGES = {
    "CREATE": ProvenanceEvent.CREATED,
    "DROP": ProvenanceEvent.DELETED,
    **dict.fromkeys(("ALTER", "RENAME", "TRUNCATE"), ProvenanceEvent.MODIFIED),  # of what was there already
}


def written(change: str | None, *, first: bool) -> ProvenanceEvent:
    """What a write is. `OVERWRITE` is also said of what was not there before."""
    return _CHANGES.get(change or "") or (ProvenanceEvent.CREATED if first else ProvenanceEvent.MODIFIED)


def agent_of(document: Mapping[str, Any]) -> Agent:
    return Agent(**_texts(document.get("agent"), "type", "id", "name"))


def operation_of(document: Mapping[str, Any]) -> Operation:
    said = document.get("operation") or {}
    return Operation(**_texts(said, "type", "method"), parameters=said.get("parameters") or {})


def context_told(document: Mapping[str, Any]) -> Context:
    names = ("purpose", "legal_basis", "retention_period", "sensitivity_level")
    return Context(**_texts(document.get("context"), *names))


def _texts(said: Mapping[str, Any] | None, *names: str) -> dict[str, Any]:
    return {name: (said or {}).get(name) for name in names}
