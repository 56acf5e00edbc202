"""The section on logic: steps, and the path of each column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby

from headwater.assurance.report.findings import MAX_LISTED, grain, in_part, remainder_text, types
from headwater.assurance.report.gather import ReportData
from headwater.assurance.report.intent import declared_nodes
from headwater.assurance.report.markup import Html, Part, absent_note, code, join_parts, mark, table, tag, words
from headwater.assurance.report.shapes import columns_of, mapping, mappings, number
from headwater.formats.openlineage.facet_names import COVERAGE_FACET, TELEMETRY_FACET, TRACE_FACET
from headwater.model.lineage import ColumnEdge


def logic(case: ReportData) -> Html:
    return join_parts(
        [
            tag("h3", "Steps"),
            _steps(case),
            tag("h3", "Sources of each column", id="columns"),
            _columns(case),
            tag("h3", "Types", id="types"),
            types(case),
            tag("h3", "Grain", id="grain"),
            grain(case),
            tag("h3", "Not captured", id="unknown"),
            _unknown(case),
        ]
    )


def column_paths(case: ReportData) -> Mapping[str, list[object]]:
    facet = mapping(mapping(case.facet(TRACE_FACET)).get("targetAttributes"))
    return {column: steps for column, steps in facet.items() if isinstance(steps, list)}


def gaps(case: ReportData) -> list[tuple[str, Mapping[str, object]]]:
    """Return operators without lineage, by the dataset that they write."""
    return [
        (str(use.dataset), gap)
        for use in case.detail.outputs
        for gap in mappings(mapping(use.facets.get(COVERAGE_FACET)).get("gaps"))
    ]


def _steps(case: ReportData) -> Html:
    nodes = declared_nodes(case)
    if nodes:
        counts = [mapping(node.get("counts")) for node in nodes]
        columns = columns_of(counts, ("items", "emitted", "filtered", "retried", "errors", "dead_letters"))
        rows = (
            [code(words(node.get("name"))), words(node.get("type")), *(words(of_node.get(key)) for key in columns)]
            for node, of_node in zip(nodes, counts, strict=True)
        )
        return table(["Node", "Kind", *(key.replace("_", " ") for key in columns)], rows)
    writes = mappings(mapping(case.facet(TELEMETRY_FACET)).get("writes"))
    measured = [node for write in writes for node in mappings(write.get("nodes"))]
    if measured:
        rows = ([code(words(node.get("name"))), words(number(node.get("rows")))] for node in measured[:MAX_LISTED])
        return join_parts([table(["Operator", "Rows"], rows), remainder_text(len(measured))])
    return absent_note("The run reported no steps.")


def _columns(case: ReportData) -> Html:
    paths = column_paths(case)
    if paths:
        rows = ([code(column), _path(steps)] for column, steps in list(paths.items())[:MAX_LISTED])
        return join_parts(
            [in_part(case, TRACE_FACET), table(["Column", "Path, from the sources"], rows), remainder_text(len(paths))]
        )
    edges = case.detail.column_edges
    if not edges:
        return absent_note("No column lineage was recorded.")
    shown = list(_edges(edges))
    return join_parts([table(["Column", "Sources"], shown[:MAX_LISTED]), remainder_text(len(shown))])


def _path(steps: list[object]) -> Html:
    return join_parts((code(words(step)) for step in steps), " → ")


def _edges(edges: tuple[ColumnEdge, ...]) -> Iterator[list[Part]]:
    for (target, column), same in groupby(edges, key=lambda edge: (edge.downstream, edge.downstream_column)):
        yield [code(target if column is None else f"{target}#{column}"), join_parts(map(_source, same), "<br>")]


def _source(edge: ColumnEdge) -> Html:
    name = edge.upstream if edge.upstream_column is None else f"{edge.upstream}#{edge.upstream_column}"
    how = [edge.dependency.lower(), edge.subtype, "masked" if edge.masking else None, edge.logic]
    return join_parts([code(name), " ", tag("span", ", ".join(filter(None, how)), class_="dim")])


def _unknown(case: ReportData) -> Html:
    result = gaps(case)
    if not result:
        covered = any(COVERAGE_FACET in use.facets for use in case.detail.outputs)
        if covered:
            return tag("p", mark(True, "nothing: lineage covers every step"))
        return absent_note("Not shown by this run: coverage was not reported.")
    rows = (
        [code(dataset), words(gap.get("operator")), words(gap.get("reason"))] for dataset, gap in result[:MAX_LISTED]
    )
    return join_parts([table(["Before", "Step", "Why"], rows), remainder_text(len(result))])
