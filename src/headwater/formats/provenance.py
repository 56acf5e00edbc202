"""Provenance in OpenLineage events: the facet `headwater_provenance`.

Of a run it states the purpose for which the run read and wrote, and on whose behalf. Of a dataset, in an event of its
own, it is a statement: it was accessed, exported or deleted. Such an event has no run and no job, so it neither adds
nor replaces an edge.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from headwater.errors import ProvenanceInvalid
from headwater.formats.openlineage.accumulate import is_deleted
from headwater.formats.openlineage.event import as_utc
from headwater.formats.openlineage.facet_names import PROVENANCE_FACET, schema_url
from headwater.formats.openlineage.text import UNSTORABLE_REASON, is_storable
from headwater.formats.wia.checks import element_faults
from headwater.formats.wia.elements import Document, ElementKind
from headwater.formats.wia.flat import time_text
from headwater.model.names import Dataset
from headwater.model.provenance import Agent, Context, Operation, ProvenanceEvent

LIFECYCLE = "lifecycleStateChange"
_PRODUCER = "urn:headwater:provenance"
_SPEC = "https://openlineage.io/spec"
_EVENT = f"{_SPEC}/2-0-2/OpenLineage.json#/$defs/DatasetEvent"
_LIFECYCLE_SCHEMA = (
    f"{_SPEC}/facets/1-0-1/LifecycleStateChangeDatasetFacet.json#/$defs/LifecycleStateChangeDatasetFacet"
)
_PARTS = ("event_type", "agent", "operation", "context")
_MEMBERS = {"agent": {"type", "id", "name"}, "operation": {"type", "method", "parameters"}}
# What OpenLineage has a facet for is stated in that facet as well.
_STATES = {ProvenanceEvent.CREATED: "CREATE", ProvenanceEvent.DELETED: "DROP"}
# A valid element needs ids; a statement gets its own when it is exported.
_IDS = dict.fromkeys(("provenance_id", "node_id"), "00000000-0000-4000-8000-000000000000")


def context_document(
    purpose: str | None, legal_basis: str | None, retention_period: str | None, sensitivity: str | None
) -> Document:
    """Only the members that are given."""
    members = {
        "purpose": purpose,
        "legal_basis": legal_basis,
        "retention_period": retention_period,
        "sensitivity_level": sensitivity,
    }
    context: Document = {name: value for name, value in members.items() if value is not None}
    check_provenance({"context": context})
    return context


def provenance_event(dataset: Dataset, document: Document, at: datetime) -> Document:
    """The event that states it; ``document`` in WIA form, without ids and time."""
    facets: Document = {
        PROVENANCE_FACET: {
            "_producer": _PRODUCER,
            "_schemaURL": schema_url(PROVENANCE_FACET),
            **check_provenance(document),
        }
    }
    state = _STATES.get(document["event_type"])
    if state is not None:
        facets[LIFECYCLE] = {"_producer": _PRODUCER, "_schemaURL": _LIFECYCLE_SCHEMA, LIFECYCLE: state}
    return {
        "eventTime": time_text(as_utc(at)),
        "producer": _PRODUCER,
        "schemaURL": _EVENT,
        "dataset": {"namespace": dataset.namespace, "name": dataset.name, "facets": facets},
    }


def check_provenance(document: Document) -> Document:
    """The document itself; refused if it is not valid."""
    for part, known_members in _MEMBERS.items():
        part_value = document.get(part)
        unknown = sorted(map(str, part_value.keys() - known_members)) if isinstance(part_value, Mapping) else []
        if unknown:
            raise ProvenanceInvalid(f"{part}.{unknown[0]} is not known; {part} has {', '.join(sorted(known_members))}")
    for fault in element_faults(ElementKind.PROVENANCE, {**_IDS, **document}):
        raise ProvenanceInvalid(fault.reason)
    for part in ("agent", "operation", "context"):
        for name, value in document.get(part, {}).items():
            if isinstance(value, str) and not is_storable(value):
                raise ProvenanceInvalid(f"{part}.{name} {UNSTORABLE_REASON}")
    return document


def read_provenance(facets: object) -> Document | None:
    """The content of the facet, from the facets of a run or a dataset. Anyone may send one: an invalid one counts as
    none."""
    facet = facets.get(PROVENANCE_FACET) if isinstance(facets, Mapping) else None
    if not isinstance(facet, Mapping) or is_deleted(facet):
        return None
    document = {part: facet[part] for part in _PARTS if facet.get(part) is not None}
    return None if element_faults(ElementKind.PROVENANCE, {**_IDS, **document}) else document


def read_lifecycle(facets: object) -> str | None:
    """`CREATE`, `DROP`, …, if a dataset's facets state it."""
    facet = facets.get(LIFECYCLE) if isinstance(facets, Mapping) else None
    change = facet.get(LIFECYCLE) if isinstance(facet, Mapping) and not is_deleted(facet) else None
    return change if isinstance(change, str) else None


_CHANGES = {
    "CREATE": ProvenanceEvent.CREATED,
    "DROP": ProvenanceEvent.DELETED,
    **dict.fromkeys(("ALTER", "RENAME", "TRUNCATE"), ProvenanceEvent.MODIFIED),  # of what was there already
}


def write_provenance(change: str | None, *, first: bool) -> ProvenanceEvent:
    """The provenance event of a write. `OVERWRITE` is also stated of what did not exist before."""
    return _CHANGES.get(change or "") or (ProvenanceEvent.CREATED if first else ProvenanceEvent.MODIFIED)


def agent_from(document: Document) -> Agent:
    return Agent(**_texts(document.get("agent"), "type", "id", "name"))


def operation_from(document: Document) -> Operation:
    operation = document.get("operation") or {}
    return Operation(**_texts(operation, "type", "method"), parameters=operation.get("parameters") or {})


def context_from(document: Document) -> Context:
    names = ("purpose", "legal_basis", "retention_period", "sensitivity_level")
    return Context(**_texts(document.get("context"), *names))


def _texts(members: Document | None, *names: str) -> dict[str, str | None]:
    return {name: (members or {}).get(name) for name in names}
