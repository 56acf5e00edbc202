/** Several responses merged into one graph: each card and edge once. Pure. */

import type { Schemas } from "../api/client";
import type { Field } from "./card";
import { byName, type Card, type ColumnLink, type Link, nodeKey, type Side } from "./names";
import { isViaJob } from "./via-job";

type Neighbourhood = Schemas["Neighbourhood"];

export interface GraphEdge {
  id: string;
  from: string;
  to: string;
  link: Link;
  /** One end is a job that stands between its inputs and its outputs. */
  viaJob: boolean;
}

export interface GraphData {
  cards: Map<string, Card>;
  edges: Map<string, GraphEdge>;
  /** By node and side the neighbours that are known, by name. A node is not its own neighbour. */
  neighbours: Record<Side, Map<string, string[]>>;
  columns: ColumnData;
}

/** Columns that the responses include; those of other datasets take one request each. */
export interface ColumnData {
  schemas: Map<string, readonly Field[]>;
  links: (readonly ColumnLink[])[];
  /** Edges of which all column edges are among the links. */
  whole: Set<string>;
}

export const edgeId = (from: string, to: string) => JSON.stringify([from, to]);

/** Later answers have the say over what a card shows: they are the wider or the newer ones. */
export function merge(answers: Iterable<Neighbourhood>): GraphData {
  const cards = new Map<string, Card>();
  const edges = new Map<string, GraphEdge>();
  const columns: ColumnData = { schemas: new Map(), links: [], whole: new Set() };
  for (const answer of answers) {
    if (answer.column_edges) columns.links.push(answer.column_edges);
    for (const card of answer.nodes) {
      const key = nodeKey(card.endpoint);
      cards.set(key, card);
      if (card.schema) columns.schemas.set(key, card.schema);
    }
    for (const link of answer.edges) {
      const [from, to] = [nodeKey(link.upstream), nodeKey(link.downstream)];
      const id = edgeId(from, to);
      edges.set(id, { id, from, to, link, viaJob: isViaJob(link) });
      if (answer.column_edges) columns.whole.add(id);
    }
  }
  const neighbours = { up: sideOf("up", cards, edges), down: sideOf("down", cards, edges) };
  return { cards, edges, neighbours, columns };
}

function sideOf(side: Side, cards: Map<string, Card>, edges: Map<string, GraphEdge>): Map<string, string[]> {
  const result = new Map<string, string[]>();
  for (const { from, to } of edges.values()) {
    if (from === to) continue;
    const [near, far] = side === "up" ? [to, from] : [from, to];
    const list = result.get(near);
    if (list) list.push(far);
    else result.set(near, [far]);
  }
  for (const list of result.values()) {
    list.sort((one, other) => {
      const [a, b] = [cards.get(one), cards.get(other)];
      return a && b ? byName(a.endpoint, b.endpoint) : 0;
    });
  }
  return result;
}
