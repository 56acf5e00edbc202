import { type DrawnCard, type Palette, svgOf } from "../graph/svg";
import { displayName, hubJob, unpaired } from "../graph/via-job";
import { countOf } from "../parts/format";
import type { CardView } from "./card-view";
import type { GraphPicture } from "./Toolbar";

/** In the colours that the reader sees now. */
export function graphSvg({ views, places, lines }: GraphPicture): string {
  const cards: DrawnCard[] = [];
  for (const [key, view] of views) {
    const box = places.get(key);
    if (!box) continue;
    cards.push({
      box,
      name: displayName(view.card.endpoint),
      namespace: view.card.endpoint.namespace,
      foot: footerText(view),
      rows: view.rows,
      tools: view.tools,
      chosen: view.selected,
      hub: hubJob(view.card.endpoint) !== null,
    });
  }
  return svgOf(cards, lines, palette());
}

function footerText({ card }: CardView): string {
  if (hubJob(card.endpoint)) return unpaired(card);
  const parts = [
    card.latest_run?.state.toLowerCase() ?? "",
    card.complete === false ? "lineage incomplete" : "",
    card.rows === null ? "" : countOf(card.rows, "row"),
    card.owner ?? "",
  ];
  return parts.filter(Boolean).join(" · ") || countOf(card.columns, "column");
}

const NAMES = ["ground", "card", "line", "ink", "dim", "edge", "accent", "good", "bad"] as const;

/** Tokens hold a light and a dark value; only as the colour of something do they become one. */
function palette(): Palette {
  const probe = document.createElement("span");
  document.body.append(probe);
  const colours = NAMES.map((name) => {
    probe.style.color = `var(--${name})`;
    return [name, getComputedStyle(probe).color];
  });
  probe.remove();
  return Object.fromEntries(colours) as unknown as Palette;
}

const MOST_SIDE = 16_000; // what browsers give a canvas
const MOST_AREA = 120_000_000;

export async function pngOf(svg: string): Promise<Blob> {
  const image = new Image();
  // Not as a blob: the content policy lets images be inline data only.
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const [width, height] = [image.naturalWidth, image.naturalHeight];
  const scale = Math.min(2, MOST_SIDE / width, MOST_SIDE / height, Math.sqrt(MOST_AREA / (width * height)));
  const canvas = document.createElement("canvas");
  canvas.width = Math.floor(width * scale);
  canvas.height = Math.floor(height * scale);
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob(
      (blob) => (blob ? resolve(blob) : reject(new Error("The picture is too large for this browser."))),
      "image/png",
    );
  });
}
