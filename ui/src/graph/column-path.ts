/** The path of one column: from its first sources to its last consumers, across jobs. Pure. */

import type { Schemas } from "../api/client";
import { addDerivation, type ColumnEdge, columnEdgeId, type Derivation, isOnlyViaJob } from "./columns";
import type { GraphData } from "./graph-data";
import { type Endpoint, nodeKey, type Ref, refKey } from "./names";
import { hubsBetween } from "./via-job";

export type PathStep = Schemas["Node"];

export interface ColumnPath {
  start: Ref;
  /** Columns on the path by node; a node without columns is on the path as a whole. */
  columns: Map<string, Set<string>>;
  /** Nodes on the path, the nearest first. */
  nodes: string[];
  /** The edges of the path itself, known even where no column edges were fetched. */
  edges: Map<string, ColumnEdge>;
  up: ReadonlySet<string>;
  down: ReadonlySet<string>;
}

/** `up` and `down`: the answers for what the column comes from and goes into. */
export function columnPath(
  of: Endpoint,
  column: string,
  up: readonly PathStep[],
  down: readonly PathStep[],
): ColumnPath {
  const start = { node: nodeKey(of), column };
  const columns = new Map<string, Set<string>>([[start.node, new Set([column])]]);
  const nodes = [start.node];
  const byDepth = [...up, ...down].sort((one, other) => one.depth - other.depth);
  for (const step of byDepth) {
    const node = nodeKey(step.endpoint);
    let lit = columns.get(node);
    if (!lit) {
      lit = new Set();
      columns.set(node, lit);
      nodes.push(node);
    }
    if (step.part !== null) lit.add(step.part);
  }
  const edges = new Map<string, ColumnEdge>();
  for (const [near, far, step] of lastHops(start, up)) addDerivation(edges, far, near, derivationOf(step));
  for (const [near, far, step] of lastHops(start, down)) addDerivation(edges, near, far, derivationOf(step));
  return { start, columns, nodes, edges, up: refKeys(start, up), down: refKeys(start, down) };
}

/** The last hop of each step: the node before it, and the step. */
function lastHops(start: Ref, steps: readonly PathStep[]): [near: Ref, far: Ref, step: PathStep][] {
  const byLabel = new Map<string, Ref>([[label(start), start]]);
  for (const step of steps) byLabel.set(labelOf(step), refOf(step));
  const result: [Ref, Ref, PathStep][] = [];
  for (const step of steps) {
    const before = step.path.at(-2);
    const near = before === undefined ? start : byLabel.get(before);
    if (near) result.push([near, refOf(step), step]);
  }
  return result;
}

const refOf = (step: PathStep): Ref => ({ node: nodeKey(step.endpoint), column: step.part });

/** As the server writes the places of a path. */
function labelOf(step: PathStep): string {
  const whole = `${step.endpoint.namespace}/${step.endpoint.name}`;
  return step.part === null ? whole : `${whole}#${step.part}`;
}

function label(ref: Ref): string {
  const [namespace, name] = JSON.parse(ref.node) as string[];
  return ref.column === null ? `${namespace}/${name}` : `${namespace}/${name}#${ref.column}`;
}

function derivationOf({ via }: PathStep): Derivation {
  return {
    dependency: via.dependency ?? "UNKNOWN",
    type: via.transformation,
    logic: via.logic,
    masking: via.masking ?? false,
    job: via.job?.name ?? null,
    viaJob: via.via_job ?? false,
  };
}

/** What an edge must have at both ends to be on this half of the path; a node as a whole is named alone. */
function refKeys(start: Ref, steps: readonly PathStep[]): ReadonlySet<string> {
  const keys = new Set<string>([refKey(start.node, start.column), WITHIN + start.node]);
  for (const step of steps) {
    const node = nodeKey(step.endpoint);
    keys.add(refKey(node, step.part));
    keys.add(WITHIN + node);
  }
  return keys;
}
const WITHIN = "within ";

/** Whether the path goes along this edge. An edge past the column itself, from source to consumer, is not on it. */
export function isOnPath(path: ColumnPath, edge: { from: Ref; to: Ref }): boolean {
  if (path.edges.has(columnEdgeId(edge.from, edge.to))) return true;
  return [path.up, path.down].some((half) => touches(half, edge.from) && touches(half, edge.to));
}

/** A node as a whole is touched by any of its columns, and touches each. */
function touches(half: ReadonlySet<string>, ref: Ref): boolean {
  if (ref.column === null) return half.has(WITHIN + ref.node);
  return half.has(refKey(ref.node, ref.column)) || half.has(ref.node);
}

/**
 * Adds the edges that the path was come along to those that are known. The path tells of one that has a say in every
 * row by the columns it leads to; where it is known as such, it is that one.
 */
export function withPath(known: Map<string, ColumnEdge>, path: ColumnPath): Map<string, ColumnEdge> {
  for (const [id, edge] of path.edges) {
    const { from, to } = edge;
    const whole = (ref: Ref): Ref => ({ node: ref.node, column: null });
    const same = [columnEdgeId(from, to), columnEdgeId(from, whole(to)), columnEdgeId(whole(from), to)];
    if (!same.some((other) => known.has(other))) known.set(id, edge);
  }
  return known;
}

/**
 * The path with the jobs that it leads through. An answer counts input → job → output as one hop and leaves the job out;
 * the graph has the job as a node, so the path leads through it where it is known.
 */
export function withHubs(path: ColumnPath, known: Pick<GraphData, "cards" | "neighbours">): ColumnPath {
  const endpointOf = (key: string) => known.cards.get(key)?.endpoint ?? null;
  const edges = new Map(path.edges);
  const hubs = new Set<string>();
  for (const [id, edge] of path.edges) {
    if (!isOnlyViaJob(edge)) continue;
    for (const hub of hubsBetween(edge.from, edge.to, known.neighbours, endpointOf)) {
      hubs.add(hub);
      edges.delete(id);
      for (const way of edge.derivations) {
        addDerivation(edges, edge.from, { node: hub, column: null }, way);
        addDerivation(edges, { node: hub, column: null }, edge.to, way);
      }
    }
  }
  if (hubs.size === 0) return path;
  const columns = new Map(path.columns);
  for (const hub of hubs) if (!columns.has(hub)) columns.set(hub, new Set());
  return { ...path, edges, columns, nodes: [...path.nodes, ...hubs] };
}

export interface Branch {
  ref: Ref;
  endpoint: Endpoint;
  step: PathStep;
  children: Branch[];
}

/** The closure of a column as a tree of shortest paths. */
export function treeOf(of: Endpoint, column: string, steps: readonly PathStep[]): Branch[] {
  const start = { node: nodeKey(of), column };
  const branches = new Map<string, Branch>();
  for (const step of steps) {
    const ref = refOf(step);
    branches.set(refKey(ref.node, ref.column), { ref, endpoint: step.endpoint, step, children: [] });
  }
  const roots: Branch[] = [];
  for (const [near, far] of lastHops(start, steps)) {
    const branch = branches.get(refKey(far.node, far.column));
    const parent = branches.get(refKey(near.node, near.column));
    // In a cycle the start is also reached from itself: it is not its own branch.
    if (branch && parent !== branch) (isStart(near, start) ? roots : (parent?.children ?? roots)).push(branch);
  }
  return roots;
}

const isStart = (ref: Ref, start: Ref) => ref.node === start.node && ref.column === start.column;
