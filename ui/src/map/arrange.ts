/** Where the datasets of an estate stand: grouped by namespace, and within one by how they hang together. Pure. */

import { DirectedGraph } from "graphology";
import forceAtlas2 from "graphology-layout-forceatlas2";

export interface Estate {
  namespaces: string[];
  datasets: { namespace: number; name: string; kind: string; state: string | null }[];
  edges: number[][];
}

export interface Spot {
  x: number;
  y: number;
}

const ROUNDS = 60; // enough for neighbours to find each other; the groups stand already
const GOLDEN = Math.PI * (3 - Math.sqrt(5));

/** Each namespace gets a disc as large as what it holds, the discs lie on a spiral, the datasets on a spiral in each. */
export function seats(estate: Estate): Spot[] {
  const members = estate.namespaces.map(() => [] as number[]);
  estate.datasets.forEach((one, index) => {
    members[one.namespace]?.push(index);
  });
  const order = members.map((_, index) => index).sort((a, b) => (members[b]?.length ?? 0) - (members[a]?.length ?? 0));
  const spots: Spot[] = new Array(estate.datasets.length);
  let covered = 0;
  order.forEach((namespace, place) => {
    const held = members[namespace] ?? [];
    const size = held.length;
    const distance = place === 0 ? 0 : Math.sqrt(covered + size) * 2.2;
    const centre = { x: distance * Math.cos(place * GOLDEN), y: distance * Math.sin(place * GOLDEN) };
    held.forEach((dataset, seat) => {
      const out = Math.sqrt(seat + 0.5);
      spots[dataset] = { x: centre.x + out * Math.cos(seat * GOLDEN), y: centre.y + out * Math.sin(seat * GOLDEN) };
    });
    covered += size * 1.6;
  });
  return spots;
}

/** The same with neighbours drawn together, by force; the same every time, for it starts from the same seats. */
export function arranged(estate: Estate, rounds = ROUNDS): Spot[] {
  const graph = graphOf(estate, seats(estate));
  if (graph.size > 0) {
    forceAtlas2.assign(graph, {
      iterations: rounds,
      settings: {
        ...forceAtlas2.inferSettings(graph),
        gravity: 0.5,
        scalingRatio: 4,
        barnesHutOptimize: graph.order > 500,
        // What is far counts as one more readily than by default: neighbours end as near each other, in a third of the time.
        barnesHutTheta: 1.5,
      },
    });
  }
  return estate.datasets.map((_, index) => ({
    x: graph.getNodeAttribute(String(index), "x"),
    y: graph.getNodeAttribute(String(index), "y"),
  }));
}

function graphOf(estate: Estate, spots: Spot[]): DirectedGraph {
  const graph = new DirectedGraph();
  spots.forEach((spot, index) => {
    graph.addNode(String(index), { ...spot });
  });
  for (const [from, to] of estate.edges) {
    if (from === undefined || to === undefined || from === to) continue;
    graph.mergeEdge(String(from), String(to));
  }
  return graph;
}
