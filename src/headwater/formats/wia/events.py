"""A node of a graph, with everything stated about it, as one OpenLineage event: how a graph is imported into the store.

What OpenLineage has a facet for is in that facet, so that every query finds it; all the documents are in the facet
`headwater_wia` unchanged, so that an export returns them with their ids.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from headwater.formats.openlineage.facet_names import WIA_FACET, schema_url
from headwater.formats.openlineage.text import is_storable
from headwater.formats.wia.elements import Document
from headwater.model.json_types import JsonValue
from headwater.model.names import Dataset

HEADWATER_KEY = "headwater"
"""The member of a document, or of its custom metadata, for what the format has no member for."""
ANY_COLUMN = "*"
"""In column lineage: the table as a whole."""

_PRODUCER = "urn:headwater:exchange"
_ENDS = "}}}}"
_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
_SPEC = "https://openlineage.io/spec"
_EVENT = f"{_SPEC}/2-0-2/OpenLineage.json#/$defs/DatasetEvent"
_OWN_HOW: Mapping[str, type] = {"type": str, "subtype": str, "masking": bool}
_HOW = {
    "direct": ("DIRECT", "IDENTITY"),
    "computed": ("DIRECT", "TRANSFORMATION"),
    "aggregated": ("DIRECT", "AGGREGATION"),
    "joined": ("INDIRECT", "JOIN"),
}

SourcedDocument = tuple[Dataset, Document]
"""A document, and the dataset that data comes from."""


@dataclass
class NodeGroup:
    """A node, and the documents about it and about the edges into it."""

    dataset: Dataset
    node: Document
    edges: Sequence[tuple[Dataset, str]] = ()
    """Their documents as JSON: there may be many, and none of them has to be parsed."""
    columns: Sequence[SourcedDocument] = ()
    provenance: Sequence[Document] = ()
    quality: Sequence[Document] = ()


def node_event(group: NodeGroup, at: str) -> str:
    """As JSON, in one line."""
    dataset = {"namespace": group.dataset.namespace, "name": group.dataset.name, "facets": dict(_facets(group))}
    text = _encode({"eventTime": at, "producer": _PRODUCER, "schemaURL": _EVENT, "dataset": dataset})
    if not group.edges:
        return text
    edges = (f'{_encode(_dataset_key(dataset))[:-1]},"document":{document}}}' for dataset, document in group.edges)
    # The facet is the last member, so the edges are inserted before its end and the ends of what contains it.
    return f'{text[: -len(_ENDS)]},"edges":[{",".join(edges)}]{_ENDS}'


def _facets(group: NodeGroup) -> Iterator[tuple[str, dict[str, object]]]:
    node = group.node
    metadata, schema = (node.get(part) or {} for part in ("metadata", "schema"))
    yield "datasetType", _facet("1-0-0/DatasetTypeDatasetFacet", datasetType=node["node_type"].upper())
    if metadata.get("description"):
        yield "documentation", _facet("1-1-0/DocumentationDatasetFacet", description=metadata["description"])
    if metadata.get("owner"):
        yield "ownership", _facet("1-0-1/OwnershipDatasetFacet", owners=[{"name": metadata["owner"]}])
    if metadata.get("tags"):
        tags = [{"key": tag, "value": "true", "source": "USER"} for tag in metadata["tags"]]
        yield "tags", _facet("1-0-0/TagsDatasetFacet", tags=tags)
    if schema.get("fields"):
        yield "schema", _facet("1-1-1/SchemaDatasetFacet", fields=list(map(_field, schema["fields"])))
    if group.edges or group.columns:
        yield "lineage", _facet("1-0-0/LineageDatasetFacet", **_lineage(group))
    yield WIA_FACET, _wia_facet(group)


def _facet(schema: str, **content: object) -> dict[str, object]:
    url = f"{_SPEC}/facets/{schema}.json#/$defs/{schema.split('/')[1]}"
    return {"_producer": _PRODUCER, "_schemaURL": url, **content}


def _field(stated: Document) -> Document:
    return {name: stated[name] for name in ("name", "type", "description") if stated.get(name) is not None}


def _wia_facet(group: NodeGroup) -> dict[str, object]:
    facet: dict[str, object] = {"_producer": _PRODUCER, "_schemaURL": schema_url(WIA_FACET)}
    facet["node"] = group.node
    if group.columns:
        facet["columns"] = [_dataset_key(dataset) | {"document": document} for dataset, document in group.columns]
    for name, documents in (("provenance", group.provenance), ("quality", group.quality)):
        if documents:
            facet[name] = list(documents)
    return facet


def _lineage(group: NodeGroup) -> dict[str, object]:
    whole = {dataset: None for dataset, _ in group.edges}
    inputs: list[dict[str, object]] = [_input(dataset) for dataset in whole]
    fields: dict[str, dict[str, list[object]]] = {}
    for dataset, document in group.columns:
        column, target = document["source_column"], document["target_column"]
        stated = _input(dataset) | {"transformations": [_transformation(document)]}
        if column != ANY_COLUMN:
            stated["field"] = column
        if target == ANY_COLUMN:
            inputs.append(stated)
        elif is_storable(target):
            fields.setdefault(target, {"inputs": []})["inputs"].append(stated)
    return {"inputs": inputs} | ({"fields": fields} if fields else {})


def _transformation(document: Document) -> dict[str, object]:
    type, subtype = _HOW.get(document.get("transformation_type") or "direct", _HOW["direct"])
    how: dict[str, object] = {"type": type, "subtype": subtype}
    ours = document.get(HEADWATER_KEY)
    if isinstance(ours, dict):  # the format has fewer words for it
        how |= {name: ours[name] for name, kind in _OWN_HOW.items() if isinstance(ours.get(name), kind)}
    if document.get("transformation_logic"):
        how["description"] = document["transformation_logic"]
    return how


def _input(dataset: Dataset) -> dict[str, object]:
    return _dataset_key(dataset) | {"type": "DATASET"}


def _dataset_key(dataset: Dataset) -> dict[str, object]:
    return {"namespace": dataset.namespace, "name": dataset.name}


# -- and back -------------------------------------------------------------------------------------


@dataclass
class WiaDocuments:
    """The content of a dataset's facet; empty if there is none, or it cannot be read."""

    micros: int = -1
    """The time of its event."""
    node: Document = field(default_factory=dict)
    edges: Mapping[Dataset, list[Document]] = field(default_factory=dict)
    columns: Mapping[Dataset, list[Document]] = field(default_factory=dict)
    provenance: Sequence[Document] = ()
    quality: Sequence[Document] = ()

    def describes_edge_from(self, upstream: Dataset) -> bool:
        """Whether these documents describe an edge from ``upstream``."""
        return upstream in self.edges or upstream in self.columns


