/** Column edges: each once, between rows of cards that are shown. Pure. */

import { type ColumnLink, compare, type Dependency, nodeKey, type Ref, refKey } from "./names";
import { hubJob } from "./via-job";

export interface ColumnEdge {
  from: Ref;
  to: Ref;
  /** How it is derived: by several jobs, or several steps of one. */
  derivations: Derivation[];
}

export interface Derivation {
  dependency: Dependency;
  type: string | null;
  logic: string | null;
  masking: boolean;
  job: string | null;
  /** The event does not say that this input went into this output, only that the job read the one and wrote the other. */
  viaJob: boolean;
}

export function columnEdgeId(from: Ref, to: Ref): string {
  return JSON.stringify([refKey(from.node, from.column), refKey(to.node, to.column)]);
}

/** The responses for both ends contain the edge; it counts once. */
export function mergeColumns(answers: Iterable<readonly ColumnLink[]>): Map<string, ColumnEdge> {
  const edges = new Map<string, ColumnEdge>();
  for (const links of answers) {
    for (const link of links) {
      const from = { node: nodeKey(link.upstream), column: link.upstream_column };
      const to = { node: nodeKey(link.downstream), column: link.downstream_column };
      addDerivation(edges, from, to, {
        dependency: link.dependency,
        type: link.type,
        logic: link.logic,
        masking: link.masking,
        job: link.job?.name ?? null,
        viaJob: hubJob(link.upstream) !== null || hubJob(link.downstream) !== null,
      });
    }
  }
  return edges;
}

export function addDerivation(edges: Map<string, ColumnEdge>, from: Ref, to: Ref, way: Derivation): void {
  const id = columnEdgeId(from, to);
  const edge = edges.get(id);
  if (!edge) edges.set(id, { from, to, derivations: [way] });
  else if (!edge.derivations.some((other) => isSameDerivation(other, way))) edge.derivations.push(way);
}

function isSameDerivation(one: Derivation, other: Derivation): boolean {
  return (
    one.dependency === other.dependency &&
    one.type === other.type &&
    one.logic === other.logic &&
    one.job === other.job &&
    one.masking === other.masking &&
    one.viaJob === other.viaJob
  );
}

/** Direct where any way is: a value that is carried over is carried over. */
export function isDirect(edge: { derivations: readonly Derivation[] }): boolean {
  return edge.derivations.some((way) => way.dependency === "DIRECT");
}

/** Only where no way states which input went into which output. */
export function isOnlyViaJob(edge: { derivations: readonly Derivation[] }): boolean {
  return edge.derivations.length > 0 && edge.derivations.every((way) => way.viaJob);
}

export interface DrawnEdge {
  id: string;
  from: Ref;
  to: Ref;
  direct: boolean;
  viaJob: boolean;
  /** Whether it is on the highlighted path; null while no path is highlighted. */
  lit: boolean | null;
  /** The column edges that it stands for, for the tooltip. */
  of: ColumnEdge[];
}

/**
 * Edges as they are drawn: an end whose row is not in sight is drawn at its card, and edges that then share both ends
 * are one. An edge with both ends at cards is none: the edge between the cards says it already.
 *
 * While a path is lit (`isLit`), what is on it and what is not are never one, and of the rest only what runs from row
 * to row is drawn.
 */
export function drawnColumns(
  edges: Iterable<ColumnEdge>,
  rowsOf: ReadonlyMap<string, ReadonlySet<string>>,
  isLit: ((edge: ColumnEdge) => boolean) | null = null,
): DrawnEdge[] {
  const drawn = new Map<string, DrawnEdge>();
  for (const edge of edges) {
    const [from, to] = [visibleEnd(edge.from, rowsOf), visibleEnd(edge.to, rowsOf)];
    if (!from || !to || (from.column === null && to.column === null)) continue;
    const lit = isLit?.(edge) ?? null;
    if (lit === false && (from.column === null || to.column === null)) continue;
    const id = lit ? `lit ${columnEdgeId(from, to)}` : columnEdgeId(from, to);
    const same = drawn.get(id);
    if (!same) drawn.set(id, { id, from, to, direct: isDirect(edge), viaJob: isOnlyViaJob(edge), lit, of: [edge] });
    else {
      same.of.push(edge);
      same.direct ||= isDirect(edge);
      same.viaJob &&= isOnlyViaJob(edge);
    }
  }
  return [...drawn.values()];
}

function visibleEnd(ref: Ref, rowsOf: ReadonlyMap<string, ReadonlySet<string>>): Ref | null {
  const rows = rowsOf.get(ref.node);
  if (!rows) return null;
  return ref.column !== null && rows.has(ref.column) ? ref : { node: ref.node, column: null };
}

/** A small set of nodes that touches every edge (greedy vertex cover): their requests return all column edges. */
export function vertexCover(edges: readonly { from: string; to: string }[]): string[] {
  const open = new Map<string, Set<string>>();
  const join = (one: string, other: string) => {
    const list = open.get(one);
    if (list) list.add(other);
    else open.set(one, new Set([other]));
  };
  for (const { from, to } of edges) {
    join(from, to);
    join(to, from);
  }
  const taken: string[] = [];
  const byDegree = [...open.keys()].sort(
    (one, other) => (open.get(other)?.size ?? 0) - (open.get(one)?.size ?? 0) || compare(one, other),
  );
  for (const node of byDegree) {
    const others = open.get(node);
    if (!others || others.size === 0) continue;
    taken.push(node);
    for (const other of others) open.get(other)?.delete(node);
    others.clear();
  }
  return taken;
}
