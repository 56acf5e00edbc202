/** Positions of the cards: the input for elk, and its output. Pure. */

import type { ElkNode } from "elkjs/lib/elk-api";

export interface Size {
  width: number;
  height: number;
}
export interface Box extends Size {
  x: number;
  y: number;
}
export type Places = ReadonlyMap<string, Box>;

export const BETWEEN_LAYERS = 128; // room for the edges, and for "+ 7 more" at both sides
export const BETWEEN_CARDS = 24;

/**
 * Layers from left to right, cards in straight lines and in the order they came in. Ways of edges are our own matter, so
 * elk keeps no room for them and seeks none.
 */
export const OPTIONS = {
  "elk.algorithm": "layered",
  "elk.direction": "RIGHT",
  "elk.edgeRouting": "POLYLINE",
  "elk.layered.spacing.nodeNodeBetweenLayers": String(BETWEEN_LAYERS),
  "elk.layered.spacing.edgeNodeBetweenLayers": "0",
  "elk.layered.spacing.edgeEdgeBetweenLayers": "0",
  "elk.spacing.nodeNode": String(BETWEEN_CARDS),
  "elk.spacing.edgeNode": "4",
  "elk.spacing.edgeEdge": "0",
  "elk.spacing.componentComponent": "48",
  "elk.layered.nodePlacement.strategy": "LINEAR_SEGMENTS",
  "elk.layered.considerModelOrder.strategy": "NODES_AND_EDGES",
  "elk.layered.thoroughness": "5",
};

/** Nodes in their preferred order; repeated edges and loops are dropped. */
export function elkGraph(sizes: ReadonlyMap<string, Size>, edges: Iterable<{ from: string; to: string }>): ElkNode {
  const ids = new Map([...sizes.keys()].map((key, place) => [key, `n${place}`]));
  const between = new Map<string, { id: string; sources: string[]; targets: string[] }>();
  for (const { from, to } of edges) {
    const [source, target] = [ids.get(from), ids.get(to)];
    if (source === undefined || target === undefined || source === target) continue;
    const id = `${source}-${target}`;
    between.set(id, { id, sources: [source], targets: [target] });
  }
  return {
    id: "graph",
    layoutOptions: OPTIONS,
    children: [...sizes].map(([key, size]) => ({ id: ids.get(key) ?? key, ...size })),
    edges: [...between.values()],
  };
}

export function placesOf(sizes: ReadonlyMap<string, Size>, answer: ElkNode): Map<string, Box> {
  const placed = new Map((answer.children ?? []).map((child) => [child.id, child]));
  const places = new Map<string, Box>();
  let number = 0;
  for (const [key, size] of sizes) {
    const child = placed.get(`n${number}`);
    places.set(key, { x: Math.round(child?.x ?? 0), y: Math.round(child?.y ?? 0), ...size });
    number += 1;
  }
  return places;
}

/** Moves the whole layout so that the anchor card keeps its position. */
export function withAnchor(places: Places, before: Places, anchors: Iterable<string>): Map<string, Box> {
  for (const key of anchors) {
    const [now, then] = [places.get(key), before.get(key)];
    if (!now || !then) continue;
    const [dx, dy] = [then.x - now.x, then.y - now.y];
    return new Map([...places].map(([name, box]) => [name, { ...box, x: box.x + dx, y: box.y + dy }]));
  }
  return new Map(places);
}

/** Cards have grown or shrunk: those below in the same layer make room, and no others move. */
export function withRoom(places: Places, sizes: ReadonlyMap<string, Size>): Map<string, Box> {
  const layers = new Map<number, [string, Box][]>();
  for (const [key, box] of places) {
    const layer = layers.get(box.x);
    if (layer) layer.push([key, box]);
    else layers.set(box.x, [[key, box]]);
  }
  const roomy = new Map<string, Box>();
  for (const layer of layers.values()) {
    layer.sort(([, one], [, other]) => one.y - other.y);
    let free = Number.NEGATIVE_INFINITY;
    for (const [key, box] of layer) {
      const size = sizes.get(key) ?? box;
      const y = Math.max(box.y, free);
      roomy.set(key, { x: box.x, y, width: size.width, height: size.height });
      free = y + size.height + BETWEEN_CARDS;
    }
  }
  return new Map([...places.keys()].map((key) => [key, roomy.get(key) as Box]));
}

export function bounds(places: Iterable<Box>): Box {
  let [left, top, right, bottom] = [
    Number.POSITIVE_INFINITY,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
  ];
  for (const box of places) {
    left = Math.min(left, box.x);
    top = Math.min(top, box.y);
    right = Math.max(right, box.x + box.width);
    bottom = Math.max(bottom, box.y + box.height);
  }
  return left > right
    ? { x: 0, y: 0, width: 0, height: 0 }
    : { x: left, y: top, width: right - left, height: bottom - top };
}