_NOTHING = WiaDocuments()


def read_wia_facet(facets: Mapping[str, Sequence[JsonValue]]) -> WiaDocuments:
    """From the facets of a dataset as the store keeps them: name → [micros, digest, body].

    Anyone may send a facet of that name, so an invalid one is skipped.
    """
    if WIA_FACET not in facets:
        return _NOTHING
    micros, _, body = facets[WIA_FACET]
    if not isinstance(body, Mapping):
        return _NOTHING
    node = body.get("node")
    return WiaDocuments(
        micros,
        node if isinstance(node, dict) else {},
        _documents_by_upstream(body.get("edges")),
        _documents_by_upstream(body.get("columns")),
        [item for item in _list(body.get("provenance")) if isinstance(item, dict)],
        [item for item in _list(body.get("quality")) if isinstance(item, dict)],
    )


def _documents_by_upstream(items: object) -> dict[Dataset, list[Document]]:
    documents: dict[Dataset, list[Document]] = {}
    for item in _list(items):
        if isinstance(item, dict) and isinstance(item.get("document"), dict):
            upstream = item.get("namespace"), item.get("name")
            if isinstance(upstream[0], str) and isinstance(upstream[1], str):
                documents.setdefault(Dataset(upstream[0], upstream[1]), []).append(item["document"])
    return documents


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
