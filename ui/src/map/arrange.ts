/** Positions of all datasets on the map: grouped by namespace, neighbours close together. Pure. */

import { DirectedGraph } from "graphology";
import forceAtlas2 from "graphology-layout-forceatlas2";

export interface MapData {
  namespaces: string[];
  datasets: { namespace: number; name: string; kind: string; state: string | null }[];
  edges: number[][];
}

export interface Position {
  x: number;
  y: number;
}

const ROUNDS = 60; // enough for neighbours to find each other; the groups stand already
const GOLDEN = Math.PI * (3 - Math.sqrt(5));

/** Each namespace gets a disc as large as what it holds, the discs lie on a spiral, the datasets on a spiral in each. */
export function initialPositions(mapData: MapData): Position[] {
  const members = mapData.namespaces.map(() => [] as number[]);
  mapData.datasets.forEach((one, index) => {
    members[one.namespace]?.push(index);
  });
  const order = members.map((_, index) => index).sort((a, b) => (members[b]?.length ?? 0) - (members[a]?.length ?? 0));
  const positions: Position[] = new Array(mapData.datasets.length);
  let covered = 0;
  order.forEach((namespace, place) => {
    const datasets = members[namespace] ?? [];
    const size = datasets.length;
    const distance = place === 0 ? 0 : Math.sqrt(covered + size) * 2.2;
    const centre = { x: distance * Math.cos(place * GOLDEN), y: distance * Math.sin(place * GOLDEN) };
    datasets.forEach((dataset, index) => {
      const out = Math.sqrt(index + 0.5);
      positions[dataset] = {
        x: centre.x + out * Math.cos(index * GOLDEN),
        y: centre.y + out * Math.sin(index * GOLDEN),
      };
    });
    covered += size * 1.6;
  });
  return positions;
}

/** The same with neighbours drawn together, by force; the same every time, for it starts from the same seats. */
export function arrange(mapData: MapData, rounds = ROUNDS): Position[] {
  const graph = graphOf(mapData, initialPositions(mapData));
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
  return mapData.datasets.map((_, index) => ({
    x: graph.getNodeAttribute(String(index), "x"),
    y: graph.getNodeAttribute(String(index), "y"),
  }));
}

function graphOf(mapData: MapData, positions: Position[]): DirectedGraph {
  const graph = new DirectedGraph();
  positions.forEach((spot, index) => {
    graph.addNode(String(index), { ...spot });
  });
  for (const [from, to] of mapData.edges) {
    if (from === undefined || to === undefined || from === to) continue;
    graph.mergeEdge(String(from), String(to));
  }
  return graph;
}
