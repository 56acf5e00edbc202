"""Rows of the store as documents of the exchange format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Protocol

from headwater.formats.openlineage.describe import first_owner, schema_fields, tag_names
from headwater.formats.openlineage.visibility import visible_facets
from headwater.formats.wia.checks import element_faults
from headwater.formats.wia.elements import Document, ElementKind
from headwater.formats.wia.events import HEADWATER_KEY, WiaDocuments, read_wia_facet
from headwater.formats.wia.flat import time_text
from headwater.formats.wia.graph_check import table_of
from headwater.formats.wia.ids import StableIds
from headwater.formats.wia.namespaces import as_uri
from headwater.model.lineage import Dependency
from headwater.model.provenance import Agent, Context, Operation, Provenance
from headwater.model.runs import Facets
from headwater.store.access.view import View
from headwater.store.fold.rows import live_facets
from headwater.store.query.traverse import is_hub
from headwater.store.schema.stored_rows import FacetDocument, StoredColumnEdge, StoredDataset, StoredJob
from headwater.store.schema.tables import from_micros

BEFORE = -1
"""The moment of a version of which nothing is known but that a later one was made of it."""
_TRANSFORMED = {"IDENTITY": "direct", "AGGREGATION": "aggregated", "GROUP_BY": "aggregated", "JOIN": "joined"}
_LANGUAGES = {"SPARK": "spark", "DBT": "sql"}


def moment(micros: int) -> str:
    return time_text(from_micros(micros))


class StatedEdge(Protocol):
    """A row of ``edge`` or ``lineage``."""

    upstream_id: int
    job_id: int | None
    origin: str
    basis: str
    type: str
    transformation: str | None
    downstream_id: int


class ExportedEdge(StatedEdge, Protocol):
    """A row of ``edge``, with the name of its upstream."""

    id: int
    valid_from: int
    namespace: str
    name: str


class ExportedColumnEdge(StoredColumnEdge, Protocol):
    """A row of ``column_edge``, with the names of its ends."""

    origin: str
    valid_from: int
    upstream_column: str | None
    downstream_column: str | None
    namespace: str
    name: str


@dataclass(frozen=True)
class NodeText:
    """The fields of a node that other elements need to refer to it."""

    id: str
    table: str


def node_document(
    view: View, row: StoredDataset, facets: FacetDocument, mint: StableIds
) -> tuple[Document, WiaDocuments]:
    """A dataset as it is known now; what an import brought counts where nothing newer was said."""
    kept = read_wia_facet(facets)
    if kept.micros >= 0 and element_faults(ElementKind.NODE, kept.node):
        kept = WiaDocuments()
    told = live_facets({name: entry for name, entry in facets.items() if entry[0] > kept.micros})
    if not view.is_everything:
        told = visible_facets(told, view.sees)
    document = dict(kept.node) if kept.node else _fresh(row, mint)
    if kept.node and "datasetType" in told:
        document["node_type"] = row.kind
    if kept.node and row.last_seen is not None and row.last_seen > kept.micros:
        document["updated_at"] = moment(row.last_seen)
    metadata = {**(document.get("metadata") or {}), **_metadata(told)}
    if row.is_job:
        metadata["custom"] = {HEADWATER_KEY: {"endpoint": "job"} | ({"via_job": True} if is_hub(row.id) else {})}
    if metadata:
        document["metadata"] = metadata
    fields = [_field(field) for field in schema_fields(told)]
    if fields:
        document["schema"] = {"fields": fields}
    return document, kept


def _fresh(row: StoredDataset, mint: StableIds) -> Document:
    namespace = as_uri(row.namespace)
    document: Document = {
        "node_id": mint.id("node", row.namespace, row.name, row.is_job),
        # Neither is a job an asset nor is there another word for what consumes data and hands none on.
        "node_type": "report" if row.is_job else row.kind,
        "namespace": namespace,
        "name": row.name,
        "qualified_name": f"{namespace}/{row.name}",
    }
    if row.first_seen is not None and row.last_seen is not None:  # of both there is one or none
        document["created_at"] = moment(row.first_seen)
        document["updated_at"] = moment(row.last_seen)
    return document


def _metadata(facets: Facets) -> Document:
    about = facets.get("documentation")
    described = about.get("description") if isinstance(about, Mapping) else None
    metadata: Document = {}
    if isinstance(described, str):
        metadata["description"] = described
    owner = first_owner(facets)
    if owner is not None:
        metadata["owner"] = owner
    tags = tag_names(facets)
    if tags:
        metadata["tags"] = tags
    return metadata


def _field(stated: Mapping[str, object]) -> Document:
    return {name: stated[name] for name in ("name", "type", "description") if isinstance(stated.get(name), str)}


def version_document(node: Document, row: StoredDataset, at: int, mint: StableIds) -> Document:
    """A dataset as one write left it: a node of its own, because the dataset as a whole is in a cycle."""
    label = "before" if at == BEFORE else moment(at)
    document = {name: value for name, value in node.items() if name not in ("created_at", "updated_at")}
    document["node_id"] = mint.id("version", row.namespace, row.name, row.is_job, at)
    document["name"] = f"{node['name']}@{label}"
    document["qualified_name"] = f"{table_of(node)}@{label}"
    if at != BEFORE:
        document["created_at"] = document["updated_at"] = moment(at)
    metadata = dict(document.get("metadata") or {})
    custom = dict(metadata.get("custom") or {})
    of = {"namespace": node["namespace"], "name": node["name"], "qualified_name": table_of(node)}
    document["metadata"] = metadata | {"custom": custom | {HEADWATER_KEY: {"version_of": of, "written_at": label}}}
    return document


@dataclass(frozen=True)
class JobText:
    namespace: str
    name: str
    transformation: Document


def job_text(row: StoredJob, facets: Facets) -> JobText:
    """``facets``: those of the job that may be seen."""
    transformation: Document = {}
    sql, kind, code = (facets.get(name) for name in ("sql", "jobType", "sourceCodeLocation"))
    if isinstance(sql, Mapping) and isinstance(sql.get("query"), str):
        transformation = {"type": "sql", "logic": sql["query"]}
    elif isinstance(kind, Mapping):
        transformation = {"type": _LANGUAGES.get(str(kind.get("integration")).upper(), "custom")}
    if isinstance(code, Mapping) and isinstance(code.get("version"), str):
        transformation["git_commit"] = code["version"]
    return JobText(row.namespace, row.name, transformation)


@dataclass(frozen=True)
class Ran:
    """The run that last said what an edge says."""

    run_id: str
    ended_at: int | None
    started_at: int | None


def edge_document(
    row: StatedEdge, ends: dict[str, str], edge_id: str, since: int, job: JobText | None, ran: Ran | None
) -> Document:
    """``row``: of ``edge`` or ``lineage``; ``ends``: the ids of its nodes."""
    transformation = dict(job.transformation) if job is not None else {}
    if row.transformation and "logic" not in transformation:
        transformation["logic"] = row.transformation
    metadata: Document = {}
    own: Document = {"origin": row.origin, "basis": row.basis}
    if is_hub(row.upstream_id) or is_hub(row.downstream_id):
        own["via_job"] = True
    if job is not None:
        metadata["job_name"] = job.name
        own["job_namespace"] = job.namespace
    if ran is not None:
        own["run_id"] = ran.run_id
        if ran.ended_at is not None:
            metadata["execution_time"] = moment(ran.ended_at)
            if ran.started_at is not None and ran.started_at <= ran.ended_at:
                metadata["duration_ms"] = (ran.ended_at - ran.started_at) // 1000
    document: Document = {
        "edge_id": edge_id,
        **ends,
        "edge_type": row.type,
    }
    if transformation:
        document["transformation"] = {"type": "custom"} | transformation
    return document | {"metadata": metadata | {"custom": {HEADWATER_KEY: own}}, "created_at": moment(since)}


def column_document(
    row: ExportedColumnEdge, column_id: str, source: str, target: str, dependencies: list[Document]
) -> Document:
    how: Document = {"type": row.dependency}
    if row.subtype is not None:
        how["subtype"] = row.subtype
    if row.masking:
        how["masking"] = True
    document: Document = {
        "column_lineage_id": column_id,
        "source_table": source,
        "source_column": row.upstream_column or "*",
        "target_table": target,
        "target_column": row.downstream_column or "*",
        "transformation_type": _TRANSFORMED.get(row.subtype or "", "computed"),
    }
    if row.logic:
        document["transformation_logic"] = row.logic
    if row.dependency == Dependency.DIRECT:
        document["dependencies"] = dependencies
    return document | {"created_at": moment(row.valid_from), HEADWATER_KEY: how}


def provenance_document(one: Provenance, node_id: str) -> Document:
    """Without empty fields."""
    parts: dict[str, Agent | Operation | Context] = {
        "agent": one.agent,
        "operation": one.operation,
        "context": one.context,
    }
    said = {
        name: {each.name: value for each in fields(part) if (value := getattr(part, each.name))}
        for name, part in parts.items()
    }
    document: Document = {"provenance_id": one.provenance_id, "node_id": node_id}
    if one.event is not None:
        document["event_type"] = str(one.event)
    if one.at is not None:
        document["event_time"] = time_text(one.at)
    document |= {name: part for name, part in said.items() if part}
    if one.run_id is not None and one.job is not None:
        document[HEADWATER_KEY] = {"run_id": one.run_id, "job": {"namespace": one.job.namespace, "name": one.job.name}}
    return document
