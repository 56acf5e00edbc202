import { DirectedGraph } from "graphology";
import { useEffect, useRef } from "react";
import Sigma from "sigma";
import { EdgeLineProgram } from "sigma/rendering";
import { useThemeNow } from "../app/theme";
import type { Estate, Spot } from "./arrange";
import { hueOf } from "./colours";
import { hold, isEmulated } from "./held";

const FEW = 60;
const MANY = 2000; // edges

/** The points and edges on WebGL. The keyboard has the list of namespaces and the search; this is for the eye. */
export function Picture({
  estate,
  spots,
  over,
  open,
}: {
  estate: Estate;
  spots: Spot[];
  over: (index: number | null) => void;
  open: (index: number) => void;
}) {
  const place = useRef<HTMLDivElement>(null);
  const heard = useRef({ over, open });
  heard.current = { over, open };
  const theme = useThemeNow();
  // biome-ignore lint/correctness/useExhaustiveDependencies: in another light the colours are read again
  useEffect(() => {
    if (place.current === null) return;
    const ink = getComputedStyle(place.current);
    const few = estate.datasets.length <= FEW;
    const many = estate.edges.length > MANY;
    const sigma = new Sigma(graphOf(estate, spots, ink.borderTopColor), place.current, {
      labelColor: { color: ink.color },
      labelFont: "ui-monospace, monospace",
      labelSize: 11,
      labelDensity: 0.4,
      labelRenderedSizeThreshold: few ? 0 : 7, // of few, all names
      defaultEdgeType: "line",
      edgeProgramClasses: many ? { line: EdgeLineProgram } : {}, // thin, and quick
      hideEdgesOnMove: estate.edges.length > 20_000,
      zIndex: false,
    });
    if (many && isEmulated()) hold(sigma);
    sigma.on("enterNode", ({ node }) => heard.current.over(Number(node)));
    sigma.on("leaveNode", () => heard.current.over(null));
    sigma.on("clickNode", ({ node }) => heard.current.open(Number(node)));
    return () => sigma.kill();
  }, [estate, spots, theme]);
  return (
    <div ref={place} className="map-picture" role="img" aria-label={`A map of ${estate.datasets.length} datasets`} />
  );
}

function graphOf(estate: Estate, spots: Spot[], edgeColour: string): DirectedGraph {
  const graph = new DirectedGraph();
  const least = estate.datasets.length <= FEW ? 6 : 2.5;
  const degree = new Array(estate.datasets.length).fill(0);
  for (const edge of estate.edges) for (const end of edge) degree[end] += 1;
  estate.datasets.forEach((one, index) => {
    graph.addNode(String(index), {
      ...spots[index],
      size: least + Math.min(Math.sqrt(degree[index]), 7),
      color: hueOf(one.namespace),
      label: shortened(one.name),
    });
  });
  for (const [from, to] of estate.edges) {
    if (from !== undefined && to !== undefined && from !== to) {
      graph.mergeEdge(String(from), String(to), { size: 0.6, color: edgeColour });
    }
  }
  return graph;
}

/** A label is drawn letter by letter; the end of a name tells most. */
function shortened(name: string): string {
  return name.length <= 40 ? name : `…${name.slice(-39)}`;
}
