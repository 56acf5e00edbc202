/** What a run did otherwise than another, as marks on the graph: edges and columns that came and went. Pure. */

import type { Schemas } from "../api/client";
import { columnEdgeId } from "./columns";
import { edgeId } from "./graph-data";
import { nodeKey, type Ref, refKey } from "./names";

type RunDetail = Schemas["RunDetail"];
export type Sign = "+" | "−";

export interface Difference {
  edges: Map<string, { from: string; to: string; sign: Sign }>;
  columnEdges: Map<string, { from: Ref; to: Ref; sign: Sign }>;
  columns: Map<string, { node: string; column: string; sign: Sign }>;
  /** Every dataset that either run read or wrote. */
  nodes: string[];
}

export function differenceOf(before: RunDetail, after: RunDetail): Difference {
  return {
    edges: markChanges(edgesOf(before), edgesOf(after)),
    columnEdges: markChanges(columnEdgesOf(before), columnEdgesOf(after)),
    columns: markChanges(columnsOf(before), columnsOf(after)),
    nodes: [
      ...new Set([before, after].flatMap((run) => [...run.inputs, ...run.outputs].map((use) => nodeKey(use.dataset)))),
    ],
  };
}

function markChanges<T extends object>(before: Map<string, T>, after: Map<string, T>): Map<string, T & { sign: Sign }> {
  const marks = new Map<string, T & { sign: Sign }>();
  for (const [key, value] of after) if (!before.has(key)) marks.set(key, { ...value, sign: "+" });
  for (const [key, value] of before) if (!after.has(key)) marks.set(key, { ...value, sign: "−" });
  return marks;
}

function edgesOf(run: RunDetail): Map<string, { from: string; to: string }> {
  const pairs = run.edges.map((edge) => ({ from: nodeKey(edge.upstream), to: nodeKey(edge.downstream) }));
  return new Map(pairs.map((pair) => [edgeId(pair.from, pair.to), pair]));
}

function columnEdgesOf(run: RunDetail): Map<string, { from: Ref; to: Ref }> {
  const pairs = run.column_edges.map((edge) => ({
    from: { node: nodeKey(edge.upstream), column: edge.upstream_column },
    to: { node: nodeKey(edge.downstream), column: edge.downstream_column },
  }));
  return new Map(pairs.map((pair) => [columnEdgeId(pair.from, pair.to), pair]));
}

/** Columns of the outputs, where the run has schemas. */
function columnsOf(run: RunDetail): Map<string, { node: string; column: string }> {
  const result = new Map<string, { node: string; column: string }>();
  for (const use of run.outputs) {
    const node = nodeKey(use.dataset);
    for (const column of schemaNames(use.facets)) result.set(refKey(node, column), { node, column });
  }
  return result;
}

function schemaNames(facets: Record<string, unknown>): string[] {
  const schema = facets.schema;
  if (typeof schema !== "object" || schema === null || !("fields" in schema) || !Array.isArray(schema.fields))
    return [];
  return schema.fields.flatMap((field: unknown) =>
    typeof field === "object" && field !== null && "name" in field && typeof field.name === "string"
      ? [field.name]
      : [],
  );
}
