import { sankey, sankeyLinkHorizontal } from "d3-sankey";
import { useMemo } from "react";
import { Link } from "wouter";
import { to } from "../app/addresses";
import { countOf, fitName, formatNumber } from "../parts/format";
import { type Flow, type FlowLink, type FlowNode, OUTCOME_LABELS } from "./flows";
import type { LedgerLinks } from "./ledger-links";
import { useWidth } from "./useWidth";

const LINE = 16;
const EDGE = 8;
const BETWEEN = 40; // room for the two lines beside a node
const LETTER = 7.5; // pixels of a letter of 12 px, a little more than most systems have
const MOST_LETTERS = 44;
const THINNEST = 1.5;

/** Rows as streams, as wide as there are many. Each band leads to its rows where these can be looked at. */
export function Sankey({ flow, places }: { flow: Flow; places: LedgerLinks }) {
  const [box, width] = useWidth(900);
  const all = flow.nodes.reduce((sum, node) => (node.end === null ? sum + node.rows : sum), 0);
  const picture = useMemo(() => sankeyLayout(flow, width), [flow, width]);
  return (
    <div ref={box} className="sankey">
      {/* biome-ignore lint/a11y/useSemanticElements: no other element holds a drawing's links */}
      <svg width={width} height={picture.height} role="group" aria-label="Rows by source and outcome">
        {picture.links.map((link) => (
          <Band key={`${link.datum.source} ${link.datum.target}`} {...link} places={places} flow={flow} />
        ))}
        {picture.nodes.map((node) => (
          <SankeyNode
            key={node.datum.id}
            {...node}
            letters={picture.letters}
            all={all}
            place={placeOf(node.datum, flow, places)}
          />
        ))}
      </svg>
    </div>
  );
}

/** A name leads where its band does, if there is only one; a source to its graph. */
function placeOf(node: FlowNode, flow: Flow, places: LedgerLinks): string | null {
  if (node.end === null) {
    const dataset = places.dataset(node.label);
    return dataset === null ? null : to.explore(dataset);
  }
  const [band, more] = flow.links.filter((link) => link.target === node.id);
  return band === undefined || more !== undefined ? null : places.rows(band.of, band.end, band.at);
}

interface DrawnNode {
  datum: FlowNode;
  x: number;
  y: number;
  width: number;
  height: number;
}

function sankeyLayout(flow: Flow, width: number) {
  const [sources, ends] = [
    flow.nodes.filter((node) => node.end === null),
    flow.nodes.filter((node) => node.end !== null),
  ];
  const height = heightFor(Math.max(sources.length, ends.length));
  // The names have at most two thirds of the picture.
  const letters = Math.max(10, Math.min(MOST_LETTERS, Math.floor(width / 3 / LETTER)));
  const [left, right] = [margin(sources, letters), margin(ends, letters)];
  const draw = sankey<FlowNode, FlowLink>()
    .nodeId((node) => node.id)
    .nodeWidth(8)
    .nodePadding(BETWEEN)
    .nodeSort(null)
    .linkSort(null)
    .extent([
      [left, EDGE + LINE],
      [Math.max(width - right, left + 60), height - EDGE - LINE],
    ]);
  // Bands of no row at all would have no place.
  const drawn = draw({
    nodes: flow.nodes.map((node) => ({ ...node })),
    links: flow.links.map((link) => ({ ...link })),
  });
  const path = sankeyLinkHorizontal();
  return {
    height,
    letters,
    nodes: drawn.nodes.map(({ x0 = 0, x1 = 0, y0 = 0, y1 = 0, ...datum }): DrawnNode => {
      return { datum, x: x0, y: y0, width: x1 - x0, height: Math.max(y1 - y0, THINNEST) };
    }),
    links: drawn.links.map((link, at) => ({
      datum: flow.links[at] as FlowLink,
      line: path(link) ?? "",
      thick: Math.max(link.width ?? 0, THINNEST),
    })),
  };
}

function heightFor(nodes: number): number {
  return (nodes - 1) * BETWEEN + Math.max(70, 12 * nodes) + 2 * (EDGE + LINE);
}

function margin(nodes: FlowNode[], letters: number): number {
  const longest = Math.max(10, ...nodes.map((node) => Math.max(node.label.length, formatNumber(node.rows).length + 8)));
  return Math.min(longest, letters) * LETTER + 2 * EDGE;
}

function Band({
  datum,
  line,
  thick,
  places,
  flow,
}: {
  datum: FlowLink;
  line: string;
  thick: number;
  places: LedgerLinks;
  flow: Flow;
}) {
  const from = flow.nodes.find((node) => node.id === datum.source)?.label ?? datum.source;
  const at = datum.at === null ? "" : ` at ${datum.at}`;
  const words = `${countOf(datum.value, "row")} of ${from}: ${OUTCOME_LABELS[datum.end]}${at}`;
  const place = places.rows(datum.of, datum.end, datum.at);
  const band = (
    <path d={line} className={`band ${datum.end}`} strokeWidth={thick} fill="none">
      <title>{place === null ? words : `${words}. Open these rows.`}</title>
    </path>
  );
  if (place === null) return band;
  return (
    <Link href={place} aria-label={`${words}. Open these rows`}>
      {/* A band of a few rows is thin, and the hand is not. */}
      <path d={line} className="hit-area" strokeWidth={Math.max(thick, 12)} fill="none" />
      {band}
    </Link>
  );
}

function SankeyNode({
  datum,
  x,
  y,
  width,
  height,
  letters,
  all,
  place,
}: DrawnNode & { letters: number; all: number; place: string | null }) {
  const isSource = datum.end === null;
  const middle = y + height / 2;
  const at = isSource ? x - 8 : x + width + 8;
  const label = fitName(datum.label, letters);
  const words = (
    <>
      <text x={at} y={middle - 2} textAnchor={isSource ? "end" : "start"} className="number">
        {formatNumber(datum.rows)}
        {!isSource && all > 0 && <tspan className="share"> {percent(datum.rows / all)}</tspan>}
      </text>
      <text x={at} y={middle + 12} textAnchor={isSource ? "end" : "start"} className={isSource ? "mono" : undefined}>
        <title>{datum.label.slice(0, 2000)}</title>
        {label}
      </text>
    </>
  );
  return (
    <g className={`flow-node ${datum.end ?? "source"}`}>
      <rect x={x} y={y} width={width} height={height} />
      {place === null ? (
        words
      ) : (
        // For the mouse: the keyboard has the bands, and the datasets below.
        <Link href={place} tabIndex={-1} aria-hidden="true">
          {words}
        </Link>
      )}
    </g>
  );
}

function percent(share: number): string {
  const value = 100 * share;
  return `${value === 0 || value >= 10 ? Math.round(value) : value < 0.1 ? "<0.1" : value.toFixed(1)}\u2009%`;
}
