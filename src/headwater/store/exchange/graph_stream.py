"""A store's lineage as elements of the exchange format, page by page: nodes, edges, column lineage, and what was said.

One read transaction sees it all as it is at one moment. Only the ids of nodes are kept, for edges to refer to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from sqlalchemy import select

from headwater.formats.openlineage.visibility import visible_job_facets, without_hidden
from headwater.formats.wia.checks import element_faults
from headwater.formats.wia.elements import ID_OF, Document, Element, ElementKind
from headwater.formats.wia.events import WiaDocuments, read_wia_facet
from headwater.formats.wia.graph_check import id_bytes, table_of
from headwater.formats.wia.ids import StableIds
from headwater.formats.wia.namespaces import as_uri
from headwater.model.lineage import Dependency, Origin
from headwater.model.names import Dataset
from headwater.model.runs import Facets
from headwater.store.access.view import View
from headwater.store.exchange.documents import (
    ExportedColumnEdge,
    ExportedEdge,
    JobText,
    Ran,
    StatedEdge,
    column_document,
    edge_document,
    job_text,
    node_document,
    provenance_document,
    version_document,
)
from headwater.store.exchange.scope import ExportScope, cycles, pages
from headwater.store.exchange.versions import VersionNodes
from headwater.store.fold.descriptions import merged_document
from headwater.store.fold.rows import live_facets
from headwater.store.query.provenance.provenance import exported
from headwater.store.query.quality import QualityOfDataset, quality_of_datasets, version_at
from headwater.store.schema.stored_rows import FacetDocument, StoredDataset
from headwater.store.schema.tables import OPEN, to_micros

Page = Sequence[StoredDataset]


class GraphStream:
    def __init__(self, view: View, scope: ExportScope, *, acyclic: bool) -> None:
        self._view = view
        self._scope = scope
        self._upstream = view.tables.dataset.alias()
        self.mint = StableIds(view.exchange_secret())
        knots = cycles(view, scope) if acyclic else []
        self._paths = [path for _, path in knots]
        self._versions = VersionNodes(view, scope, {one for knot, _ in knots for one in knot})
        self._ids: dict[int, str] = {}
        """By dataset: the node that stands for it where no version is meant."""
        self._tables: dict[int, str] = {}
        """By dataset: what column lineage calls it, where that is not its name."""
        self._version_nodes: dict[tuple[int, int], tuple[str, str]] = {}
        self._imported: set[int] = set()
        self._given_ids: set[bytes] = set()

    def cycles(self) -> list[tuple[str, ...]]:
        """The ways that lead back to where they begin, in names."""
        dataset = self._view.tables.dataset
        wanted = {dataset_id for path in self._paths for dataset_id in path}
        rows = self._view.execute(select(dataset).where(self._view.one_of(dataset.c.id, wanted)))
        names = {row.id: f"{row.namespace}/{row.name}" for row in rows}
        return [tuple(names[dataset_id] for dataset_id in path) for path in self._paths]

    def elements(self) -> Iterator[Element]:
        """Kind by kind, in the order in which files have them."""
        dataset = self._view.tables.dataset
        named = (dataset.c.id, dataset.c.namespace, dataset.c.name, dataset.c.is_job)
        for page in pages(self._view, self._scope):
            yield from self._nodes(page)
        for take in (self._edges, self._columns):
            for page in pages(self._view, self._scope, *named):
                yield from take(page)
        imported = replace(self._scope, ids=frozenset(self._imported))
        for page in pages(self._view, imported, *named):
            yield from self._said(page, ElementKind.PROVENANCE, lambda kept: kept.provenance)
        for page in pages(self._view, self._scope, *named):
            yield from self._provenance(page)
        for page in pages(self._view, imported, *named):
            yield from self._said(page, ElementKind.QUALITY, lambda kept: kept.quality)
        for page in pages(self._view, self._scope, *named):
            yield from self._quality(page)

    # -- nodes ------------------------------------------------------------------------------------

    def _nodes(self, page: Page) -> Iterator[Element]:
        for row, facets in self._with_facets(page):
            document, kept = node_document(self._view, row, facets, self.mint)
            if kept.node:
                self._imported.add(row.id)
                if not self._first(document["node_id"]):
                    document["node_id"] = self.mint.id("node", row.namespace, row.name, row.is_job)
            if row.id not in self._versions or not self._versions.moments[row.id]:
                self._ids[row.id] = document["node_id"]
                table = table_of(document)
                if table != f"{as_uri(row.namespace)}/{row.name}":
                    self._tables[row.id] = table
                yield ElementKind.NODE, document
                continue
            for at in sorted(self._versions.moments[row.id]):
                versioned = version_document(document, row, at, self.mint)
                self._version_nodes[row.id, at] = versioned["node_id"], versioned["qualified_name"]
                self._ids[row.id], self._tables[row.id] = self._version_nodes[row.id, at]  # the newest stays
                yield ElementKind.NODE, versioned

    def _with_facets(self, page: Page) -> Iterator[tuple[StoredDataset, FacetDocument]]:
        """Each dataset with what was said under any of its names."""
        dataset = self._view.tables.dataset_name
        query = select(dataset.c.canonical_id, dataset.c.facets).where(
            self._view.one_of(dataset.c.canonical_id, [row.id for row in page]),
            dataset.c.id != dataset.c.canonical_id,
        )
        others: dict[int, list[FacetDocument]] = {}
        for canonical_id, facets in self._view.execute(query.order_by(dataset.c.namespace, dataset.c.name)):
            others.setdefault(canonical_id, []).append(facets)
        for row in page:
            yield row, merged_document([row.facets, *others[row.id]]) if row.id in others else row.facets

    def _kept(self, page: Page) -> dict[int, WiaDocuments]:
        """What imports brought, of the datasets that were imported."""
        dataset = self._view.tables.dataset
        wanted = [row.id for row in page if row.id in self._imported and row.id not in self._versions]
        rows = (
            self._view.execute(select(dataset).where(self._view.one_of(dataset.c.id, wanted))).all() if wanted else ()
        )
        return {row.id: read_wia_facet(facets) for row, facets in self._with_facets(rows)}

    # -- edges ------------------------------------------------------------------------------------

    def _edges(self, page: Page) -> Iterator[Element]:
        rows = self._rows(page)
        jobs, runs = self._jobs({row.job_id for row in rows}), self._runs(page)
        kept = self._kept(page)
        names = {row.id: row for row in page}
        for downstream_id, group in groupby(rows, key=lambda row: row.downstream_id):
            own, told = kept.get(downstream_id, WiaDocuments()), set()
            for row in group:
                upstream = Dataset(row.namespace, row.name)
                if row.origin == Origin.DATASET and own.describes_edge_from(upstream):
                    if upstream not in told:
                        told.add(upstream)
                        yield from self._given(ElementKind.EDGE, own.edges.get(upstream, ()), self._ends(row))
                    continue
                by = jobs.get(row.job_id)
                edge_id = self._edge_id(row, names[downstream_id], upstream, by)
                ran = runs.get((downstream_id, row.job_id)) if row.origin == Origin.RUN else None
                document = edge_document(row, self._ends(row), edge_id, row.valid_from, by, ran)
                yield ElementKind.EDGE, document
        for target in page:
            yield from self._version_edges(target)

    def _rows(self, page: Page) -> Sequence[ExportedEdge]:
        edge = self._view.tables.edge
        query = self._scope.held(
            select(edge, self._upstream.c.namespace, self._upstream.c.name).join(
                self._upstream, self._upstream.c.id == edge.c.upstream_id
            ),
            edge,
        ).where(self._view.one_of(edge.c.downstream_id, [row.id for row in page if row.id not in self._versions]))
        order = (edge.c.downstream_id, edge.c.upstream_id, edge.c.origin, edge.c.job_id, edge.c.id)
        return [row for row in self._view.execute(query.order_by(*order)) if row.upstream_id in self._ids]

    def _ends(self, row: StatedEdge) -> dict[str, str]:
        return {"source_node_id": self._ids[row.upstream_id], "target_node_id": self._ids[row.downstream_id]}

    def _edge_id(
        self, row: StatedEdge, target: StoredDataset, upstream: Dataset, by: JobText | None, *more: int
    ) -> str:
        said = (row.origin, *_who(by), row.type, row.basis, row.transformation)
        return self.mint.id("edge", *_named(upstream), target.namespace, target.name, target.is_job, *said, *more)

    def _version_edges(self, target: StoredDataset) -> Iterator[Element]:
        dataset = self._view.tables.dataset
        edges = self._versions.edges.get(target.id, [])
        upstream = {row.upstream_id for _, _, row in edges}
        found = self._view.execute(select(dataset).where(self._view.one_of(dataset.c.id, upstream))) if edges else ()
        names = {row.id: Dataset(row.namespace, row.name) for row in found}
        jobs = self._jobs({row.job_id for _, _, row in edges})
        told: set[str] = set()  # two runs may have said the same at the same moment
        for at, source_at, row in edges:
            if row.upstream_id not in self._ids:
                continue
            source = self._ids[row.upstream_id]
            if source_at is not None:
                source, _ = self._version_nodes[row.upstream_id, source_at]
            ends = {"source_node_id": source, "target_node_id": self._version_nodes[target.id, at][0]}
            by = jobs.get(row.job_id)
            edge_id = self._edge_id(row, target, names[row.upstream_id], by, at, source_at or 0)
            if edge_id not in told:
                told.add(edge_id)
                yield ElementKind.EDGE, edge_document(row, ends, edge_id, at, by, None)

    def _given(self, kind: ElementKind, documents: Sequence[Document], members: dict[str, str]) -> Iterator[Element]:
        """As they came. Anybody may send a facet, so what would break a rule is left out."""
        for document in documents:
            given = document | members
            if element_faults(kind, given):
                continue
            known_by = ID_OF[kind]
            if not self._first(given[known_by]):
                given[known_by] = self.mint.id("given", kind, given[known_by], *members.values())
            yield kind, given

    def _first(self, given_id: str) -> bool:
        """Whether an id that came with an import is met for the first time: two files may have given it twice."""
        own = id_bytes(given_id)
        first = own not in self._given_ids
        self._given_ids.add(own)
        return first

    def _jobs(self, ids: set[int | None]) -> dict[int | None, JobText]:
        job = self._view.tables.job
        wanted = [job_id for job_id in ids if job_id is not None]
        rows = self._view.execute(select(job).where(self._view.one_of(job.c.id, wanted))) if wanted else ()
        return {row.id: job_text(row, self._job_facets(row.facets)) for row in rows}

    def _job_facets(self, facets: FacetDocument) -> Facets:
        stated = live_facets(facets)
        return stated if self._view.is_everything else visible_job_facets(stated, self._view.sees)

    def _runs(self, page: Page) -> dict[tuple[int, int | None], Ran]:
        """By dataset and job: the last run that wrote the one by the other."""
        run, version = self._view.tables.run, self._view.tables.version
        query = (
            select(version.c.dataset_id, version.c.job_id, run.c.run_id, run.c.started_at, run.c.ended_at)
            .join(run, run.c.id == version.c.run_id)
            .where(self._view.one_of(version.c.dataset_id, [row.id for row in page]))
            .order_by(version.c.written_at, version.c.tiebreak)
        )
        as_of = self._scope.as_of
        ends = version.c.valid_to == OPEN if as_of is None else version.c.valid_to > as_of
        rows = self._view.execute(query.where(ends, *(() if as_of is None else (version.c.written_at <= as_of,))))
        return {(row.dataset_id, row.job_id): Ran(row.run_id, row.ended_at, row.started_at) for row in rows}

    # -- columns ----------------------------------------------------------------------------------

    def _columns(self, page: Page) -> Iterator[Element]:
        kept = self._kept(page) if self._view.is_everything else {}  # their texts may name what is hidden
        names = {row.id: row for row in page}
        jobs: dict[int | None, JobText] | None = None
        rows = self._column_rows(page)
        for key, group in groupby(rows, key=lambda r: (r.downstream_id, r.downstream_column, r.job_id, r.origin)):
            same = list(group)
            jobs = jobs or self._jobs({row.job_id for row in rows})
            own, by = kept.get(key[0], WiaDocuments()), jobs.get(key[2])
            dependencies = [self._dependency(row) for row in same if row.dependency == Dependency.DIRECT]
            for row in same:
                upstream = Dataset(row.namespace, row.name)
                if row.origin == Origin.DATASET and own.describes_edge_from(upstream):
                    continue
                said_by = (row.origin, *_who(by))
                how = (row.dependency, row.subtype, row.masking, row.logic)
                target = names[row.downstream_id]
                into = (*_named(upstream), row.upstream_column, target.namespace, target.name, row.downstream_column)
                column_id = self.mint.id("column", *into, *said_by, *how)
                source, own_table = self._source_table(row), self._table(target)
                yield ElementKind.COLUMN, column_document(row, column_id, source, own_table, dependencies)
        if any(own.columns for own in kept.values()):
            yield from self._given_columns(page, kept, names)

    def _given_columns(
        self, page: Page, kept: Mapping[int, WiaDocuments], names: Mapping[int, StoredDataset]
    ) -> Iterator[Element]:
        """Where data still comes from there, as the declaration had it that they came with."""
        told: set[tuple[int, int]] = set()
        for row in self._rows(page):
            own, pair = kept.get(row.downstream_id), (row.downstream_id, row.upstream_id)
            if own is not None and row.origin == Origin.DATASET and pair not in told:
                told.add(pair)
                tables = {"source_table": self._source_table(row), "target_table": self._table(names[pair[0]])}
                yield from self._given(
                    ElementKind.COLUMN, own.columns.get(Dataset(row.namespace, row.name), ()), tables
                )

    def _column_rows(self, page: Page) -> Sequence[ExportedColumnEdge]:
        column_edge, label = self._view.tables.column_edge, self._view.tables.label
        mine, theirs = label.alias(), label.alias()
        query = self._scope.held(
            select(
                column_edge,
                mine.c.text.label("downstream_column"),
                theirs.c.text.label("upstream_column"),
                self._upstream.c.namespace,
                self._upstream.c.name,
            )
            .join(self._upstream, self._upstream.c.id == column_edge.c.upstream_id)
            .outerjoin(mine, mine.c.id == column_edge.c.downstream_column_id)
            .outerjoin(theirs, theirs.c.id == column_edge.c.upstream_column_id),
            column_edge,
        ).where(
            self._view.one_of(column_edge.c.downstream_id, [row.id for row in page]),
            column_edge.c.dependency != Dependency.UNKNOWN,
        )
        ends = ("downstream_id", "downstream_column_id", "job_id", "origin", "upstream_id", "upstream_column_id", "id")
        rows = self._view.execute(query.order_by(*(column_edge.c[name] for name in ends)))
        return [row for row in rows if row.upstream_id in self._ids]

    def _dependency(self, row: ExportedColumnEdge) -> Document:
        document = {"source_table": self._source_table(row), "source_column": row.upstream_column or "*"}
        return document | ({"expression": row.logic} if row.logic else {})

    def _table(self, row: StoredDataset) -> str:
        return self._tables.get(row.id) or f"{as_uri(row.namespace)}/{row.name}"

    def _source_table(self, row: ExportedEdge | ExportedColumnEdge) -> str:
        """Of a row of ``column_edge``: from a version, where the target is one, to the version after it."""
        if row.upstream_id in self._versions and row.downstream_id in self._versions:
            at = self._versions.before(row.upstream_id, self._versions.newest(row.downstream_id))
            return self._version_nodes[row.upstream_id, at][1]
        return self._tables.get(row.upstream_id) or f"{as_uri(row.namespace)}/{row.name}"

    # -- what else was said -----------------------------------------------------------------------

    def _said(
        self, page: Page, kind: ElementKind, of: Callable[[WiaDocuments], Sequence[Document]]
    ) -> Iterator[Element]:
        for dataset_id, kept in self._kept(page).items():
            if dataset_id in self._ids:
                told = [document for document in of(kept) if self._shows(document)]
                yield from self._given(kind, told, {"node_id": self._ids[dataset_id]})

    def _shows(self, document: Document) -> bool:
        """An imported document about a hidden job is not exported."""
        return self._view.is_everything or without_hidden(document, self._view.sees) is document

    def _provenance(self, page: Page) -> Iterator[Element]:
        """Provenance of runs, and statements; an equal imported document is exported already."""
        datasets = [row for row in page if not row.is_job and row.id in self._ids]
        for dataset_id, one in exported(self._view, datasets, self.mint, self._scope.as_of):
            document = provenance_document(one, self._ids[dataset_id])
            if not element_faults(ElementKind.PROVENANCE, document) and self._first(one.provenance_id):
                yield ElementKind.PROVENANCE, document

    def _quality(self, page: Page) -> Iterator[Element]:
        """What was measured or stated here. An import may have brought it already, with the same id."""
        for told in quality_of_datasets(self._view, [row.id for row in page]):
            known = self._scope.as_of is None or to_micros(told.statement.told_at) <= self._scope.as_of
            if known and told.dataset_id in self._ids and self._first(told.statement.quality_id):
                ids = {"quality_id": told.statement.quality_id, "node_id": self._measured_node(told)}
                yield ElementKind.QUALITY, ids | told.statement.report.document()

    def _measured_node(self, told: QualityOfDataset) -> str:
        """Where versions are nodes, the one that was there."""
        if told.dataset_id in self._versions:
            held = version_at(self._view, told.dataset_id, told.at)
            node = held and self._version_nodes.get((told.dataset_id, to_micros(held.written_at)))
            if node:
                return node[0]
        return self._ids[told.dataset_id]


def _who(by: JobText | None) -> tuple[str | None, str | None]:
    return (None, None) if by is None else (by.namespace, by.name)


def _named(dataset: Dataset) -> tuple[str, str]:
    return dataset.namespace, dataset.name
