/** The whole graph as a picture, with its edges: text that an <img> or another program can show. Pure. */

import { fitName } from "../parts/format";
import { FOOT, HEAD, ROW, TOOLS } from "./card";
import { type Box, bounds } from "./layout";
import type { Line } from "./lines";

export interface Palette {
  ground: string;
  card: string;
  line: string;
  ink: string;
  dim: string;
  edge: string;
  accent: string;
  good: string;
  bad: string;
}

export interface DrawnCard {
  box: Box;
  name: string;
  namespace: string;
  foot: string;
  rows: { name: string; type: string | null; lit: boolean }[];
  tools: boolean;
  /** The one that the picture is about. */
  chosen: boolean;
  /** A job between inputs and outputs: drawn with a dotted border. */
  hub: boolean;
}

const MARGIN = 32;
const MONO = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
const SANS = "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";

export function svgOf(cards: readonly DrawnCard[], lines: readonly Line[], colours: Palette): string {
  const all = bounds(cards.map((card) => card.box));
  // Edges back and loops bend outside the cards.
  const [x, y] = [all.x - MARGIN * 2, all.y - MARGIN];
  const [width, height] = [all.width + MARGIN * 4, all.height + MARGIN * 2];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="${x} ${y} ${width} ${height}">`,
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="${colours.ground}"/>`,
    '<g fill="none">',
    ...lines.map((line) => lineOf(line, colours)),
    "</g>",
    ...cards.map((card) => cardOf(card, colours)),
    "</svg>",
  ].join("\n");
}

const DASHES: Partial<Record<Line["kind"], string>> = {
  indirect: ' stroke-dasharray="4 3"',
  "via-job": ' stroke-dasharray="0.1 5" stroke-linecap="round"',
};

function lineOf(line: Line, colours: Palette): string {
  const colour =
    line.sign === "+" ? colours.good : line.sign === "−" ? colours.bad : line.lit ? colours.accent : colours.edge;
  const width = line.kind === "indirect" ? 1 : line.kind === "via-job" ? 2 : 1.5;
  const dash = DASHES[line.kind] ?? "";
  const faded = line.lit === false ? ' opacity="0.2"' : "";
  const path = `<path d="${line.d}" stroke="${colour}" stroke-width="${width}"${dash}${faded}/>`;
  if (line.sign === null) return path;
  const [x, y] = line.at;
  return `${path}<text x="${x}" y="${y}" fill="${colour}" font-family="${SANS}" font-size="14" font-weight="700">${line.sign}</text>`;
}

function cardOf(card: DrawnCard, colours: Palette): string {
  const { x, y, width, height } = card.box;
  const text = (left: number, top: number, size: number, fill: string, of: string, more = `font-family="${MONO}"`) =>
    `<text x="${x + left}" y="${y + top}" font-size="${size}" fill="${fill}" ${more}>${escaped(of)}</text>`;
  const border = card.chosen ? colours.accent : colours.line;
  const rowsTop = HEAD + (card.tools ? TOOLS : 0);
  return [
    `<g><title>${escaped(`${card.namespace} ${card.name}`.slice(0, 2000))}</title>`,
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="6" fill="${colours.card}" stroke="${border}"${card.hub ? DASHES["via-job"] : ""}/>`,
    text(12, 20, 12, colours.ink, fitName(card.name, 31), `font-family="${MONO}" font-weight="600"`),
    text(12, 37, 11, colours.dim, fitName(card.namespace, 36), `font-family="${SANS}"`),
    ...card.rows.flatMap(({ name, type, lit }, place) => {
      const top = rowsTop + place * ROW + 16;
      const kind = fitName(type ?? "", 10);
      return [
        text(12, top, 12, lit ? colours.accent : colours.ink, fitName(name, 20)),
        text(width - 12, top, 11, colours.dim, kind, `font-family="${MONO}" text-anchor="end"`),
      ];
    }),
    text(12, height - FOOT / 2 + 4, 11, colours.dim, fitName(card.foot, 38), `font-family="${SANS}"`),
    "</g>",
  ].join("");
}

const NAMES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** As text in XML. What XML cannot hold at all is shown as the sign for what cannot be shown. */
export function escaped(text: string): string {
  return (
    text
      // biome-ignore lint/suspicious/noControlCharactersInRegex: names may hold them, XML may not
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
      .replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd")
      .replace(/[&<>"']/g, (sign) => NAMES[sign] ?? sign)
  );
}
