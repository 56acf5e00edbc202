/** Which of what is known is shown, and how much is not. Pure. */

import { type Expansion, limitOf, STEPS } from "./expansion";
import type { GraphData, GraphEdge } from "./graph-data";
import { type Card, SIDES, type Side } from "./names";
import { hubJob } from "./via-job";

/** The picture stays readable and smooth up to about here. */
export const MOST_NODES = 400;

export interface VisibleNode {
  key: string;
  card: Card;
  /** Neighbours that are not shown. */
  more: Record<Side, number>;
  /** Maximum number of neighbours to show; 0: this side is collapsed. */
  most: Record<Side, number>;
  /** Whether this side has neighbours to hide. */
  less: Record<Side, boolean>;
}

export interface VisibleGraph {
  nodes: Map<string, VisibleNode>;
  edges: GraphEdge[];
  /** Left out because the picture is full. */
  leftOut: number;
}

export interface GraphView {
  root: string;
  hops: number;
  shape: Expansion;
  /** Always shown: cards on a highlighted path, the selected card. */
  also: Iterable<string>;
}

/** From the root outwards, through the sides that are open. */
export function visibleGraph(known: GraphData, view: GraphView): VisibleGraph {
  const limits = new Map<string, Record<Side, number>>();
  const also = [...view.also].filter((key) => known.cards.has(key));
  const reserved = new Set(also.slice(0, MOST_NODES - 1)); // beside the root
  let leftOut = 0;
  const queue: [key: string, depth: number, way: Side | null][] = [];
  const visit = (key: string, depth: number, way: Side | null) => {
    if (limits.has(key) || !known.cards.has(key)) return;
    if (!reserved.delete(key) && limits.size + reserved.size >= MOST_NODES) {
      leftOut += 1;
      return;
    }
    const byItself = (side: Side) => (depth < view.hops && (way === null || way === side) ? STEPS[0] : 0);
    const most = (side: Side) => limitOf(view.shape, key, side, byItself(side));
    limits.set(key, { up: most("up"), down: most("down") });
    queue.push([key, depth, way]);
  };
  const spread = () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [key, depth] = next;
      const most = limits.get(key);
      for (const side of SIDES) {
        const near = known.neighbours[side].get(key) ?? [];
        for (const other of near.slice(0, most?.[side] ?? 0)) {
          // What lies behind a job between inputs and outputs is no further away: input → job → output is one hop.
          const endpoint = known.cards.get(other)?.endpoint;
          visit(other, endpoint && hubJob(endpoint) ? depth : depth + 1, side);
        }
      }
    }
  };
  visit(view.root, 0, null);
  spread();
  // After those around the root, so that a card within reach keeps its neighbours when it is selected. A card further
  // away is not opened by itself: that the reader looks at it does not bring its neighbours in.
  for (const key of also) visit(key, Number.POSITIVE_INFINITY, null);
  spread();
  return { nodes: nodesOf(known, limits), edges: edgesBetween(known, limits), leftOut };
}

function nodesOf(known: GraphData, limits: Map<string, Record<Side, number>>): Map<string, VisibleNode> {
  const nodes = new Map<string, VisibleNode>();
  for (const [key, most] of limits) {
    const card = known.cards.get(key);
    if (!card) continue;
    const count = (side: Side) => (known.neighbours[side].get(key) ?? []).filter((other) => limits.has(other)).length;
    const shown = { up: count("up"), down: count("down") };
    nodes.set(key, {
      key,
      card,
      most,
      more: { up: Math.max(0, card.upstreams - shown.up), down: Math.max(0, card.downstreams - shown.down) },
      less: { up: most.up > 0 && shown.up > 0, down: most.down > 0 && shown.down > 0 },
    });
  }
  return nodes;
}

function edgesBetween(known: GraphData, limits: ReadonlyMap<string, unknown>): GraphEdge[] {
  return [...known.edges.values()].filter(({ from, to }) => limits.has(from) && limits.has(to));
}

export interface NeighbourhoodRequest {
  key: string;
  limit: number;
}

/**
 * Which neighbourhoods are still to be asked for.
 *
 * An answer tells all edges between its own nodes, but not those to nodes of another answer: of what the first answer
 * did not bring, the neighbours are asked for as well, so that no edge between two shown nodes is missing.
 */
export function missingNeighbourhoods(shown: VisibleGraph, ofRoot: ReadonlySet<string>): NeighbourhoodRequest[] {
  const requests: NeighbourhoodRequest[] = [];
  for (const { key, card, most } of shown.nodes.values()) {
    const opened = Math.max(most.up, most.down);
    const grown = opened > STEPS[0] || (opened > 0 && !ofRoot.has(key));
    const foreign = !ofRoot.has(key) && card.upstreams + card.downstreams > 0;
    const incomplete =
      opened > 0 && SIDES.some((side) => most[side] > 0 && isSideIncomplete(shown, key, side, most[side]));
    if (!grown && !foreign && !incomplete) continue;
    const limit = opened > STEPS[0] ? opened : STEPS[1];
    if (hubJob(card.endpoint))
      requests.push(...adjacentDatasets(shown, key, most).map((other) => ({ key: other, limit })));
    else requests.push({ key, limit });
  }
  return requests;
}

/** A job has no neighbourhood of its own: its inputs come with that of one of its outputs, its outputs with one of its inputs. */
function adjacentDatasets(shown: VisibleGraph, hub: string, most: Record<Side, number>): string[] {
  const output = most.up > 0 ? shown.edges.find((edge) => edge.from === hub)?.to : undefined;
  const input = most.down > 0 ? shown.edges.find((edge) => edge.to === hub)?.from : undefined;
  return [output, input].filter((key) => key !== undefined);
}

/** The requests with the missing ones added; the same array if nothing is missing. */
export function withRequests(
  requests: NeighbourhoodRequest[],
  want: readonly NeighbourhoodRequest[],
): NeighbourhoodRequest[] {
  const limits = new Map(requests.map(({ key, limit }) => [key, limit]));
  let changed = false;
  for (const { key, limit } of want) {
    if ((limits.get(key) ?? 0) >= limit) continue;
    limits.set(key, limit);
    changed = true;
  }
  return changed ? [...limits].map(([key, limit]) => ({ key, limit })) : requests;
}

function isSideIncomplete(shown: VisibleGraph, key: string, side: Side, most: number): boolean {
  const node = shown.nodes.get(key);
  if (!node) return false;
  const total = side === "up" ? node.card.upstreams : node.card.downstreams;
  return total - node.more[side] < Math.min(most, total);
}
