"""Quality documents in events: their validation, and a statement about a dataset as an OpenLineage event."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from headwater.formats.openlineage.facet_names import QUALITY_FACET, schema_url
from headwater.formats.wia.checks import element_faults, is_id
from headwater.formats.wia.elements import Document, ElementKind
from headwater.formats.wia.flat import time_text
from headwater.model.names import Dataset
from headwater.model.quality import QualityReport, report_of

_PRODUCER = "urn:headwater:quality"
_NO_ID = "00000000-0000-0000-0000-000000000000"
_SPEC = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent"


def check_quality(document: Document) -> None:
    """Raises the first fault. Its ids may be left out: an export adds them."""
    faults = element_faults(ElementKind.QUALITY, {"quality_id": _NO_ID, "node_id": _NO_ID} | document)
    if faults:
        raise faults[0]


def read_quality(facet: object) -> tuple[QualityReport, str | None] | None:
    """The content of a facet, and its id; None if it is not such a document: anyone may send one."""
    if not isinstance(facet, Mapping) or facet.get("_deleted") is True:
        return None
    document = {name: value for name, value in facet.items() if not name.startswith("_")}
    own = document.pop("quality_id", None)
    if element_faults(ElementKind.QUALITY, document | {"quality_id": _NO_ID, "node_id": _NO_ID}):
        return None
    return report_of(document), own if is_id(own) else None


def quality_event(dataset: Dataset, document: Document, now: datetime) -> dict[str, object]:
    """A statement about the dataset itself. Without another time it is about the present."""
    check_quality(document)
    members = {name: value for name, value in document.items() if name != "node_id" and not name.startswith("_")}
    if members.get("measured_at") is None:
        members["measured_at"] = time_text(now)
    facet = {"_producer": _PRODUCER, "_schemaURL": schema_url(QUALITY_FACET), **members}
    return {
        "eventTime": time_text(now),
        "producer": _PRODUCER,
        "schemaURL": _SPEC,
        "dataset": {"namespace": dataset.namespace, "name": dataset.name, "facets": {QUALITY_FACET: facet}},
    }
