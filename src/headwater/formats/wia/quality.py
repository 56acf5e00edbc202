"""Quality documents in events: what is one, and a statement about a dataset as an OpenLineage event."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from headwater.formats.wia.checks import faults, is_id
from headwater.formats.wia.elements import Document, Kind
from headwater.formats.wia.flat import time_text
from headwater.model.names import Dataset
from headwater.model.quality import QualityReport, report_of

FACET = "headwater_quality"
"""Of an input, by the run that looked at it; of a dataset, by whoever says so. And of the job: its runs are looked
through for such inputs."""

_PRODUCER = "urn:headwater:quality"
_NO_ID = "00000000-0000-0000-0000-000000000000"
_SPEC = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent"


def refuse_faulty(document: Document) -> None:
    """Raises the first thing that is wrong with it. Its ids may be left out: an export gives it some."""
    wrong = faults(Kind.QUALITY, {"quality_id": _NO_ID, "node_id": _NO_ID} | document)
    if wrong:
        raise wrong[0]


def read_quality(facet: Any) -> tuple[QualityReport, str | None] | None:
    """What a facet says, and the id it has there; None where it is no such document: anybody may send one."""
    if not isinstance(facet, Mapping) or facet.get("_deleted") is True:
        return None
    document = {name: value for name, value in facet.items() if not name.startswith("_")}
    own = document.pop("quality_id", None)
    if faults(Kind.QUALITY, document | {"quality_id": _NO_ID, "node_id": _NO_ID}):
        return None
    return report_of(document), own if is_id(own) else None


def stated_event(dataset: Dataset, document: Document, now: datetime) -> dict[str, Any]:
    """Somebody's word for it, said of the dataset itself. Without another time it is how things are now."""
    refuse_faulty(document)
    said = {name: value for name, value in document.items() if name != "node_id" and not name.startswith("_")}
    if said.get("measured_at") is None:
        said["measured_at"] = time_text(now)
    facet = {"_producer": _PRODUCER, "_schemaURL": "urn:headwater:facet:quality:1-0-0", **said}
    return {
        "eventTime": time_text(now),
        "producer": _PRODUCER,
        "schemaURL": _SPEC,
        "dataset": {"namespace": dataset.namespace, "name": dataset.name, "facets": {FACET: facet}},
    }
