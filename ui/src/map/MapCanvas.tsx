import { DirectedGraph } from "graphology";
import { useEffect, useRef } from "react";
import Sigma from "sigma";
import { EdgeLineProgram } from "sigma/rendering";
import { useCurrentTheme } from "../app/theme";
import { fitName } from "../parts/format";
import type { MapData, Position } from "./arrange";
import { namespaceColour } from "./colours";
import { deferRedraw, isEmulated } from "./deferred-redraw";

const FEW = 60;
const MANY = 2000; // edges
const MOST_LETTERS = 40; // of a label, which is drawn letter by letter

/** The points and edges on WebGL. The keyboard has the list of namespaces and the search; this is for the eye. */
export function MapCanvas({
  mapData,
  positions,
  over,
  open,
}: {
  mapData: MapData;
  positions: Position[];
  over: (index: number | null) => void;
  open: (index: number) => void;
}) {
  const place = useRef<HTMLDivElement>(null);
  const handlers = useRef({ over, open });
  handlers.current = { over, open };
  const theme = useCurrentTheme();
  // biome-ignore lint/correctness/useExhaustiveDependencies: in another light the colours are read again
  useEffect(() => {
    if (place.current === null) return;
    const ink = getComputedStyle(place.current);
    const few = mapData.datasets.length <= FEW;
    const many = mapData.edges.length > MANY;
    const sigma = new Sigma(graphOf(mapData, positions, ink.borderTopColor), place.current, {
      labelColor: { color: ink.color },
      labelFont: "ui-monospace, monospace",
      labelSize: 11,
      labelDensity: 0.4,
      labelRenderedSizeThreshold: few ? 0 : 7, // of few, all names
      defaultEdgeType: "line",
      edgeProgramClasses: many ? { line: EdgeLineProgram } : {}, // thin, and quick
      hideEdgesOnMove: mapData.edges.length > 20_000,
      zIndex: false,
    });
    if (many && isEmulated()) deferRedraw(sigma);
    sigma.on("enterNode", ({ node }) => handlers.current.over(Number(node)));
    sigma.on("leaveNode", () => handlers.current.over(null));
    sigma.on("clickNode", ({ node }) => handlers.current.open(Number(node)));
    return () => sigma.kill();
  }, [mapData, positions, theme]);
  return (
    <div ref={place} className="map-picture" role="img" aria-label={`Map of ${mapData.datasets.length} datasets`} />
  );
}

function graphOf(mapData: MapData, positions: Position[], edgeColour: string): DirectedGraph {
  const graph = new DirectedGraph();
  const least = mapData.datasets.length <= FEW ? 6 : 2.5;
  const degree = new Array(mapData.datasets.length).fill(0);
  for (const edge of mapData.edges) for (const end of edge) degree[end] += 1;
  mapData.datasets.forEach((one, index) => {
    graph.addNode(String(index), {
      ...positions[index],
      size: least + Math.min(Math.sqrt(degree[index]), 7),
      color: namespaceColour(one.namespace),
      label: fitName(one.name, MOST_LETTERS),
    });
  });
  for (const [from, to] of mapData.edges) {
    if (from !== undefined && to !== undefined && from !== to) {
      graph.mergeEdge(String(from), String(to), { size: 0.6, color: edgeColour });
    }
  }
  return graph;
}
