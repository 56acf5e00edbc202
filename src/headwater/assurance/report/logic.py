"""What was done: step by step, and column by column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from headwater.assurance.report.findings import MOST, grain, in_part, more, types
from headwater.assurance.report.gather import Case
from headwater.assurance.report.intent import declared_nodes
from headwater.assurance.report.markup import Html, Part, absent, code, joined, mark, table, tag, words
from headwater.assurance.report.shapes import columns_of, mapping, mappings, number
from headwater.formats.openlineage.facet_names import COVERAGE_FACET, TELEMETRY_FACET, TRACE_FACET
from headwater.model.lineage import ColumnEdge


def logic(case: Case) -> Html:
    return joined(
        [
            tag("h3", "Steps"),
            _steps(case),
            tag("h3", "Where each column comes from", id="columns"),
            _columns(case),
            tag("h3", "Types", id="types"),
            types(case),
            tag("h3", "Grain", id="grain"),
            grain(case),
            tag("h3", "What could not be known", id="unknown"),
            _unknown(case),
        ]
    )


def column_paths(case: Case) -> Mapping[str, list[Any]]:
    told = mapping(mapping(case.facet(TRACE_FACET)).get("targetAttributes"))
    return {column: steps for column, steps in told.items() if isinstance(steps, list)}


def gaps(case: Case) -> list[tuple[str, Mapping[str, Any]]]:
    """Operators that no lineage leads through, by the dataset that they stand before."""
    return [
        (str(use.dataset), gap)
        for use in case.detail.outputs
        for gap in mappings(mapping(use.facets.get(COVERAGE_FACET)).get("gaps"))
    ]


def _steps(case: Case) -> Html:
    nodes = declared_nodes(case)
    if nodes:
        counts = [mapping(node.get("counts")) for node in nodes]
        told = columns_of(counts, ("items", "emitted", "filtered", "retried", "errors", "dead_letters"))
        rows = (
            [code(words(node.get("name"))), words(node.get("type")), *(words(of_node.get(key)) for key in told)]
            for node, of_node in zip(nodes, counts, strict=True)
        )
        return table(["Node", "Kind", *(key.replace("_", " ") for key in told)], rows)
    writes = mappings(mapping(case.facet(TELEMETRY_FACET)).get("writes"))
    measured = [node for write in writes for node in mappings(write.get("nodes"))]
    if measured:
        rows = ([code(words(node.get("name"))), words(number(node.get("rows")))] for node in measured[:MOST])
        return joined([table(["Operator", "Rows"], rows), more(len(measured))])
    return absent("The run told of no steps.")


def _columns(case: Case) -> Html:
    paths = column_paths(case)
    if paths:
        rows = ([code(column), _path(steps)] for column, steps in list(paths.items())[:MOST])
        return joined([in_part(case, TRACE_FACET), table(["Column", "Path, from the sources"], rows), more(len(paths))])
    edges = case.detail.column_edges
    if not edges:
        return absent("No column lineage was recorded.")
    shown = list(_edges(edges))
    return joined([table(["Column", "Made of"], shown[:MOST]), more(len(shown))])


def _path(steps: list[Any]) -> Html:
    return joined((code(words(step)) for step in steps), " → ")


def _edges(edges: tuple[ColumnEdge, ...]) -> Iterator[list[Part]]:
    for (target, column), same in groupby(edges, key=lambda edge: (edge.downstream, edge.downstream_column)):
        yield [code(target if column is None else f"{target}#{column}"), joined(map(_source, same), "<br>")]


def _source(edge: ColumnEdge) -> Html:
    name = edge.upstream if edge.upstream_column is None else f"{edge.upstream}#{edge.upstream_column}"
    how = [edge.dependency.lower(), edge.subtype, "masked" if edge.masking else None, edge.logic]
    return joined([code(name), " ", tag("span", ", ".join(filter(None, how)), class_="dim")])


def _unknown(case: Case) -> Html:
    found = gaps(case)
    if not found:
        told = any(COVERAGE_FACET in use.facets for use in case.detail.outputs)
        if told:
            return tag("p", mark(True, "nothing: lineage leads through every step"))
        return absent("Not shown by this run: nobody looked.")
    rows = ([code(dataset), words(gap.get("operator")), words(gap.get("reason"))] for dataset, gap in found[:MOST])
    return joined([table(["Before", "Step", "Why"], rows), more(len(found))])
